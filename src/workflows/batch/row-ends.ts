import type { StartRowsResult } from '../../contract/batch/batch-activities';
import {
  addUploads,
  isRetryable,
  maxFailureTypes,
  noUploads,
  type RowEnd,
  type RunningRow,
} from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { addEnd, skipTime } from '../../core/batch/batch-pace';
import { pickKeys, pickPlace } from '../../core/batch/row-place';
import { addCost } from '../../money/batch-budget';
import type { BatchRun } from './batch-state';

const shownFailures = 5;
/** A longer time without running rows is a hold. */
const holdMs = 30_000;
const maxEarlyEnds = 1_000;
/** Ends of rows that may have a task although no request id is known. */
const mayHaveTask: readonly string[] = [failureTypes.CreateUncertain, 'Terminated'];

export function takeStarted(run: BatchRun, started: StartRowsResult): void {
  const { state } = run;
  const { running, ended, left, onRecord, next, dailyBudget } = started;
  const nowMs = Date.now();
  const { calledMs, ends } = run.starting ?? { calledMs: nowMs, ends: new Map<string, RowEnd>() };
  if (running.length > 0) endHold(run, nowMs);
  for (const row of running) run.running.set(row.key, { row, calledMs, returnedMs: nowMs });
  for (const record of ended) count(run, record, record);
  for (const record of ended.slice(left)) addCosts(run, record);
  run.starting = null;
  for (const end of ends.values()) {
    // An older end is that of the row's previous task.
    if (Date.parse(end.endedAt) >= calledMs) takeEnd(run, end, calledMs);
  }
  // They were counted when they failed, and will be when they end.
  if (state.mode === 'retryable') state.failed = Math.max(0, state.failed - running.length - ended.length);
  if (running.length > 0) state.lastMovedMs = nowMs;
  // In a pass over failed rows, those on record were counted when they failed.
  if (state.mode === 'new') {
    for (const status of ['success', 'failed', 'canceled'] as const) {
      state[status] += onRecord[status];
      if (state.onRecord !== undefined) {
        state.onRecord = { ...state.onRecord, [status]: state.onRecord[status] + onRecord[status] };
      }
    }
  }
  state.cursor = next;
  if (dailyBudget === undefined) return;
  const { account, words, waitMs } = dailyBudget;
  state.dailyWait = { account, words, untilMs: nowMs + waitMs };
}

/** A pause, or a wait for a budget, is no part of the pace. */
function endHold({ state, running }: BatchRun, nowMs: number): void {
  const ms = nowMs - (state.lastMovedMs ?? state.startedAtMs);
  if (running.size > 0 || ms < holdMs) return;
  state.pace = skipTime(state.pace, ms);
  state.heldMs += ms;
}

/** Ignores a row that neither runs nor is being started: it was counted before. */
export function takeEnd(run: BatchRun, end: RowEnd, askedMs: number): void {
  const started = run.running.get(end.key);
  if (started === undefined) {
    if (run.starting !== null && run.starting.ends.size < maxEarlyEnds) run.starting.ends.set(end.key, end);
    return;
  }
  // Asked before the restart, an end may be the previous task's. A later answer counts, whatever its clock says.
  const { row, calledMs, returnedMs } = started;
  if (askedMs < returnedMs && Date.parse(end.endedAt) < calledMs) return;
  run.running.delete(end.key);
  count(run, end, row);
  addCosts(run, end);
  run.state.dailyWait = undefined;
}

function addCosts({ state }: BatchRun, { cost, requestId, failure }: RowEnd): void {
  const isPaid = requestId !== null || mayHaveTask.includes(failure?.type ?? '');
  if (cost !== undefined || isPaid) state.spending = addCost(state.spending, cost);
}

function count(run: BatchRun, end: RowEnd, row: RunningRow): void {
  const { state } = run;
  run.ended.push({ ...end, ...row });
  state.lastMovedMs = Date.now();
  // An end from before the batch began does not count for its pace and failures.
  const isOfThisRun = Date.parse(end.endedAt) >= state.startedAtMs;
  if (isOfThisRun) state.pace = addEnd(state.pace, Date.now());
  state.uploads = addUploads(state.uploads, end.uploads ?? noUploads);
  if (end.status === 'Success') state.success += 1;
  else if (end.status === 'Canceled') state.canceled += 1;
  else {
    state.failed += 1;
    if (isOfThisRun && isRetryable(end)) state.retryable += 1;
    const { type, message } = end.failure ?? { type: 'Failed', message: 'no failure message' };
    const counted = new Map(Object.entries(state.failures));
    const name = counted.has(type) || counted.size < maxFailureTypes ? type : 'Other';
    state.failures = Object.fromEntries(counted.set(name, (counted.get(name) ?? 0) + 1));
    const failure = { ...pickKeys(row), ...pickPlace(row), message };
    state.lastFailures = [failure, ...state.lastFailures].slice(0, shownFailures);
  }
}
