import type { BudgetView } from '../../money/batch-budget';
import type { Money } from '../../money/money';
import { defineQuery, defineUpdate } from '../message-definitions';
import type { Problem } from '../problem';
import type { PlacedKey, ReportBatchResult, RowProblem } from './batch-activities';
import type { RowUploads } from './batch-rows';
import type { DecisionTaken } from '../task-messages';

export const progressQuery = defineQuery<BatchProgress>('progress');

/** Starts no more rows until `resume`; those that run go on. */
export const pauseUpdate = defineUpdate<DecisionTaken>('pause');

export const resumeUpdate = defineUpdate<DecisionTaken>('resume');

/** What `setConcurrency` takes. */
export interface ConcurrencyRequest {
  /** @asType integer @minimum 1 @maximum 500 */
  readonly rows: number;
}

export const setConcurrencyUpdate = defineUpdate<DecisionTaken, [ConcurrencyRequest]>('setConcurrency');

/** What `setBudget` takes. */
export interface BudgetRequest {
  /** Such as `30EUR`; null: no limit. */
  readonly budget: string | null;
}

export const setBudgetUpdate = defineUpdate<DecisionTaken, [BudgetRequest]>('setBudget');

/** Starts the rows again that did not succeed, once every row had its turn. May be paid anew. */
export const retryFailedUpdate = defineUpdate<DecisionTaken>('retryFailed');

/** Starts no more rows, and ends when those that run have ended. */
export const drainUpdate = defineUpdate<DecisionTaken>('drain');

/**
 * `BudgetReached`: nothing runs, and the next row is expected to cost more than is left; `DailyBudgetReached`: the same
 * of its account's daily budget.
 */
export type BatchState =
  | 'Opening'
  | 'Running'
  | 'Paused'
  | 'BudgetReached'
  | 'DailyBudgetReached'
  | 'Draining'
  | 'Stopping'
  | 'Reporting'
  | 'Ended';

/** Rows wait for the daily budget of their account. */
export interface DailyWait {
  readonly account: string;
  /** For people. */
  readonly words: string;
  readonly untilMs: number;
}

/** The running rows when they were last polled. */
export interface RowStates {
  /** ISO-8601. */
  readonly asOf: string;
  readonly counts: Readonly<Record<string, number>>;
  /** Absent: each of them could go on. */
  readonly problem?: RowProblem | undefined;
}

/** Answer of the `progress` query. */
export interface BatchProgress {
  readonly batchId: string;
  readonly state: BatchState;
  readonly source: string | null;
  /** ISO-8601: when the workflow was first started. */
  readonly startedAt: string;
  readonly rows: number;
  readonly badRows: number;
  /** Ended, those on record before included. */
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  readonly running: number;
  /** Not started yet. */
  readonly waiting: number;
  readonly concurrency: number;
  /** ISO-8601: since when it is paused. Absent: it is not. */
  readonly pausedAt?: string;
  /** Rows without success that start again once every row had its turn, as `retryFailed` asked. Absent: it did not. */
  readonly toRetry?: number;
  /** Running rows by `LonghaulStatus`, and which could not go on, when last polled. Absent before the first poll. */
  readonly rowStates?: RowStates;
  /** Rows that ended in a minute, of late; null before there is anything to go by. */
  readonly perMinute: number | null;
  /** ISO-8601; null before there is anything to go by, and while the batch is paused. */
  readonly expectedEnd: string | null;
  /** ISO-8601: when a row last started or ended; null before the first. */
  readonly lastMovedAt?: string | null;
  /** How many rows ended with each type of failure in this run of the batch. */
  readonly failures: Readonly<Record<string, number>>;
  /** Which attempt of the rows runs, of how many. */
  readonly attempt?: { readonly number: number; readonly of: number };
  /** What the batch's tasks cost so far, as far as it is known. */
  readonly costs?: { readonly sums: readonly Money[]; readonly unknown: number };
  /** Null without a budget. */
  readonly budget?: BudgetView | null;
  /** Why its account's daily budget lets no row start, and until when that is not asked again. Absent: it does. */
  readonly dailyBudget?: DailyWait;
  /** By the rows that ended in this run of the batch. */
  readonly uploads: RowUploads;
  /** The last rows that failed, newest first. */
  readonly lastFailures: readonly (PlacedKey & { readonly message: string })[];
  /** Of its rows, when last polled. */
  readonly problem: Problem | null;
  /** Once the results are joined: a batch that was stopped ends without a result of its own. */
  readonly report: ReportBatchResult | null;
  /** Absent until the rows were compared with the record. */
  readonly onRecord?: RowsOnRecord;
}

/** What of a batch was on record when it began. */
export interface RowsOnRecord {
  /** Its rows that had ended before, and were not run again. */
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  /** Rows on record that are not among its rows any more. */
  readonly gone: number;
}

/** Result of the `batch` workflow. */
export interface BatchResult extends ReportBatchResult {
  readonly batchId: string;
  readonly rows: number;
  readonly badRows: number;
  /** `drained`: it ended before its last row because it was asked to. */
  readonly ending: 'completed' | 'drained' | 'stopped';
  readonly onRecord?: RowsOnRecord;
}
