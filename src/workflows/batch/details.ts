import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { batchFacts, lastFailures, rowsThatWait } from '../../contract/batch/batch-facts';
import { problemOfRows } from '../../contract/batch/batch-activities';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { rowsOfBatch, searchAttributes } from '../../contract/search-attributes';
import { expectedEnd, rowsPerMinute } from '../../core/batch/batch-pace';
import { statesThatWait } from '../../core/task-state';
import { markdownCode, markdownText } from '../../core/text';
import { spentSums } from '../../money/batch-budget';
import { batchState, type BatchRun, readBudget, startBlock } from './batch-state';

const maxWordsLength = 1_000;

const unsuccessful = 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")';

export function show(run: BatchRun, phase: BatchRun['phase']): void {
  run.phase = phase;
  refresh(run);
}

export function refresh(run: BatchRun): void {
  const value = batchState(run);
  if (value !== run.shown) upsertSearchAttributes([{ key: searchAttributes.status, value }]);
  run.shown = value;
  redraw(run);
}

/** Leaves out the search attribute: the state is the same, and an upsert would be an event. */
export function redraw(run: BatchRun): void {
  setCurrentDetails(batchDetails(viewBatch(run), Date.now()));
}

export function viewBatch(run: BatchRun): BatchProgress {
  const { plan, state, report } = run;
  const { failed, canceled, lastMovedMs, pausedAtMs, rowStates, cursor, mode, succeededBefore, onRecord } = state;
  const running = run.running.size;
  const current = batchState(run);
  // Rows that succeeded before count although the first pass has not reached them.
  const ahead = mode === 'new' && cursor !== null ? Math.max(0, succeededBefore - (onRecord?.success ?? 0)) : 0;
  const success = state.success + ahead;
  const waiting = Math.max(0, plan.rows.rows - success - failed - canceled - running);
  const movedMs = lastMovedMs ?? state.startedAtMs;
  const perMinute = rowsPerMinute(state.pace, state.startedAtMs + state.heldMs, running === 0 ? movedMs : Date.now());
  const toStart = current === 'Draining' || current === 'Stopping' ? 0 : waiting;
  const troubled = running > 0 ? rowStates?.problem : undefined;
  const held = troubled?.rows ?? 0;
  const open = { running, waiting: toStart, mayStart: startBlock(run) === null, held };
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
    pausedAt: current === 'Paused' && pausedAtMs !== undefined ? isoTime(pausedAtMs) : undefined,
    toRetry: state.isRetryAsked && !state.isDraining && !state.isStopAsked ? failed + canceled : undefined,
    rowStates,
    perMinute,
    expectedEnd: expectedEnd(open, perMinute, Date.now()),
    lastMovedAt: lastMovedMs === undefined ? null : isoTime(lastMovedMs),
    failures: state.failures,
    attempt: { number: state.attempt, of: plan.attempts },
    costs: { sums: spentSums(state.spending), unknown: state.spending.unknown },
    budget: readBudget(run),
    dailyBudget: state.dailyWait,
    uploads: state.uploads,
    lastFailures: state.lastFailures,
    problem: troubled === undefined ? null : problemOfRows(plan.id, troubled),
    report,
    onRecord,
  };
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Markdown; words of rows and of the service are escaped. @internal exported for tests */
export function batchDetails(progress: BatchProgress, nowMs: number): string {
  const { batchId, state, failed } = progress;
  const words = (text: string): string => markdownText(text, maxWordsLength);
  const facts = batchFacts({ progress, isOver: false }, { nowMs, words, code: markdownCode });
  const failures = lastFailures(progress, words);
  const isEnding = state === 'Stopping' || state === 'Reporting' || state === 'Ended';
  const rows = rowsOfBatch(batchId);
  const waiting = statesThatWait.map((one) => `"${one}"`).join(', ');
  const lists: readonly (readonly [string, string | false])[] = [
    [
      'Rows that wait',
      rowsThatWait(progress) > 0 &&
        `${rows} AND ${searchAttributes.status.name} IN (${waiting}) AND ExecutionStatus = "Running"`,
    ],
    ['Failed rows', failed > 0 && `${rows} AND ${unsuccessful}`],
    ['Rows by state', rows],
  ];
  return [
    `### ${state}`,
    '',
    ...facts.map(({ name, value }) => `- **${name}:** ${value}`),
    ...lists.flatMap(([name, query]) => (query === false ? [] : `- **${name}:** list with ${markdownCode(query)}`)),
    ...(isEnding ? [] : ['- **To stop it:** Request Cancellation, which stops its rows; after Terminate they run on']),
    ...(failures.length === 0 ? [] : ['', '**Last failures**', '', ...failures.map((line) => `- ${line}`)]),
  ].join('\n');
}
