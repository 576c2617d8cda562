import { CancellationScope } from '@temporalio/workflow';
import type { BatchResult } from '../contract/batch-progress';
import { openBatch, reportBatch } from './batch-ends';
import { BatchRun, type BatchRunInput } from './batch-run';
import { endingBatchFailure } from './batch-failures';
import { runRows } from './batch-window';
import { listenToBatch } from './listen-to-batch';

/**
 * A batch of tasks, one for each row of a file:
 *
 * 1. open it: compare the rows with what the batch's record has of them;
 * 2. run the rows, so many at a time, each as a task of its own, and record how each ended;
 * 3. report: join the record in the order of the rows.
 *
 * The rows stay in their file; the workflow knows of each no more than its key while it runs. Temporal's cancellation
 * stops every row at once, whatever the batch is waiting for, and ends the batch once they are confirmed to have ended;
 * a terminated batch leaves its tasks to themselves, and a second run finds them.
 */
export async function batch(input: BatchRunInput): Promise<BatchResult> {
  const run = BatchRun.open(input);
  listenToBatch(run);
  return await CancellationScope.nonCancellable(async () => {
    try {
      await openBatch(run);
      await runRows(run);
      return await reportBatch(run);
    } catch (error) {
      throw endingBatchFailure(run, error);
    }
  });
}
