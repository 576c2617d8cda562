import { formatHeldUp, type ReportBatchResult } from '../../contract/batch/batch-activities';
import type { BatchProgress, BatchState } from '../../contract/batch/batch-messages';
import type { BatchPlan } from '../../contract/batch/parse-batch-input';
import { rowsOfBatch, searchAttributes } from '../../contract/search-attributes';
import { formatBudget, noSpending, spentSums } from '../../money/batch-budget';
import { expectedEnd, mostFrequent } from '../../core/batch/batch-pace';
import { formatMoney } from '../../money/money';
import { formatRowPlace, shownKey } from '../../core/batch/row-place';
import { statesThatWait } from '../../core/task-state';
import { formatBytes, formatCountOf, markdownText } from '../../core/text';
import { formatMinute, formatMoment } from '../../core/time';
import { type BatchContinueAsNewState, readBudget } from './batch-state';

/** In these nothing is left to stop. */
const endingStates: readonly BatchProgress['state'][] = ['Stopping', 'Reporting', 'Ended'];
/** Of Temporal's lists, for its Web UI. */
const unsuccessful = 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")';
const maxTypes = 10;
const maxPathLength = 300;

interface ShownBatch {
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  readonly current: BatchState;
  readonly running: number;
  readonly isStopAsked: boolean;
  /** Rows that end in a minute; null while that is not known. */
  readonly perMinute: number | null;
  readonly problem: string | null;
  /** Null until the results are joined. */
  readonly report: ReportBatchResult | null;
}

export function viewProgress(batch: ShownBatch): BatchProgress {
  const { plan, state, current, running, perMinute, problem, report } = batch;
  const { failed, canceled } = state;
  const success = state.success + succeededAhead(state);
  const waiting = Math.max(0, plan.rows.rows - success - failed - canceled - running);
  const budget = readBudget(state, running);
  const { lastMovedMs, rowStates, dailyWait, spending = noSpending } = state;
  const mayStart = !state.isPaused && dailyWait === undefined && budget?.places !== 0;
  // Where no more rows are started, those that run are all that is left.
  const toStart = current === 'Draining' || current === 'Stopping' ? 0 : waiting;
  const open = { running, waiting: toStart, mayStart, heldUp: rowStates?.heldUp?.rows ?? 0 };
  return {
    batchId: plan.id,
    state: current,
    source: plan.source,
    startedAt: isoTime(state.startedAtMs),
    rows: plan.rows.rows,
    badRows: plan.badRows,
    success,
    failed,
    canceled,
    running,
    waiting,
    concurrency: state.concurrency,
    // One that is drained or stopped is paused no more.
    pausedAt: current === 'Paused' && state.pausedAtMs !== undefined ? isoTime(state.pausedAtMs) : undefined,
    toRetry: state.isRetryAsked && !state.isDraining && !batch.isStopAsked ? failed + canceled : undefined,
    rowStates,
    perMinute,
    expectedEnd: expectedEnd(open, perMinute, Date.now()),
    lastMovedAt: lastMovedMs === undefined ? null : isoTime(lastMovedMs),
    failures: state.failures,
    attempt: { number: state.attempt ?? 1, of: plan.attempts },
    costs: { sums: spentSums(spending), unknown: spending.unknown },
    budget,
    dailyBudget: dailyWait,
    uploads: state.uploads,
    lastFailures: state.lastFailures,
    problem,
    report,
    onRecord: state.onRecord,
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Rows that had succeeded before, and to which the first pass has not come: a batch at its budget has them all the same. */
function succeededAhead({ mode, cursor, succeededBefore = 0, onRecord }: BatchContinueAsNewState): number {
  return mode === 'new' && cursor !== null ? Math.max(0, succeededBefore - (onRecord?.success ?? 0)) : 0;
}

/** The page of a batch, in Markdown; the words of rows and of the service in it are not. */
export function batchDetails(progress: BatchProgress): string {
  const { state, rows, success, failed, canceled, running, waiting, concurrency, badRows, toRetry, pausedAt } =
    progress;
  const ended = success + failed + canceled;
  const uploads = formatUploads(progress);
  // They change only when a row starts or ends.
  const countedAt =
    progress.lastMovedAt == null || state === 'Ended' ? '' : `; as of ${formatMoment(progress.lastMovedAt)}`;
  const percent = rows === 0 ? 100 : Math.floor((100 * ended) / rows);
  const lines = [
    [
      'Rows',
      `${ended} of ${rows} ended (${percent} %)${badRows === 0 ? '' : `, ${badRows} bad ${badRows === 1 ? 'one' : 'ones'} left out`}`,
    ],
    ['Ended', `${success} succeeded, ${failed} failed, ${canceled} canceled`],
    ['Now', `${running} running (at most ${concurrency}), ${waiting} waiting${countedAt}`],
    ...(toRetry === undefined || toRetry === 0
      ? []
      : [['To be tried again', `${formatCountOf(toRetry, 'row')} so far, once every row had its turn`]]),
    ...(state === 'Paused'
      ? [['To go on', `the update \`resume\`, or \`longhaul batch resume ${progress.batchId}\``]]
      : []),
    ...(state === 'BudgetReached'
      ? [['To go on', `the update \`setBudget\`, or \`longhaul batch set-budget ${progress.batchId} AMOUNT\``]]
      : []),
    ...attemptLines(progress),
    ...formatStates(progress),
    ...(progress.report === null ? [['Pace', formatPace(progress, ended)]] : formatReport(progress.report)),
    ...(uploads === null ? [] : [['Uploads', uploads]]),
    ...costLines(progress),
    ['Failures', formatFailures(progress)],
    ...(failed === 0
      ? []
      : [['Failed rows', `list with ${markdownText(`${rowsOfBatch(progress.batchId)} AND ${unsuccessful}`)}`]]),
    ['Rows by state', `list with ${markdownText(rowsOfBatch(progress.batchId))}`],
    ...(endingStates.includes(state)
      ? []
      : [['To stop it', 'Request Cancellation, which stops its rows; after Terminate they run on']]),
  ];
  return [
    `### ${state}`,
    ...(state === 'Paused' && pausedAt !== undefined ? [`since ${formatMoment(pausedAt)}`] : []),
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${value}`),
    ...(progress.problem === null ? [] : ['', `**Problem:** ${markdownText(progress.problem)}`]),
    ...(progress.lastFailures.length === 0 ? [] : ['', '**Last failures**', '']),
    ...progress.lastFailures.map(
      (row) => `- ${markdownText(shownKey(row))} (${formatRowPlace(row)}): ${markdownText(row.message)}`,
    ),
  ].join('\n');
}

/** Which attempt runs. With the next one, rows count as running again that had ended. */
function attemptLines({ attempt, state }: BatchProgress): string[][] {
  if (attempt === undefined || attempt.of === 1) return [];
  const again =
    attempt.number === 1 || state === 'Ended'
      ? ''
      : '; rows that failed run again, and count as running, no longer as ended';
  return [['Attempt', `${attempt.number} of ${attempt.of}${again}`]];
}

export function rowsThatWait(counts: Readonly<Record<string, number>> = {}): number {
  return statesThatWait.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** What the running rows do, which of them cannot go on, and which wait for a person, as of the last poll of all. */
function formatStates({ batchId, rowStates, running, lastMovedAt }: BatchProgress): string[][] {
  if (rowStates === undefined || running === 0) return [];
  const { asOf, counts, heldUp } = rowStates;
  const states = mostFrequent(counts).map(([state, count]) => `${count} ${state}`);
  const waiting = rowsThatWait(counts);
  const list = `\`longhaul list --batch ${batchId} --needs-person\``;
  const isOlder = lastMovedAt != null && lastMovedAt > asOf;
  const when = `as of ${formatMinute(asOf)}${isOlder ? ', and rows have started or ended since' : ''}`;
  return [
    // Those that run may have started since.
    ...(states.length === 0 ? [] : [['Running rows', `${states.join(', ')}, ${when}`]]),
    ...(heldUp === undefined ? [] : [['Held up', `${formatHeldUp(heldUp, markdownText)}; ${when}`]]),
    ...(waiting === 0
      ? []
      : [
          [
            'Wait for you',
            `${formatCountOf(waiting, 'row')}: ${list}, or list with ${markdownText(waitingRowsOf(batchId))}`,
          ],
        ]),
  ];
}

/** A filter of Temporal's lists, for its Web UI. */
function waitingRowsOf(batchId: string): string {
  const states = statesThatWait.map((state) => `"${state}"`).join(', ');
  return `${rowsOfBatch(batchId)} AND ${searchAttributes.status.name} IN (${states}) AND ExecutionStatus = "Running"`;
}

function formatReport({ csv, html }: NonNullable<BatchProgress['report']>): string[][] {
  const files = [
    ['Table', csv],
    ['Report', html],
  ];
  return files.flatMap(([name = '', path = '']) => (path === '' ? [] : [[name, markdownText(path, maxPathLength)]]));
}

function formatPace(progress: BatchProgress, ended: number): string {
  const { perMinute, expectedEnd, lastMovedAt } = progress;
  if (perMinute === null) return ended === 0 ? 'nothing has ended yet' : 'nothing has ended since the start';
  const pace = perMinute >= 10 ? perMinute.toFixed(0) : perMinute.toFixed(1);
  const end = expectedEnd === null ? '' : `, over at about ${formatMinute(expectedEnd)}`;
  // The page shows what was known then: without workers it stays as it is.
  const asOf = lastMovedAt == null ? '' : `, as of ${formatMinute(lastMovedAt)}`;
  return `${pace} rows a minute${end}${end === '' ? '' : asOf}`;
}

function costLines({ costs, budget, dailyBudget, running }: BatchProgress): string[][] {
  const daily = dailyBudget === undefined ? [] : [['No more rows today', markdownText(dailyBudget.words)]];
  if (budget != null) return [['Budget', formatBudget(budget, running)], ...daily];
  if (costs === undefined || costs.sums.length === 0) return daily;
  return [...daily, ['Costs', costs.sums.map(formatMoney).join(' and ')]];
}

function formatUploads({ uploads: { files, bytes, shared } }: BatchProgress): string | null {
  return files + shared === 0 ? null : `${files} files (${formatBytes(bytes)}) sent, ${shared} shared`;
}

function formatFailures({ failures }: BatchProgress): string {
  const types = mostFrequent(failures);
  const shown = types.slice(0, maxTypes).map(([type, count]) => `${count} × ${markdownText(type)}`);
  return shown.length === 0 ? 'none' : shown.join(', ');
}
