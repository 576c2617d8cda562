import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import { Longhaul } from '../../../src/client/longhaul';
import type { TaskHandle } from '../../../src/client/task/task-handle';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { FaultProxy } from '../../support/fault-proxy';
import { TaskWorkers } from '../../support/task-workers';
import { ClientEnvironment, smallInput } from './client-environment';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  environment.service.requestId = randomUUID();
});
afterAll(() => environment.close());

async function whenRuns(task: TaskHandle): Promise<void> {
  await eventually(async () => (await task.status()).serviceStatus === 'Running', { what: 'the task to run' });
}

/** How long a call takes, in milliseconds. */
async function msOf(call: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await call();
  return performance.now() - startedMs;
}

describe('the status of a task', () => {
  it('is told within two seconds where no worker polls, of one that waits and of one that is over', async () => {
    environment.service.script = [seen('Success')];
    await environment.startWorkers();
    const over = await environment.longhaul.start(smallInput);
    await over.result();
    await environment.stopWorkers();
    const waiting = await environment.longhaul.start(smallInput);

    for (const [task, told] of [
      [waiting, { isOver: false, problem: { code: 'NoWorker' } }],
      [over, { status: 'Success', isOver: true, problem: null }],
    ] as const) {
      const tookMs = await msOf(async () => {
        expect(await task.status()).toMatchObject(told);
      });
      expect(tookMs).toBeLessThan(2_000);
    }
    await environment.startWorkers();
    await waiting.result();
    await environment.stopWorkers();
  });

  it('waits for a worker that is there and slow', async () => {
    const line = await FaultProxy.start(Number(environment.address.split(':').at(-1)));
    const native = await NativeConnection.connect({ address: `127.0.0.1:${line.port}` });
    environment.service.script = [seen('Running')];
    // A worker that stopped a moment ago on the same task queue would be taken for this one: they have one identity.
    const taskQueue = `test-${randomUUID()}`;
    const workers = await TaskWorkers.start(native, taskQueue, environment.service.activities);
    const task = await new Longhaul({ client: environment.temporal, taskQueue }).start(smallInput);
    await whenRuns(task);

    line.silence();
    // Longer than it takes to find out that no worker is there.
    const signal = AbortSignal.timeout(2_500);
    await expect(task.status({ signal })).rejects.toMatchObject({ name: 'TimeoutError' });
    const status = task.status();
    line.release();

    expect(await status).toMatchObject({ serviceStatus: 'Running', problem: null });
    environment.service.script = [seen('Success')];
    await task.result();
    await workers.stop();
    await native.close();
    await line.close();
  });
});
