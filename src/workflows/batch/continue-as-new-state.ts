import type { RowCursor, StartMode } from '../../contract/batch-activities';
import type { BatchProgress } from '../../contract/batch-messages';
import { noUploads, type RowUploads, type RunningRow } from '../../contract/batch-rows';
import type { BatchPlan } from '../../contract/batch-input';
import type { PaceSample } from '../../domain/batch-pace';

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
  concurrency: number;
  isPaused: boolean;
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
  /** The running rows by status, when they were last polled. Absent before. */
  rowStates?: NonNullable<BatchProgress['rowStates']>;
  /** Keys of rows that were reported as over and not polled yet. Absent: none. */
  reported?: readonly string[];
}

export const firstRow: RowCursor = { page: 0, skip: 0 };

/** Before the first step. */
export function newState(plan: BatchPlan): BatchContinueAsNewState {
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
  };
}
