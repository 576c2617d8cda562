import { request } from 'undici';
import { statusQuery } from '../../../src/contract/task-messages';
import { eventually } from '../../support/eventually';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { ReceiverUnderTest } from './receiver-under-test';

const prefix = 'X-Acme-Task-';
const dialect = { LONGHAUL_SERVICE_DIALECT: `header=${prefix},41007=QUEUE_FULL` };

/** Passes requests on with one prefix of headers in the place of another. */
async function startRenaming(from: string, to: string, target: () => string): Promise<TestHttpServer> {
  const hopByHop = ['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect'];
  return await startHttpServer((received, response) => {
    const headers = Object.entries(received.headers)
      .filter(([name]) => !hopByHop.includes(name))
      .map(([name, value]) => [name.replace(from.toLowerCase(), to), String(value)]);
    if (refusals.length > 0 && received.url.endsWith('/create')) {
      replyJson(response, 400, refusals.pop());
      return;
    }
    const { method, url, bytes } = received;
    const sent = request(`${target()}${url}`, {
      method: method as 'GET' | 'POST' | 'PUT',
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(bytes.length > 0 && { body: bytes }),
    });
    sent.then(
      async ({ statusCode, body }) => {
        response
          .writeHead(statusCode, { 'content-type': 'application/json' })
          .end(Buffer.from(await body.arrayBuffer()));
      },
      () => response.destroy(),
    );
  });
}

/** What the next creates are answered. */
const refusals: object[] = [];
let receiver: ReceiverUnderTest;
let stack: TaskStack;
let service: TestHttpServer;
let callbacks: TestHttpServer;

beforeAll(async () => {
  service = await startRenaming(prefix, 'X-Svc-Task-', () => stack.service.url);
  receiver = await ReceiverUnderTest.open(undefined, dialect);
  callbacks = await startRenaming('X-Svc-Task-', prefix, () => new URL(receiver.url).origin);
  const env = { ...receiver.workerEnv, ...dialect, LONGHAUL_SERVICE_URL: service.url };
  stack = await TaskStack.open({ env: { ...env, LONGHAUL_CALLBACK_URL: `${callbacks.url}/callback` } });
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
  await callbacks.close();
  await service.close();
});

describe('a service whose headers and codes differ', () => {
  it('is asked by its own headers, and its callback ends the watch', async () => {
    const tuning = { ...fastTuning, poll: { minMs: 600_000, maxMs: 600_000 } };
    const task = await stack.start({ webAppId: 5, inputs: { '2:Wait.seconds': 0.5 }, tuning });
    const result = await task.result();

    expect(result.status).toBe('Success');
    expect(await task.query(statusQuery)).toMatchObject({ polls: 1, createRequests: 1 });
    const create = service.requests.find(({ url }) => url.endsWith('/create'));
    expect(create?.headers).toMatchObject({ 'x-acme-task-correlation': `${task.workflowId}/1` });
    expect(Object.keys(create?.headers ?? {}).filter((name) => name.startsWith('x-svc'))).toEqual([]);
    await eventually(() => receiver.log.some((line) => line.includes('"signaled"')));
  });

  it('has its codes understood: a create that its full queue refuses is sent again', async () => {
    refusals.push({ code: 41007, message: 'the line is long', status: false });
    const task = await stack.start({ webAppId: 5, inputs: {}, tuning: fastTuning });

    expect((await task.result()).status).toBe('Success');
    expect(refusals).toEqual([]);
  });
});
