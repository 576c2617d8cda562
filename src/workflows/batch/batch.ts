import { ActivityFailure, CancellationScope, CancelledFailure, condition, ContinueAsNew } from '@temporalio/workflow';
import type { ReportBatchResult } from '../../contract/batch/batch-activities';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { noUploads } from '../../contract/batch/batch-rows';
import { budgetProblem, noSpending } from '../../money/batch-budget';
import { batchActivities, batchOptions } from '../activity-proxies';
import { sendBatchWebhook, sendRefusalWebhook } from '../end-webhook';
import { failureMessage, getFinalFailure, taskFailure } from '../failures';
import { type BatchRun, type BatchRunInput, openRun } from './batch-state';
import { show } from './details';
import { listenToBatch } from './messages';
import { runRows, unlessStopped } from './window';

/**
 * A batch of tasks, one for each row of a file:
 *
 * 1. open it: compare the rows with what the batch's record has of them;
 * 2. run the rows, so many at a time, each as a task of its own, and record how each ended;
 * 3. report: join the record in the order of the rows, and have a webhook tell of the end.
 *
 * The rows stay in their file; the workflow knows of each no more than its key while it runs. Temporal's cancellation
 * stops every row at once, whatever the batch is waiting for, and ends the batch once they are confirmed to have ended;
 * a terminated batch leaves its tasks to themselves, and a second run finds them.
 */
export async function batch(input: BatchRunInput): Promise<BatchResult> {
  let run: BatchRun;
  try {
    run = openRun(input);
  } catch (error) {
    await sendRefusalWebhook('batch', input, error);
    throw error;
  }
  listenToBatch(run);
  return await CancellationScope.nonCancellable(async () => {
    try {
      await openBatch(run);
      await runRows(run);
      const result = await reportBatch(run);
      await sendBatchWebhook(run, { result });
      return result;
    } catch (error) {
      const failure = endingBatchFailure(run, error);
      await sendBatchWebhook(run, { error: failure });
      throw failure;
    }
  });
}

/** Step 1: rows that may have been paid under another content or key are refused before anything is started. */
async function openBatch(run: BatchRun): Promise<void> {
  const { plan, state } = run;
  if (state.opened) return;
  show(run, 'Opening');
  const { id, rows, choice, tuning } = plan;
  const options = batchOptions(tuning, 'Compare the rows with the record');
  const opened = await unlessStopped(run, () =>
    batchActivities.openBatch.executeWithOptions(options, [{ id, rows, choice }]),
  );
  if (opened === undefined) {
    run.report = nothingStarted(rows.rows);
    show(run, 'Ended');
    throw new CancelledFailure('The batch was stopped before it started a row.');
  }
  const { spending = noSpending, prices, dailyProblem, gone, succeeded = 0 } = opened;
  const onRecord = { success: 0, failed: 0, canceled: 0, gone };
  Object.assign(state, { onRecord, succeededBefore: succeeded, spending, prices });
  const problem = dailyProblem ?? (state.budget === null ? undefined : budgetProblem(state.budget, prices, spending));
  if (problem !== undefined) throw taskFailure('BudgetUnusable', problem);
  state.opened = true;
}

/** Step 3: the result files, and the figures of the batch. */
async function reportBatch(run: BatchRun): Promise<BatchResult> {
  show(run, 'Reporting');
  const { plan, state } = run;
  const { id, rows, source, badRows, tuning } = plan;
  const ending = state.cursor === null ? 'completed' : 'drained';
  const options = batchOptions(tuning, 'Join the results in the order of the rows');
  run.report = await batchActivities.reportBatch.executeWithOptions(options, [
    { id, rows, source, badRows, ending: state.isStopAsked ? 'stopped' : ending },
  ]);
  show(run, 'Ended');
  if (!state.isStopAsked)
    return { batchId: id, rows: rows.rows, badRows, ending, onRecord: state.onRecord, ...run.report };
  // A canceled workflow ends without a result; `progress` has the figures. Only a run that Temporal cancels can end so: one
  // that goes on for a canceled run asks for it.
  if (!run.isCanceled) {
    const cancel = batchOptions(tuning, 'Have this run canceled, as the one before it was');
    await batchActivities.cancelBatch.executeWithOptions(cancel, [{ id }]);
    await condition(() => run.isCanceled);
  }
  throw new CancelledFailure('The batch was stopped, and every row that ran has ended.');
}

/** Nothing is joined then: the record may still be laid out for other rows. */
function nothingStarted(rows: number): ReportBatchResult {
  return {
    jsonl: '',
    csv: '',
    success: 0,
    failed: 0,
    canceled: 0,
    notStarted: rows,
    outputs: 0,
    outputBytes: 0,
    uploads: noUploads,
    failures: {},
    slowest: [],
    unsuccessful: [],
  };
}

/** The failure a batch ends with, shown as well. Its tasks are workflows of their own and go on. */
function endingBatchFailure(run: BatchRun, error: unknown): unknown {
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure || !(error instanceof ActivityFailure)) {
    return error;
  }
  const words = failureMessage(error);
  // A run that started no row is passed over for the one before it, by its status attribute.
  show(run, run.state.opened ? 'Ended' : 'Opening', words);
  return getFinalFailure(error) ?? taskFailure('BatchFailed', `${error.activityType} failed: ${words}`);
}
