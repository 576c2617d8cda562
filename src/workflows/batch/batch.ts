import { ActivityFailure, CancellationScope, CancelledFailure, condition, ContinueAsNew } from '@temporalio/workflow';
import type { OpenBatchResult, ReportBatchResult, RowsUnderOtherKeys } from '../../contract/batch/batch-activities';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { noUploads } from '../../contract/batch/batch-rows';
import { formatRowPlace, pickKeys, pickPlace, shownKey } from '../../domain/batch/row-place';
import { formatCount, formatCountOf, showValue } from '../../domain/text';
import { sendBatchWebhook, sendRefusalWebhook } from '../end-webhook';
import { batchActivities, batchOptions } from '../activity-proxies';
import { BatchRun } from './batch-run';
import type { BatchRunInput } from './continue-as-new-state';
import { runRows } from './run-rows';
import { getFinalFailure, failureMessage, taskFailure } from '../failures';
import { listenToBatch } from './message-handlers';

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

/** Step 1: rows that changed under a key that was run before are refused before anything is started. */
async function openBatch(run: BatchRun): Promise<void> {
  const { plan, state } = run;
  if (state.opened) return;
  run.show('Opening');
  const { id, rows } = plan;
  const options = batchOptions(run.plan.tuning, 'Compare the rows with the record');
  const opened = await run.stop.unlessAsked(() =>
    batchActivities.openBatch.executeWithOptions(options, [{ id, rows }]),
  );
  if (opened === undefined) {
    run.end(nothingStarted(rows.rows));
    throw new CancelledFailure('The batch was stopped before it started a row.');
  }
  if (!plan.allowChanged) refusePaidTwice(opened);
  state.onRecord = { success: 0, failed: 0, canceled: 0, gone: opened.gone ?? 0 };
  state.succeededBefore = opened.succeeded;
  const budgetProblem = run.budget.open(opened);
  if (budgetProblem !== undefined) throw taskFailure('BudgetUnusable', budgetProblem);
  state.opened = true;
}

type ChangedRow = OpenBatchResult['changedRows'][number];

/** Such as `: "2:ImageScale.width" was 512 and is 640`, by the columns of a template; empty where it is not known. */
function changedWords({ changedInputs = [] }: ChangedRow): string {
  const words = changedInputs.map(({ key, columns = [key], before, now }) => {
    return `${columns.map((name) => showValue(name)).join(' and ')} was ${before} and is ${now}`;
  });
  return words.length === 0 ? '' : `: ${words.join(', ')}`;
}

/** What `openBatch` says of a staged file that has the name of before. */
const otherContent = ' with other content';

/** Where the same changed in all rows, the rows themselves did not. */
function commonChange(unchanged: number | undefined, rows: readonly ChangedRow[]): string {
  if (unchanged !== 0) return '';
  const known = rows.flatMap(({ changedInputs }) =>
    changedInputs === undefined ? [] : [JSON.stringify(changedInputs)],
  );
  if (known.length < 2 || new Set(known).size > 1) return '';
  // A photo of several rows that was replaced under its name: neither the template nor an option.
  const isContent = rows.some(({ changedInputs = [] }) => changedInputs.some(({ now }) => now.endsWith(otherContent)));
  if (isContent) return '';
  return ` The same changed in all ${known.length} rows that were compared: rather than the rows, what they have in common changed (the template, or an option such as --input or --app).`;
}

/** Why rows are refused, and what may be done about it. */
interface Reason {
  readonly rows: number;
  readonly words: string;
  /** Without the begin and the end of its sentence. */
  readonly remedy: string;
  readonly first: readonly { readonly key: string }[];
}

/** Rows that would be paid although one on record may be the same: one refusal tells of all of them. */
function refusePaidTwice({ alike, runBefore, changed, unchanged, changedRows }: OpenBatchResult): void {
  const reasons = [
    ...underOtherKeys(alike, (isOne) => {
      return `${isOne ? 'has a key that differs' : 'have keys that differ'} from keys on record only in capital letters, spaces, forms of accents or leading zeros`;
    }),
    ...underOtherKeys(runBefore, (isOne) => {
      return `${isOne ? 'has' : 'have'} the content of ${isOne ? 'a row' : 'rows'} on record whose ${isOne ? 'key' : 'keys'} the file no longer has`;
    }),
    ...(changed === 0 ? [] : [changedContent(changed, unchanged, changedRows)]),
  ];
  if (reasons.length === 0) return;
  const words = reasons.map((reason) => reason.words).join(' ');
  // At most two: of rows under other keys, then of rows that differ.
  const remedies = [...new Set(reasons.map(({ remedy }) => remedy))].join('; and of rows that differ, ');
  throw taskFailure(
    'RowsChanged',
    `${words} If this is another file, give it an --id of its own: all its rows are then paid. Otherwise ${remedies}.`,
    {
      changed: reasons.reduce((sum, { rows }) => sum + rows, 0),
      changedRows: reasons.flatMap(({ first }) => first),
    },
  );
}

function changedContent(rows: number, unchanged: number | undefined, first: OpenBatchResult['changedRows']): Reason {
  const which = first.map((row) => `${formatRowPlace(row)} (${shownKey(row)}${changedWords(row)})`).join(', ');
  return {
    ...{ rows, first },
    words: `${formatCountOf(rows, 'row')} ${rows === 1 ? 'differs' : 'differ'} from what was run under ${rows === 1 ? 'its key' : 'their keys'}: ${which}.${commonChange(unchanged, first)}`,
    remedy:
      'put back what was there, or, to run and pay the rows anew, give them other keys or allow it with allowChanged (--allow-changed)',
  };
}

/** Such a row is rather the one on record under another key. */
function underOtherKeys(found: RowsUnderOtherKeys | undefined, what: (isOne: boolean) => string): readonly Reason[] {
  if (found === undefined) return [];
  const { rows, first } = found;
  const which = first
    .map((row) => `${formatRowPlace(row)} (${shownKey(row)}; on record: ${row.recordedOriginalKey ?? row.recorded})`)
    .join(', ');
  const more = rows > first.length ? ` and ${formatCount(rows - first.length)} more` : '';
  return [
    {
      rows,
      words: `${formatCountOf(rows, 'row')} ${what(rows === 1)}: ${which}${more}.`,
      remedy:
        'give the keys of before, or allow it with allowChanged (--allow-changed): the rows are then run, and paid, as new ones',
      first: first.map((row) => ({ ...pickPlace(row), ...pickKeys(row) })),
    },
  ];
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
  return { batchId: id, rows: rows.rows, badRows, ending, ...(onRecord !== undefined && { onRecord }), ...report };
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
    ...{ jsonl: '', csv: '', success: 0, failed: 0, canceled: 0, notStarted: rows },
    ...{ outputs: 0, outputBytes: 0, uploads: noUploads, failures: {}, slowest: [], unsuccessful: [] },
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
