import { InterceptingCall, type Interceptor, status, type StatusObject } from '@grpc/grpc-js';
import { Client, Connection } from '@temporalio/client';
import { UnknownTaskError } from '../../../src/client/errors';
import { TemporalUnreachableError } from '../../../src/client/connection-errors';
import { connectTemporal, endingWithin, retries } from '../../../src/client/connect-temporal';
import { countBatches } from '../../../src/client/batch/list-batches';
import { countTasks } from '../../../src/client/task/list-tasks';
import { Longhaul } from '../../../src/client/longhaul';
import { FaultProxy } from '../../support/fault-proxy';
import { startOneMethodServer } from '../../support/one-method-server';

let server: Awaited<ReturnType<typeof startOneMethodServer>>;
/** When the last wait for a result had to be answered, from its start. */
let waitMs: number | undefined;

beforeAll(async () => {
  server = await startOneMethodServer('GetWorkflowExecutionHistory', (call, answer) => {
    waitMs = Number(call.getDeadline()) - Date.now();
    const failure: Partial<StatusObject> = { code: status.NOT_FOUND, details: 'workflow not found for ID: task:a' };
    answer(failure);
  });
});

afterAll(() => {
  server.stop();
});

describe('a Temporal that falls silent, with its connections open', () => {
  it('ends lists and counts in 15 seconds, as every other call, and the wait for a result in the connection’s time', async () => {
    const proxy = await FaultProxy.start(server.port);
    const address = `127.0.0.1:${proxy.port}`;
    let givenMs = 0;
    // Notes the deadline of each request, and has the silence end much sooner.
    const hurrying: Interceptor = (options, nextCall) => {
      givenMs = Number(options.deadline) - Date.now();
      return new InterceptingCall(nextCall({ ...options, deadline: Date.now() + 200 }));
    };
    const connection = await Connection.connect({ address, interceptors: [endingWithin(20_000), retries, hurrying] });
    const client = new Client({ connection });
    const longhaul = new Longhaul({ client });
    const access = { client, address, taskQueue: 'longhaul', webUiUrl: null };
    const first = (items: AsyncIterable<unknown>): Promise<unknown> => items[Symbol.asyncIterator]().next();
    const calls: [string, () => Promise<unknown>][] = [
      ['list', () => first(longhaul.list())],
      ['listBatches', () => first(longhaul.listBatches())],
      ['count', () => countTasks(access, {})],
      ['countBatches', () => countBatches(access, ['Running'])],
      ['status', () => longhaul.task('order-17').status()],
      ['result', () => longhaul.task('order-17').result()],
    ];
    try {
      proxy.silence();
      const seconds: Record<string, number> = {};
      for (const [name, call] of calls) {
        await expect(call()).rejects.toThrow(TemporalUnreachableError);
        seconds[name] = Math.round(givenMs / 5_000) * 5;
      }
      expect(seconds).toEqual({ list: 15, listBatches: 15, count: 15, countBatches: 15, status: 15, result: 20 });
    } finally {
      await connection.close();
      await proxy.close();
    }
  });

  it('has 70 seconds for a wait for a result, of which Temporal holds one answer back for 20', async () => {
    const address = `127.0.0.1:${server.port}`;
    const connection = await connectTemporal({ address, namespace: 'default', connectionOptions: { address } });
    try {
      const longhaul = new Longhaul({ client: new Client({ connection }) });
      await expect(longhaul.task('a').result()).rejects.toThrow(UnknownTaskError);
      expect(waitMs).toBeGreaterThan(60_000);
      expect(waitMs).toBeLessThanOrEqual(70_000);
    } finally {
      await connection.close();
    }
  });
});
