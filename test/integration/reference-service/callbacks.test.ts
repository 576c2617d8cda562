import type { ServerResponse } from 'node:http';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { CallbackReceiver, type ReceivedCallback } from './callback-receiver';
import { aNumber, aText, aTimestamp } from './matchers';
import { PlainClient } from './plain-client';

const RETRY_EVERY_MS = 150;
const MAX_ATTEMPTS = 4;

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({
    callbacks: { timeoutMs: 2_000, retryEveryMs: RETRY_EVERY_MS, maxAttempts: MAX_ATTEMPTS },
  });
  client = new PlainClient(service);
});

afterAll(() => service.stop());

/** Runs one task in callback mode and returns what arrived once the service has made that many attempts. */
async function callBack(options: {
  answer?: (response: ServerResponse, number: number) => void;
  headers?: Record<string, string>;
  attempts: number;
}): Promise<{ requestId: string; received: readonly ReceivedCallback[]; outcomes: readonly unknown[] }> {
  const receiver = new CallbackReceiver(options.answer);
  try {
    const headers = { 'X-Svc-Task-WebHook-Url': await receiver.start(), ...options.headers };
    const requestId = await client.createTask(5, {}, headers);
    const attempts = await eventually(() => {
      const made = service.tasks.find(requestId)?.callbackAttempts ?? [];
      return made.length >= options.attempts && made;
    });
    // One more pause, in which a service that does not know when to stop would call again.
    const quietUntilMs = Date.now() + 2 * RETRY_EVERY_MS;
    await eventually(() => Date.now() > quietUntilMs);
    return { requestId, received: receiver.received, outcomes: attempts ? attempts.map(({ outcome }) => outcome) : [] };
  } finally {
    await receiver.stop();
  }
}

describe('a callback', () => {
  it('brings the result, the token, and every header of the task unchanged', async () => {
    const { requestId, received } = await callBack({
      attempts: 1,
      headers: {
        'X-Svc-Task-Authorization': 'Bearer token-of-the-receiver',
        'X-Svc-Task-Correlation': 'task:photo-1',
        'x-svc-task-ODD-spelling': 'Kept As It Is',
        'X-Other': 'not of the task',
      },
    });
    const [callback] = received;
    const echoed = (callback?.rawHeaders ?? []).join('\n');

    expect(received).toHaveLength(1);
    expect(callback).toMatchObject({
      method: 'POST',
      authorization: 'Bearer token-of-the-receiver',
      contentType: 'application/json',
    });
    expect(echoed).toMatch(/^X-Svc-Task-Correlation\ntask:photo-1$/m);
    expect(echoed).toMatch(/^x-svc-task-ODD-spelling\nKept As It Is$/m);
    expect(echoed).toMatch(/^X-Svc-Task-Authorization\nBearer token-of-the-receiver$/m);
    expect(echoed).not.toMatch(/x-other/i);
    expect(callback?.body).toEqual({
      type: 'API',
      status: 'Success',
      created_at: aTimestamp,
      updated_at: aTimestamp,
      executed_at: aTimestamp,
      running_at: aTimestamp,
      ended_at: aTimestamp,
      expired_at: aTimestamp,
      request_id: requestId,
      outputs: [
        { object_url: aText, output_ext: '.png', cost_time: aNumber, audit_status: 1, error_type: 'NOT_ERROR' },
      ],
      cost_times: {
        inference_cost_time: aNumber,
        running_cost_time: aNumber,
        total_cost_time: aNumber,
        real_cpu_cost_time: aNumber,
        real_total_cost_time: aNumber,
        real_svc_cost_time: aNumber,
      },
    });
  });

  it('has no Authorization when the create had no token for it', async () => {
    const { received } = await callBack({ attempts: 1 });

    expect(received[0]?.authorization).toBeUndefined();
  });

  it('is repeated after each answer but 200, with the pause of the settings, and then no more', async () => {
    const { received, outcomes } = await callBack({
      attempts: 3,
      answer: (response, number) => {
        response.statusCode = [500, 204][number - 1] ?? 200;
        response.end();
      },
    });
    const pausesMs = received.slice(1).map((callback, index) => callback.atMs - (received[index]?.atMs ?? 0));

    expect(outcomes).toEqual([500, 204, 200]);
    expect(received).toHaveLength(3);
    for (const pauseMs of pausesMs) expect(pauseMs).toBeGreaterThanOrEqual(RETRY_EVERY_MS - 5);
  });

  it('is given up after the last attempt, and neither follows a redirect nor waits beyond its time', async () => {
    const { received, outcomes } = await callBack({
      attempts: MAX_ATTEMPTS,
      answer: (response, number) => {
        if (number === 2) return;
        response.writeHead(302, { Location: '/elsewhere' }).end();
      },
    });

    expect(outcomes).toEqual([302, 'timeout', 302, 302]);
    expect(received).toHaveLength(MAX_ATTEMPTS);
  });

  it('is lost on command', async () => {
    const { received, outcomes } = await callBack({
      attempts: 3,
      headers: { 'X-Reference-Scenario': 'lose-callbacks;count=2' },
    });

    expect(outcomes).toEqual(['lost', 'lost', 200]);
    expect(received).toHaveLength(1);
  });

  it('is repeated on command, although it was answered', async () => {
    const { received, outcomes } = await callBack({
      attempts: 3,
      headers: { 'X-Reference-Scenario': 'repeat-callbacks;count=2' },
    });

    expect(outcomes).toEqual([200, 200, 200]);
    expect(new Set(received.map(({ body }) => body['request_id'])).size).toBe(1);
  });

  it('tells of a failure with the numbers of its own table', async () => {
    const { received } = await callBack({ attempts: 1, headers: { 'X-Reference-Scenario': 'fail;message=no film' } });

    expect(received[0]?.body).toMatchObject({
      status: 'Failed',
      outputs: [{ error_type: 'EXECUTION_ERROR', error_msg: 'no film', audit_status: 3 }],
    });
  });

  it('is not sent for a canceled task', async () => {
    const receiver = new CallbackReceiver();
    try {
      const headers = { 'X-Svc-Task-WebHook-Url': await receiver.start() };
      const canceled = await client.createTask(5, {}, { ...headers, 'X-Reference-Scenario': 'hold' });
      await client.cancel(canceled);
      const later = await client.createTask(5, {}, headers);
      await eventually(() => receiver.received.length > 0);

      expect(receiver.received.map(({ body }) => body['request_id'])).toEqual([later]);
    } finally {
      await receiver.stop();
    }
  });
});
