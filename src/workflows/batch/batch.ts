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
 * 1. open it: compare the rows with the batch's record;
 * 2. run the rows, a limited number at a time, each as a task, and record how each ended;
 * 3. report: join the record in the order of the rows, and have a webhook tell of the end.
 *
 * The workflow holds only the keys of running rows. Temporal's cancellation stops every row at once and ends the batch
 * once they have ended; a terminated batch leaves its tasks running, and a second run finds them.
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

/** Step 1. Rows that may have been paid under another content or key are refused before anything starts. */
async function openBatch(run: BatchRun): Promise<void> {
  const { plan, state } = run;
  if (state.opened) return;
  show(run, 'Opening');
  const { id, rows, source, choice, command, tuning } = plan;
  const options = batchOptions(tuning, 'Compare the rows with the record');
  const opened = await unlessStopped(run, () =>
    batchActivities.openBatch.executeWithOptions(options, [{ id, rows, source, choice, command }]),
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

async function reportBatch(run: BatchRun): Promise<BatchResult> {
  show(run, 'Reporting');
  const { plan, state } = run;
  const { id, rows, source, command, badRows, tuning } = plan;
  const files = command?.files ?? null;
  const ending = state.cursor === null ? 'completed' : 'drained';
  const options = batchOptions(tuning, 'Join the results in the order of the rows');
  run.report = await batchActivities.reportBatch.executeWithOptions(options, [
    { id, rows, source, files, badRows, ending: state.isStopAsked ? 'stopped' : ending },
  ]);
  show(run, 'Ended');
  if (!state.isStopAsked)
    return { batchId: id, rows: rows.rows, badRows, ending, onRecord: state.onRecord, ...run.report };
  // A canceled workflow has no result; `progress` has the figures. Only a run that Temporal canceled can end so.
  if (!run.isCanceled) {
    const cancel = batchOptions(tuning, 'Have this run canceled, as the one before it was');
    await batchActivities.cancelBatch.executeWithOptions(cancel, [{ id }]);
    await condition(() => run.isCanceled);
  }
  throw new CancelledFailure('The batch was stopped, and every row that ran has ended.');
}

/** The record may still be laid out for other rows, so nothing is joined. */
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

function endingBatchFailure(run: BatchRun, error: unknown): unknown {
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure || !(error instanceof ActivityFailure)) {
    return error;
  }
  // By the status attribute, a run that started no row is passed over for the one before.
  show(run, run.state.opened ? 'Ended' : 'Opening');
  return getFinalFailure(error) ?? taskFailure('BatchFailed', `${error.activityType} failed: ${failureMessage(error)}`);
}
