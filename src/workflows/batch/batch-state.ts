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

/** What one run of a batch hands to the next: plain JSON, and as small for 100,000 rows as for 100. */
export interface BatchContinueAsNewState {
  readonly startedAtMs: number;
  opened: boolean;
  /** Null after the last row of a pass. */
  cursor: RowCursor | null;
  mode: StartMode;
  /** Rows whose tasks run, oldest first, as the run before had them. */
  readonly running: readonly RunningRow[];
  success: number;
  failed: number;
  canceled: number;
  /** Of these, and of other rows, what was on record before. Absent before the batch was opened. */
  onRecord?: RowsOnRecord;
  /** Rows on record as succeeded that are not run again. */
  succeededBefore: number;
  concurrency: number;
  isPaused: boolean;
  pausedAtMs?: number;
  isDraining: boolean;
  /** Another pass over the failed rows is asked for. */
  isRetryAsked: boolean;
  /** This run or a previous one was canceled: the rows are stopped. */
  isStopAsked: boolean;
  failures: Readonly<Record<string, number>>;
  uploads: RowUploads;
  lastFailures: BatchProgress['lastFailures'];
  pace: readonly PaceSample[];
  /** When a row last started or ended. Absent before the first. */
  lastMovedMs?: number;
  /** For how long no row ran, all together: while the batch was paused, or at its budget. */
  heldMs: number;
  /** From where on the ends of rows are awaited. */
  endsFrom: RowEndCursor;
  /** Which attempt of the rows runs, from 1. */
  attempt: number;
  /** Rows that failed since the pass began in a way that another attempt may fix. */
  retryable: number;
  /** Null: no limit. */
  budget: Money | null;
  /** What its tasks cost so far. */
  spending: BatchSpending;
  /** As they were when the batch was opened. Absent before. */
  prices?: BatchPrices;
  /** The daily budget of an account lets no more rows start. */
  dailyWait?: DailyWait;
  /** The running rows by status, when they were last polled. */
  rowStates?: RowStates;
}

/** Input of one run: the batch's input, and what a previous run handed over. */
export type BatchRunInput = BatchInput & { readonly continueAsNewState?: BatchContinueAsNewState };

/** A row whose task runs; when this run called for its start, and when that call had returned. */
export interface StartedRow {
  readonly row: RunningRow;
  readonly calledMs: number;
  readonly returnedMs: number;
}

/** One run of a batch: what it hands over, and what only this run knows. Plain data; its files are functions over it. */
export interface BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  phase: 'Opening' | 'Running' | 'Reporting' | 'Ended';
  /** The state that lists show. */
  shown: BatchState | null;
  problem: string | null;
  /** Null until the results are joined. */
  report: ReportBatchResult | null;
  /** Whether Temporal canceled this very run, so that it can end as canceled. */
  isCanceled: boolean;
  /** A step that a stop breaks off. */
  breakable?: CancellationScope;
  /** Rows whose tasks run, by key, oldest first. */
  readonly running: Map<string, StartedRow>;
  /** The call that starts rows, and ends of rows that are told meanwhile; null while there is none. */
  starting: { readonly calledMs: number; readonly ends: Map<string, RowEnd> } | null;
  /** Keys of rows that were asked to stop. */
  readonly askedToStop: Set<string>;
  /** Ended, and not recorded yet. */
  ended: RowRecord[];
  /** The rows were scanned from here on: the next one is to be started, and beyond the budget. */
  scannedFrom: RowCursor | null;
}

const firstRow: RowCursor = { page: 0, skip: 0 };

/** Reads the input of one run; a malformed one fails the workflow with every problem listed. */
export function openRun(argument: unknown): BatchRun {
  const start = readStartArgument(argument);
  const { plan, problems: inputProblems = [] } = parseBatchInput(start.input);
  const problems = [...start.problems, ...inputProblems];
  // Its record is kept by the workflow of its id alone.
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
    problem: null,
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

/** What the budget comes to; null without one, and before the batch is opened. */
export function readBudget({ state: { budget, prices, spending }, running }: BatchRun): BudgetView | null {
  return budget === null || prices === undefined ? null : viewBudget(budget, prices, spending, running.size);
}

/** What keeps the batch from starting more rows; null: nothing does. */
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

/** How many rows may start; 0: none, but they are scanned, for what is on record costs nothing. Null: nothing to do. */
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

/** Whether nothing runs and no more rows of this pass will be started. */
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

/**
 * Begins the pass that follows over rows that failed: one that the update `retryFailed` asked for, or another attempt, which
 * follows by itself. Returns false when none follows.
 */
export function beginNextPass({ state, plan: { attempts } }: BatchRun): boolean {
  if (state.cursor !== null || state.isDraining || state.isStopAsked) return false;
  if (state.isRetryAsked) {
    Object.assign(state, { mode: 'failed', isRetryAsked: false, failed: 0, canceled: 0 });
    // They are run again after all.
    if (state.onRecord !== undefined) state.onRecord = { ...state.onRecord, failed: 0, canceled: 0 };
  } else if (state.retryable > 0 && state.attempt < attempts) {
    Object.assign(state, { mode: 'retryable', attempt: state.attempt + 1 });
  } else return false;
  Object.assign(state, { cursor: firstRow, retryable: 0 });
  return true;
}
