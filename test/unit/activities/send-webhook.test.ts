import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Webhook } from 'standardwebhooks';
import { createWebhookActivities, createWebhookAgent } from '../../../src/activities';
import { signedHeaders } from '../../../src/activities/send-webhook';
import type { WebhookDelivery, WebhookInput } from '../../../src/contract/webhook';
import { type ReceivedRequest, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

const [secret, oldSecret] = [randomBytes(32).toString('base64'), randomBytes(24).toString('base64')];
const answerWithinMs = 1_000;
const input: WebhookInput = {
  ...{ webhook: 'orders', id: 'msg_0a1b' },
  event: {
    ...{ type: 'task.completed', timestamp: '2026-03-01T12:00:00.000Z' },
    data: {
      ...{ key: 'order-17', workflowId: 'task:order-17', runId: 'run-1', batchId: null, requestId: 'r-1' },
      ...{ status: 'Success', account: 'default', webAppId: 1, failure: null, outputCount: 1, outputBytes: 3 },
      ...{ failedOutputCount: 0, manifest: '/archive/größe.json', cost: null, tags: ['customer:42'] },
    },
  },
};

let answer: (request: ReceivedRequest, response: ServerResponse) => void;
let receiver: TestHttpServer;
const connections = createWebhookAgent();
beforeAll(async () => {
  receiver = await startHttpServer((request, response) => {
    answer(request, response);
  });
});
afterAll(async () => {
  await connections.destroy();
  await receiver.close();
});

function answering(status: number, headers: Record<string, string> = {}): void {
  answer = (_request, response) => response.writeHead(status, headers).end();
}

interface Attempt {
  readonly delivery?: WebhookDelivery;
  readonly failure?: ApplicationFailure;
  /** The requests that it sent. */
  readonly requests: readonly ReceivedRequest[];
}

async function send(
  { url = `${receiver.url}/hooks?from=longhaul`, secrets = [secret], to = input } = {},
  attempt = 1,
): Promise<Attempt> {
  const before = receiver.requests.length;
  const webhooks = new Map([['orders', { url, secrets: () => secrets }]]);
  const { sendWebhook } = createWebhookActivities({ webhooks, connections, answerWithinMs });
  const environment = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
  const end = await environment.run<[WebhookInput], WebhookDelivery, typeof sendWebhook>(sendWebhook, to).then(
    (delivery) => ({ delivery }),
    (failure: unknown) => ({ failure: failure as ApplicationFailure }),
  );
  return { ...end, requests: receiver.requests.slice(before) };
}

describe('a webhook', () => {
  it('is a POST of the event that the library of standard-webhooks verifies', async () => {
    answering(204);
    const { delivery, requests } = await send({}, 3);
    expect(delivery).toMatchObject({ httpStatus: 204, attempt: 3 });
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: '/hooks?from=longhaul' });
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': input.id });
    const headers = request?.headers as Record<string, string>;
    expect(new Webhook(`whsec_${secret}`).verify(request?.body ?? '', headers)).toEqual(input.event);
    expect(() => new Webhook(secret).verify(`${request?.body} `, headers)).toThrow(/matching signature/i);
    expect(() => new Webhook(oldSecret).verify(request?.body ?? '', headers)).toThrow(/matching signature/i);
  });

  it('is verified by either secret while there are two', async () => {
    answering(200);
    const [request] = (await send({ secrets: [secret, oldSecret] })).requests;
    for (const one of [secret, oldSecret]) {
      const headers = request?.headers as Record<string, string>;
      expect(new Webhook(one).verify(request?.body ?? '', headers)).toEqual(input.event);
    }
  });

  it('is signed as the example of the specification is', () => {
    const body = '{"test": 2432232314}';
    const secrets = ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    expect(signedHeaders({ id, body, secrets, nowMs: 1_614_265_330_000 })).toEqual({
      ...{ 'webhook-id': id, 'webhook-timestamp': '1614265330' },
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it.each([301, 302, 307, 308])(
    'that is answered with a redirect (%s) is tried again, and not sent there',
    async (status) => {
      answering(status, { location: `${receiver.url}/elsewhere` });
      const { failure, requests } = await send();
      expect(failure).toMatchObject({ type: 'WebhookUndelivered', nonRetryable: false });
      expect(failure?.message).toMatch(
        new RegExp(`"orders" was answered with HTTP ${status}; redirects are not followed`),
      );
      expect(requests.map(({ url }) => url)).toEqual(['/hooks?from=longhaul']);
    },
  );

  it.each([400, 401, 404, 500])('that is answered with %s is tried again by the usual pauses', async (status) => {
    answering(status, { 'retry-after': '90' });
    const { failure } = await send();
    expect(failure).toMatchObject({ type: 'WebhookUndelivered', nonRetryable: false });
    expect(failure?.nextRetryDelay).toBeUndefined();
    expect(failure?.message).toContain(`HTTP ${status}`);
  });

  it.each([
    [429, '90', 90_000],
    [503, '7', 7_000],
    [503, '999999', 3_600_000],
    // By the usual pauses: one of 0 would end the delivery.
    [503, '0', undefined],
    [429, 'Thu, 01 Jan 2026 00:00:00 GMT', undefined],
  ])('that is answered with %s and Retry-After %s is tried again after %s ms', async (status, retryAfter, waitMs) => {
    answering(status, { 'retry-after': retryAfter });
    expect((await send()).failure?.nextRetryDelay).toBe(waitMs);
  });

  it('that is answered with 410 is not tried again', async () => {
    answering(410);
    expect((await send()).failure).toMatchObject({ type: 'WebhookUndelivered', nonRetryable: true });
  });

  it('is taken by an answer whose body never ends', async () => {
    answer = (_request, response) => {
      response.writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', pour).on('error', () => undefined);
      pour();
    };
    const startedMs = performance.now();
    expect((await send()).delivery).toMatchObject({ httpStatus: 200 });
    expect(performance.now() - startedMs).toBeLessThan(answerWithinMs);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['never answers', () => undefined],
    [
      'drips its headers',
      ({ socket }) => {
        socket?.write('HTTP/1.1 200 OK\r\n');
        const drip = setInterval(() => socket?.write('x: y\r\n'), 50);
        socket?.on('close', () => {
          clearInterval(drip);
        });
      },
    ],
  ])('whose receiver %s is given up in time, and tried again', async (_name, act) => {
    answer = (_request, response) => {
      act(response);
    };
    const { failure } = await send();
    expect(failure).toMatchObject({ type: 'WebhookUndelivered', nonRetryable: false });
    expect(failure?.message).toBe('The webhook "orders" cannot be reached (no answer within 1 seconds)');
  });

  it('whose receiver is down is tried again, and the failure has nothing of the URL', async () => {
    const gone = await startHttpServer(() => undefined);
    await gone.close();
    const { failure } = await send({ url: `${gone.url}/token-in-a-path` });
    expect(failure).toMatchObject({ type: 'WebhookUndelivered', nonRetryable: false });
    expect(failure?.message).toBe('The webhook "orders" cannot be reached (ECONNREFUSED)');
  });

  it('of a name that the worker does not have is tried again every five minutes, and names the variable', async () => {
    const { failure, requests } = await send({ to: { ...input, webhook: 'ordres' } });
    expect(failure).toMatchObject({ type: 'WebhookUnknown', nonRetryable: false, nextRetryDelay: 300_000 });
    expect(failure?.message).toMatch(/no webhook "ordres"; add it to LONGHAUL_WEBHOOKS_FILE/);
    expect(requests).toEqual([]);
  });

  it('that is broken off because its worker stops is handed to another one', async () => {
    answer = () => {
      environment.cancel('WORKER_SHUTDOWN');
    };
    const webhooks = new Map([['orders', { url: receiver.url, secrets: () => [secret] }]]);
    const { sendWebhook } = createWebhookActivities({ webhooks, connections });
    const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
    await expect(environment.run(sendWebhook, input)).rejects.toMatchObject({
      ...{ type: 'WorkerStopping', nonRetryable: false },
    });
  });
});
