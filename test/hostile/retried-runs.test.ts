import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { NativeConnection } from '@temporalio/worker';
import type { TaskResult } from '../../src/contract/task-result';
import { eventually } from '../support/eventually';
import { FakeService } from '../support/fake-activities';
import { jsonPayload, RawMessages } from '../support/raw-messages';
import { failureOf, fastTuning, TaskEnvironment } from '../support/task-environment';
import { TaskWorkers } from '../support/task-workers';
import { temporalAddress } from '../support/temporal-connection';

const environment = TaskEnvironment.forSuite();

/** A task whose first run is over before a worker takes it up: the retry policy of its start has made the one that runs. */
async function retried<T>(
  service: FakeService,
  more: object,
  during: (task: WorkflowHandle<() => Promise<TaskResult>>) => Promise<T>,
): Promise<T> {
  const taskQueue = `test-${randomUUID()}`;
  const workflowId = `task:${randomUUID()}`;
  const input = jsonPayload({ webAppId: 7, inputs: {}, tuning: fastTuning, ...more });
  const first = await new RawMessages(environment.client, taskQueue).start('task', workflowId, [input], {
    // Of the run after it, too, which must come to its end on a busy machine.
    workflowRunTimeout: msToTs(10_000),
    retryPolicy: { initialInterval: msToTs(1_000) },
  });
  const task = environment.client.workflow.getHandle<() => Promise<TaskResult>>(workflowId);
  await eventually(async () => (await task.describe()).runId !== first);
  const connection = await NativeConnection.connect({ address: temporalAddress() });
  const workers = await TaskWorkers.start(connection, taskQueue, service.activities);
  try {
    return await during(task);
  } finally {
    await task.terminate().catch(() => undefined);
    await workers.stop();
    await connection.close();
  }
}

describe('a run that Temporal’s retries made, which looks as if it continued another', () => {
  it.concurrent('believes no state of its start, and begins anew', async () => {
    const service = new FakeService();
    await retried(service, { continueAsNewState: { requestId: 'r-of-another' } }, async (task) => {
      const { requestId } = await task.result();
      expect(requestId).not.toBe('r-of-another');
      expect(service.calls.creates).toHaveLength(1);
    });
  });

  it.concurrent('is not let into the folder of a batch', async () => {
    const service = new FakeService();
    await retried(service, { archive: 'batches/night' }, async (task) => {
      const failure = await failureOf(task);
      expect(failure.message).toMatch(/reserved for the records of batches/);
      expect(service.calls.creates).toEqual([]);
    });
  });
});
