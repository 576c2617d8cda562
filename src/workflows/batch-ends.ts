import { CancelledFailure, condition } from '@temporalio/workflow';
import type { ReportBatchResult } from '../contract/batch-activities';
import type { BatchResult } from '../contract/batch-progress';
import { noUploads } from '../contract/batch-rows';
import { batchActivities, batchOptions } from './batch-proxies';
import type { BatchRun } from './batch-run';
import { taskFailure } from './failures';

/** Step 1: rows that changed under a key that was run before are refused before anything is started. */
export async function openBatch(run: BatchRun): Promise<void> {
  const { plan, state } = run;
  if (state.opened) return;
  run.show('Opening');
  const { id, rows } = plan;
  const options = batchOptions(run, 'Compare the rows with the record');
  const opened = await run.stop.unlessAsked(() =>
    batchActivities.openBatch.executeWithOptions(options, [{ id, rows }]),
  );
  if (opened === undefined) {
    run.end(nothingStarted(rows.rows));
    throw new CancelledFailure('The batch was stopped before it started a row.');
  }
  const { changed, changedRows } = opened;
  if (changed > 0 && !plan.allowChanged) {
    const which = changedRows.map(({ line, key }) => `line ${line} (${key})`).join(', ');
    throw taskFailure(
      'RowsChanged',
      `${changed} rows differ from what was run under their keys: ${which}. If this is another file, give it an --id ` +
        'of its own. Otherwise give the rows other keys, or allow it with allowChanged (--allow-changed): they are then ' +
        'run, and paid, anew.',
      { changed, changedRows },
    );
  }
  state.opened = true;
}

/** Step 3: the result files, and the figures for whoever asked for the batch. */
export async function reportBatch(run: BatchRun): Promise<BatchResult> {
  run.show('Reporting');
  const { plan, state } = run;
  const { id, rows } = plan;
  const options = batchOptions(run, 'Join the results in the order of the rows');
  const report = await batchActivities.reportBatch.executeWithOptions(options, [{ id, rows }]);
  run.end(report);
  // A canceled workflow ends without a result; `progress` has the figures.
  if (run.stop.isAsked) await haveItCanceled(run);
  if (run.stop.isAsked) throw new CancelledFailure('The batch was stopped, and every row that ran has ended.');
  const ending = state.cursor === null ? 'completed' : 'drained';
  return { batchId: id, rows: rows.rows, badRows: plan.badRows, ending, ...report };
}

/** Only a run that Temporal cancels can end as canceled; one that goes on for a run that was, asks for it. */
async function haveItCanceled(run: BatchRun): Promise<void> {
  if (run.stop.isCanceled) return;
  const options = batchOptions(run, 'Have this run canceled, as the one before it was');
  await batchActivities.cancelBatch.executeWithOptions(options, [{ id: run.plan.id }]);
  await condition(() => run.stop.isCanceled);
}

/** Nothing is joined then: the record may still be laid out for other rows. */
function nothingStarted(rows: number): ReportBatchResult {
  return {
    ...{ jsonl: '', csv: '', success: 0, failed: 0, canceled: 0, notStarted: rows },
    ...{ outputs: 0, outputBytes: 0, uploads: noUploads, failures: {}, slowest: [], unsuccessful: [] },
  };
}
