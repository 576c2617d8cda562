import { type CancellationScope, workflowInfo } from '@temporalio/workflow';
import { batchPlaceProblems } from '../../contract/archive-folder';
import type { ReportBatchResult, RowCursor, RowEndCursor, StartMode } from '../../contract/batch/batch-activities';
import type { BatchInput } from '../../contract/batch/batch-input';
import type {
  BatchProgress,
  BatchState,
  DailyWait,
  RowsOnRecord,
  RowStates,
} from '../../contract/batch/batch-messages';
import {
  noUploads,
  type RowEnd,
  type RowRecord,
  type RowUploads,
  type RunningRow,
} from '../../contract/batch/batch-rows';
import { type BatchPlan, parseBatchInput } from '../../contract/batch/parse-batch-input';
import type { PaceSample } from '../../core/batch/batch-pace';
import {
  type BatchPrices,
  type BatchSpending,
  type BudgetView,
  noSpending,
  viewBudget,
} from '../../money/batch-budget';
import type { Money } from '../../money/money';
import { taskFailure } from '../failures';
import { readStartArgument } from '../run-info';

/** What one run hands to the next. Plain JSON, of a size that does not grow with the rows. */
export interface BatchContinueAsNewState {
  readonly startedAtMs: number;
  opened: boolean;
  /** Null after the last row of a pass. */
  cursor: RowCursor | null;
  mode: StartMode;
  readonly running: readonly RunningRow[];
  success: number;
  failed: number;
  canceled: number;
  /** Counts of rows that were on record before. Absent before the batch was opened. */
  onRecord?: RowsOnRecord;
  /** Rows on record as succeeded that are not run again. */
  succeededBefore: number;
  concurrency: number;
  isPaused: boolean;
  pausedAtMs?: number;
  isDraining: boolean;
  isRetryAsked: boolean;
  /** This run or a previous one was canceled: the rows are stopped. */
  isStopAsked: boolean;
  failures: Readonly<Record<string, number>>;
  uploads: RowUploads;
  lastFailures: BatchProgress['lastFailures'];
  pace: readonly PaceSample[];
  /** When a row last started or ended. Absent before the first. */
  lastMovedMs?: number;
  /** Total time without running rows, while paused or at the budget. */
  heldMs: number;
  endsFrom: RowEndCursor;
  /** From 1. */
  attempt: number;
  /** Failed rows of this pass that another attempt may fix. */
  retryable: number;
  /** Null: no limit. */
  budget: Money | null;
  spending: BatchSpending;
  /** As of opening. Absent before. */
  prices?: BatchPrices;
  dailyWait?: DailyWait;
  rowStates?: RowStates;
}

/** The batch's input, and what a previous run handed over. */
export type BatchRunInput = BatchInput & { readonly continueAsNewState?: BatchContinueAsNewState };

/** A running row; when this run called for its start, and when that call returned. */
export interface StartedRow {
  readonly row: RunningRow;
  readonly calledMs: number;
  readonly returnedMs: number;
}

export interface BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  phase: 'Opening' | 'Running' | 'Reporting' | 'Ended';
  shown: BatchState | null;
  /** Null until the results are joined. */
  report: ReportBatchResult | null;
  isCanceled: boolean;
  breakable?: CancellationScope;
  readonly running: Map<string, StartedRow>;
  /** The call that starts rows, and ends that arrive meanwhile; null while there is none. */
  starting: { readonly calledMs: number; readonly ends: Map<string, RowEnd> } | null;
  readonly askedToStop: Set<string>;
  ended: RowRecord[];
  /** Scanned up to the next row to start, which is beyond the budget. */
  scannedFrom: RowCursor | null;
}

const firstRow: RowCursor = { page: 0, skip: 0 };

/** A malformed input fails the workflow with every problem listed. */
export function openRun(argument: unknown): BatchRun {
  const start = readStartArgument(argument);
  const { plan, problems: inputProblems = [] } = parseBatchInput(start.input);
  const problems = [...start.problems, ...inputProblems];
  // Only the workflow of its id keeps the batch's record.
  if (plan !== undefined) problems.push(...batchPlaceProblems(plan, workflowInfo().workflowId));
  if (plan === undefined || problems.length > 0) {
    throw taskFailure('InputInvalid', problems.join('\n'), { problems });
  }
  const state: BatchContinueAsNewState = { ...newState(plan), ...start.continueAsNewState };
  return {
    input: start.input as BatchInput,
    plan,
    state,
    phase: 'Opening',
    shown: null,
    report: null,
    isCanceled: false,
    running: new Map(state.running.map((row) => [row.key, { row, calledMs: 0, returnedMs: 0 }])),
    starting: null,
    askedToStop: new Set(),
    ended: [],
    scannedFrom: null,
  };
}

function newState({ concurrency, budget }: BatchPlan): BatchContinueAsNewState {
  const startedAtMs = Date.now();
  return {
    startedAtMs,
    opened: false,
    cursor: firstRow,
    mode: 'new',
    running: [],
    success: 0,
    failed: 0,
    canceled: 0,
    succeededBefore: 0,
    concurrency,
    isPaused: false,
    isDraining: false,
    isRetryAsked: false,
    isStopAsked: false,
    failures: {},
    uploads: noUploads,
    lastFailures: [],
    pace: [],
    heldMs: 0,
    endsFrom: { closedAfter: new Date(startedAtMs).toISOString(), seenRuns: [] },
    attempt: 1,
    retryable: 0,
    budget,
    spending: noSpending,
  };
}

export function handOver({ state, running }: BatchRun): BatchContinueAsNewState {
  return { ...state, running: [...running.values()].map(({ row }) => row) };
}

/** Null without a budget, and before the batch is opened. */
export function readBudget({ state: { budget, prices, spending }, running }: BatchRun): BudgetView | null {
  return budget === null || prices === undefined ? null : viewBudget(budget, prices, spending, running.size);
}

/** Null: nothing keeps the batch from starting rows. */
export function startBlock(
  run: BatchRun,
): Extract<BatchState, 'Stopping' | 'Draining' | 'Paused' | 'DailyBudgetReached' | 'BudgetReached'> | null {
  const { isStopAsked, isDraining, isPaused, dailyWait } = run.state;
  if (isStopAsked) return 'Stopping';
  if (isDraining) return 'Draining';
  if (isPaused) return 'Paused';
  if (dailyWait !== undefined) return 'DailyBudgetReached';
  return readBudget(run)?.places === 0 ? 'BudgetReached' : null;
}

/** 0: rows are only scanned, as those on record cost nothing. Null: nothing to do. */
export function startLimit(run: BatchRun): number | null {
  const block = startBlock(run);
  if (run.state.cursor === null || (block !== null && block !== 'BudgetReached')) return null;
  const free = Math.max(0, run.state.concurrency - run.running.size);
  const limit = Math.min(free, readBudget(run)?.places ?? free);
  if (limit > 0) return limit;
  return run.running.size === 0 && !isScanned(run) ? 0 : null;
}

function isScanned({ scannedFrom, state: { cursor } }: BatchRun): boolean {
  return cursor !== null && cursor.page === scannedFrom?.page && cursor.skip === scannedFrom.skip;
}

export function isOver({ running, state: { cursor, isDraining, isStopAsked } }: BatchRun): boolean {
  return running.size === 0 && (cursor === null || isDraining || isStopAsked);
}

export function batchState(run: BatchRun): BatchState {
  const { phase, running } = run;
  if (phase === 'Reporting' || phase === 'Ended') return phase;
  const block = startBlock(run);
  if (block === 'Stopping') return block;
  if (phase === 'Opening') return phase;
  if (block === 'Draining' || block === 'Paused') return block;
  const isWaiting = running.size === 0 && (block === 'DailyBudgetReached' || isScanned(run));
  return block !== null && isWaiting ? block : 'Running';
}

/** Begins another pass over failed rows: for `retryFailed`, or as the next attempt. False when none follows. */
export function beginNextPass({ state, plan: { attempts } }: BatchRun): boolean {
  if (state.cursor !== null || state.isDraining || state.isStopAsked) return false;
  if (state.isRetryAsked) {
    Object.assign(state, { mode: 'failed', isRetryAsked: false, failed: 0, canceled: 0 });
    if (state.onRecord !== undefined) state.onRecord = { ...state.onRecord, failed: 0, canceled: 0 };
  } else if (state.retryable > 0 && state.attempt < attempts) {
    Object.assign(state, { mode: 'retryable', attempt: state.attempt + 1 });
  } else return false;
  Object.assign(state, { cursor: firstRow, retryable: 0 });
  return true;
}
