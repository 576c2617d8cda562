import { workflowInfo } from '@temporalio/workflow';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { RowCursor, RowEndCursor, StartMode } from '../../contract/batch/batch-activities';
import type { BatchProgress, DailyWait, RowsOnRecord, RowStates } from '../../contract/batch/batch-messages';
import { noUploads, type RowUploads, type RunningRow } from '../../contract/batch/batch-rows';
import { type BatchPlan, parseBatchInput } from '../../contract/batch/parse-batch-input';
import { batchPlaceProblems } from '../../contract/archive-folder';
import {
  type BatchPrices,
  type BatchSpending,
  type BudgetView,
  noSpending,
  viewBudget,
} from '../../money/batch-budget';
import type { PaceSample } from '../../core/batch/batch-pace';
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
  /** The window: rows whose tasks run, oldest first. */
  running: readonly RunningRow[];
  success: number;
  failed: number;
  canceled: number;
  /** Of these, and of other rows, what was on record before. Absent before the batch was opened. */
  onRecord?: RowsOnRecord;
  /** Rows on record as succeeded that are not run again. Absent before the batch was opened. */
  succeededBefore?: number | undefined;
  concurrency: number;
  isPaused: boolean;
  /** Since when. Absent: it is not. */
  pausedAtMs?: number | undefined;
  isDraining: boolean;
  /** Another pass over the failed rows is asked for. */
  isRetryAsked: boolean;
  /** A previous run was canceled: this one stops the rows, and has itself canceled before it ends. Absent: it was not. */
  isStopAsked?: boolean;
  failures: Readonly<Record<string, number>>;
  uploads: RowUploads;
  lastFailures: BatchProgress['lastFailures'];
  pace: readonly PaceSample[];
  /** When a row last started or ended. Absent before the first. */
  lastMovedMs?: number;
  /** For how long no row ran, all together: while the batch was paused, or at its budget. Absent: it was not. */
  heldMs?: number;
  /** From where on the ends of rows are awaited. Absent: from the start of the batch. */
  endsFrom?: RowEndCursor;
  /** Which attempt of the rows runs. Absent: the first. */
  attempt?: number;
  /** Rows that failed since the pass began in a way that another attempt may fix. Absent: none. */
  retryable?: number;
  /** Null: no limit. Absent: that of the input. */
  budget?: Money | null;
  /** What its tasks cost so far. Absent: nothing. */
  spending?: BatchSpending;
  /** As they were when the batch was opened. Absent before. */
  prices?: BatchPrices;
  /** The daily budget of an account lets no more rows start. Absent: it does. */
  dailyWait?: DailyWait | undefined;
  /** The running rows by status, when they were last polled. Absent before. */
  rowStates?: RowStates;
}

const firstRow: RowCursor = { page: 0, skip: 0 };

function newState(plan: BatchPlan): BatchContinueAsNewState {
  return {
    startedAtMs: Date.now(),
    opened: false,
    cursor: firstRow,
    mode: 'new',
    running: [],
    success: 0,
    failed: 0,
    canceled: 0,
    concurrency: plan.concurrency,
    isPaused: false,
    isDraining: false,
    isRetryAsked: false,
    failures: {},
    uploads: noUploads,
    lastFailures: [],
    pace: [],
    budget: plan.budget,
  };
}

/** Input of one run: the batch's input, and what a previous run handed over. */
export type BatchRunInput = BatchInput & { readonly continueAsNewState?: BatchContinueAsNewState };

interface BatchStart {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
}

/** Reads the input of one run; a malformed one fails the workflow with every problem listed. */
export function readBatchStart(argument: unknown): BatchStart {
  const start = readStartArgument(argument);
  const { input, continueAsNewState } = start;
  const { plan, problems: inputProblems = [] } = parseBatchInput(input);
  const problems = [...start.problems, ...inputProblems];
  // Its record is kept by the workflow of its id alone.
  if (plan !== undefined) problems.push(...batchPlaceProblems(plan, workflowInfo().workflowId));
  if (plan === undefined || problems.length > 0) {
    throw taskFailure('InputInvalid', problems.join('\n'), { problems });
  }
  return { input: input as BatchInput, plan, state: { ...newState(plan), ...continueAsNewState } };
}

/** What the budget comes to; null without one, and before the batch is opened. */
export function readBudget(
  { budget, prices, spending = noSpending }: BatchContinueAsNewState,
  running: number,
): BudgetView | null {
  return budget == null || prices === undefined ? null : viewBudget(budget, prices, spending, running);
}

type Pass = Exclude<StartMode, 'new'>;

/**
 * Which pass follows over rows that failed: one that the update `retryFailed` asked for, or another attempt, which follows
 * by itself. Null: none.
 *
 * @param attempts - how often a row is run at most.
 */
export function nextPass(state: BatchContinueAsNewState, attempts: number): Pass | null {
  const { isRetryAsked, isDraining, cursor, attempt = 1, retryable = 0 } = state;
  if (cursor !== null || isDraining) return null;
  if (isRetryAsked) return 'failed';
  return retryable > 0 && attempt < attempts ? 'retryable' : null;
}

export function beginPass(state: BatchContinueAsNewState, mode: Pass): void {
  Object.assign(state, { mode, cursor: firstRow, retryable: 0 });
  if (mode === 'retryable') {
    state.attempt = (state.attempt ?? 1) + 1;
    return;
  }
  Object.assign(state, { isRetryAsked: false, failed: 0, canceled: 0 });
  // They are run again after all.
  if (state.onRecord !== undefined) state.onRecord = { ...state.onRecord, failed: 0, canceled: 0 };
}
