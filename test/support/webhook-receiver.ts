import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../../src/contract/webhook';
import { startHttpServer, type TestHttpServer } from './start-http-server';

/** A webhook as the receiver got it, its signature verified. */
export interface ReceivedWebhook {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly event: WebhookEvent;
}

/** A receiver as a backend has one: it verifies by the library of standard-webhooks. */
export class WebhookReceiver {
  /** As `LONGHAUL_WEBHOOKS_FILE` has it. */
  readonly secret = `whsec_${randomBytes(32).toString('base64')}`;
  /** In the path of its URL, as some receivers know their senders. */
  readonly pathToken = randomBytes(16).toString('hex');
  readonly received: ReceivedWebhook[] = [];
  /** What it answers next; null: nothing, for as long as the request lasts. */
  status: number | null = 204;
  #server: TestHttpServer | undefined;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server = await startHttpServer(({ headers, body }, response) => {
      const event = new Webhook(receiver.secret).verify(body, headers as Record<string, string>) as WebhookEvent;
      receiver.received.push({ id: String(headers['webhook-id']), event });
      if (receiver.status !== null) response.writeHead(receiver.status).end();
    });
    return receiver;
  }

  /** The content of `LONGHAUL_WEBHOOKS_FILE`, in which it is called `orders`. */
  get config(): string {
    const url = `${this.#server?.url ?? ''}/hooks/${this.pathToken}`;
    return JSON.stringify({ orders: { url, secrets: [this.secret] } });
  }

  /** What it got of a workflow, in the order in which it came. */
  of(workflowId: string): readonly ReceivedWebhook[] {
    return this.received.filter(({ event }) => event.data.workflowId === workflowId);
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
