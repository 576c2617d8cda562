import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { type CallbackServerOptions, startCallbackServer } from '../../../src/servers/callback-server';
import type { SignalOutcome } from '../../../src/servers/callback-server';
import { createTokenCheck } from '../../../src/servers/listening-server';
import type { ListeningServer } from '../../../src/servers/listening-server';
import { Secret } from '../../../src/config/secret';
import type { CallbackNotice } from '../../../src/contract/task-messages';
import { createLogger } from '../../../src/worker/logger';

/** The two tokens that the server accepts, and a body and headers that it takes. */
export const tokens = ['token-of-tomorrow', 'token-of-today-which-is-longer'] as const;
export const callbackPath = '/hooks/longhaul';
export const body = {
  type: 'API',
  status: 'Success',
  request_id: 'request-1',
  outputs: [{ object_url: 'https://storage.example/out.png?X-Amz-Signature=5ecret', output_ext: '.png' }],
};
export const headers = {
  'content-type': 'application/json',
  authorization: `Bearer ${tokens[0]}`,
  'x-svc-task-correlation': 'task:order-17/2',
};

/** What a test sends; what it leaves out is as a callback has it. */
export interface SentRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** What came back. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A real callback server; in Temporal's place a list of what it was told. */
export class CallbackServerUnderTest {
  readonly signals: { readonly workflowId: string; readonly notice: CallbackNotice }[] = [];
  readonly log: string[] = [];
  /** What Temporal does with a signal. */
  onSignal: () => Promise<SignalOutcome> = () => Promise.resolve('taken');
  /** Whether Temporal answered lately. */
  isReady = true;
  #server: ListeningServer | undefined;

  async start(options: Partial<CallbackServerOptions> = {}): Promise<void> {
    this.#server = await startCallbackServer({
      port: 0,
      path: callbackPath,
      isAccepted: createTokenCheck(tokens.map((token) => new Secret(token))),
      isReady: () => this.isReady,
      signalWorkflow: (workflowId, notice) => {
        this.signals.push({ workflowId, notice });
        return this.onSignal();
      },
      logger: createLogger({ level: 'trace', destination: { write: (line) => void this.log.push(line) } }),
      ...options,
    });
  }

  get port(): number {
    return this.#running.port;
  }

  async send({ method = 'POST', path = callbackPath, ...sent }: SentRequest = {}): Promise<Reply> {
    const changed: Readonly<Record<string, string | undefined>> = { ...headers, ...sent.headers };
    const given = Object.entries(changed).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const hasBody = method === 'POST' || method === 'PUT';
    const answer = await request(`http://127.0.0.1:${this.port}${path}`, {
      method,
      headers: Object.fromEntries(given),
      ...(hasBody && { body: sent.body ?? JSON.stringify(body) }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
  }

  /** Sends bytes as they are, leaves the connection open, and returns all that comes back until the server ends it. */
  async sendRaw(bytes: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    // The server cuts off whoever is too slow.
    socket.on('error', () => undefined);
    socket.write(bytes);
    return await text(socket).catch(() => '');
  }

  close(): void {
    this.#running.close();
  }

  async stop(): Promise<void> {
    this.#running.close();
    await this.#running.closed;
  }

  get #running(): ListeningServer {
    if (this.#server === undefined) throw new Error('The server was not started.');
    return this.#server;
  }
}
