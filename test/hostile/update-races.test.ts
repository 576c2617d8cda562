import { DecisionRefusedError, TaskOverError } from '../../src/client/errors';
import { Longhaul } from '../../src/client/longhaul';
import { fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { historyLengthsOf } from '../support/history-lengths';
import { TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

describe('updates that meet the end of a run', () => {
  it.concurrent('reach the next run, and after the last one say that the batch is over', async () => {
    const batch = fakeBatchOf(environment.client, 300, {
      concurrency: 10,
      tuning: { ...fastBatchTuning, continueAsNewAfterEvents: 30 },
    });
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    let answered = 0;
    const thrown: unknown[] = [];
    await environment.withBatch(batch.activities, batch.input, async (run, taskQueue) => {
      const handle = new Longhaul({ client: environment.client, taskQueue }).batch(batch.id);
      let isOver = false;
      const updates = Array.from({ length: 4 }, async (_, index) => {
        while (!isOver) {
          const rows = 10 + index;
          await handle.setConcurrency(rows).then(
            () => (answered += 1),
            (error: unknown) => thrown.push(error),
          );
        }
      });
      expect(await run.result()).toMatchObject({ ending: 'completed' });
      isOver = true;
      await Promise.all(updates);
      expect((await historyLengthsOf(environment.client, run.workflowId)).length).toBeGreaterThan(3);
    });
    expect(answered).toBeGreaterThan(20);
    expect(
      thrown.filter((error) => !(error instanceof TaskOverError || error instanceof DecisionRefusedError)),
    ).toEqual([]);
  });
});
