import { ActivityFailure, CancellationScope, CancelledFailure, condition, ContinueAsNew } from '@temporalio/workflow';
import type { ReportBatchResult } from '../../contract/batch/batch-activities';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { noUploads } from '../../contract/batch/batch-rows';
import { budgetProblem } from '../../money/batch-budget';
import { sendBatchWebhook, sendRefusalWebhook } from '../end-webhook';
import { batchActivities, batchOptions } from '../activity-proxies';
import { BatchRun } from './batch-run';
import type { BatchRunInput } from './batch-state';
import { runRows } from './window';
import { getFinalFailure, failureMessage, taskFailure } from '../failures';
import { listenToBatch } from './messages';

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
    run = BatchRun.open(input);
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
  run.show('Opening');
  const { id, rows } = plan;
  const options = batchOptions(run.plan.tuning, 'Compare the rows with the record');
  const opened = await run.stop.unlessAsked(() =>
    batchActivities.openBatch.executeWithOptions(options, [{ id, rows, choice: plan.choice }]),
  );
  if (opened === undefined) {
    run.end(nothingStarted(rows.rows));
    throw new CancelledFailure('The batch was stopped before it started a row.');
  }
  state.onRecord = { success: 0, failed: 0, canceled: 0, gone: opened.gone };
  state.succeededBefore = opened.succeeded;
  const { spending, prices, dailyProblem } = opened;
  state.spending = spending;
  state.prices = prices;
  const ofBudget = state.budget == null ? undefined : budgetProblem(state.budget, prices, spending);
  const problem = dailyProblem ?? ofBudget;
  if (problem !== undefined) throw taskFailure('BudgetUnusable', problem);
  state.opened = true;
}

/** Step 3: the result files, and the figures of the batch. */
async function reportBatch(run: BatchRun): Promise<BatchResult> {
  run.show('Reporting');
  const { plan, state } = run;
  const { id, rows, source, badRows } = plan;
  const ending = state.cursor === null ? 'completed' : 'drained';
  const options = batchOptions(run.plan.tuning, 'Join the results in the order of the rows');
  const report = await batchActivities.reportBatch.executeWithOptions(options, [
    { id, rows, source, badRows, ending: run.stop.isAsked ? 'stopped' : ending },
  ]);
  run.end(report);
  // A canceled workflow ends without a result; `progress` has the figures.
  if (run.stop.isAsked) await haveItCanceled(run);
  if (run.stop.isAsked) throw new CancelledFailure('The batch was stopped, and every row that ran has ended.');
  const { onRecord } = state;
  return { batchId: id, rows: rows.rows, badRows, ending, onRecord, ...report };
}

/** Only a run that Temporal cancels can end as canceled; one that goes on for a run that was, asks for it. */
async function haveItCanceled(run: BatchRun): Promise<void> {
  if (run.stop.isCanceled) return;
  const options = batchOptions(run.plan.tuning, 'Have this run canceled, as the one before it was');
  await batchActivities.cancelBatch.executeWithOptions(options, [{ id: run.plan.id }]);
  await condition(() => run.stop.isCanceled);
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
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure) return error;
  if (!(error instanceof ActivityFailure)) return error;
  const words = failureMessage(error);
  // A run that started no row is passed over for the one before it, by its status attribute.
  run.show(run.state.opened ? 'Ended' : 'Opening', words);
  return getFinalFailure(error) ?? taskFailure('BatchFailed', `${error.activityType} failed: ${words}`);
}
