import { randomUUID } from 'node:crypto';
import { NativeConnection } from '@temporalio/worker';
import type { TaskInput } from '../../src/contract/task-input';
import type { TaskResult } from '../../src/contract/task-result';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import { executionOf, fastTuning, stopRequestOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { TaskWorkers } from '../support/task-workers';
import { temporalAddress } from '../support/temporal-connection';
import { watchWays, whenSeenAs } from '../support/watch-ways';

const environment = TaskEnvironment.forSuite();
const stopGraceMs = 2_000;

describe.each(watchWays)('a stop whose time passed while no worker ran, watched by %s,', (watch) => {
  /** The task prepares when it is stopped, and runs when a worker looks at it again. */
  async function stopLate(service: FakeService): Promise<{ execution: string; stop: unknown }> {
    const taskQueue = `test-${randomUUID()}`;
    const connection = await NativeConnection.connect({ address: temporalAddress() });
    let workers = await TaskWorkers.start(connection, taskQueue, service.activities);
    const tuning = { ...fastTuning, stopGraceMs };
    const task = await environment.client.workflow.start<(input: TaskInput) => Promise<TaskResult>>('task', {
      ...{ taskQueue, workflowId: `task:${randomUUID()}`, workflowExecutionTimeout: '90 seconds' },
      args: [{ webAppId: 7, inputs: {}, watch, tuning }],
    });
    try {
      await whenSeenAs(task, watch, 'Preparing');
      await task.cancel();
      const askedAtMs = Date.now();
      await whenStatusIs(task, 'Stopping');
      await workers.stop();
      await eventually(() => Date.now() - askedAtMs > stopGraceMs, { what: 'the time of the stop to be over' });
      service.script = [seen('Running')];
      workers = await TaskWorkers.start(connection, taskQueue, service.activities);
      return { execution: await executionOf(task), stop: await stopRequestOf(task, 'stop') };
    } finally {
      await task.terminate().catch(() => undefined);
      await workers.stop();
      await connection.close();
    }
  }

  it.concurrent('is sent before it is given up, and confirmed', async () => {
    const service = new FakeService({ script: [seen('Preparing')] });
    expect(await stopLate(service)).toMatchObject({ execution: 'CANCELLED', stop: { outcome: 'confirmed' } });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });

  it.concurrent('is given up all the same when the service takes it and does nothing', async () => {
    const service = new FakeService({ script: [seen('Preparing')] });
    service.onVerb = () => ({ taken: true });
    expect(await stopLate(service)).toMatchObject({ execution: 'FAILED', stop: { outcome: 'unconfirmed' } });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });
});
