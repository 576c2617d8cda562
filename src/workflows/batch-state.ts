import type { RowCursor, StartMode } from '../contract/batch-activities';
import type { BatchProgress } from '../contract/batch-progress';
import { noUploads, type RowUploads, type RunningRow } from '../contract/batch-rows';
import type { BatchPlan } from '../contract/parse-batch-input';
import type { PaceSample } from '../domain/batch-pace';
import { isRecord } from '../domain/is-record';

/** What one run of a batch hands to the next: plain JSON, and as small for 100,000 rows as for 100. */
export interface CarriedBatch {
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
  /** A former run was canceled: this one stops the rows, and has itself canceled before it ends. Absent: it was not. */
  isStopAsked?: boolean;
  failures: Readonly<Record<string, number>>;
  uploads: RowUploads;
  lastFailures: BatchProgress['lastFailures'];
  pace: readonly PaceSample[];
  /** When a row last started or ended. Absent before the first. */
  lastMovedMs?: number;
  /** Keys of rows that are said to be over, and were not looked at yet. Absent: none. */
  reported?: readonly string[];
}

export const firstRow: RowCursor = { page: 0, skip: 0 };

/** Before the first step. */
export function newState(plan: BatchPlan): CarriedBatch {
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

/** Whether this was handed over by a run of a batch; one of an older version lacks what came later. */
export function isCarriedBatch(value: unknown): value is Partial<CarriedBatch> {
  if (!isRecord(value)) return false;
  const { startedAtMs, cursor = null, running, reported = [], lastFailures = [], pace = [], failures = {} } = value;
  const { uploads = noUploads, success, failed, canceled, concurrency, lastMovedMs = 0 } = value;
  const numbers = [success, failed, canceled, concurrency];
  return (
    isTime(startedAtMs) &&
    isTime(lastMovedMs) &&
    (cursor === null || areNumbers(cursor, ['page', 'skip'])) &&
    isListOf(running, (row) => isRecord(row) && typeof row['key'] === 'string') &&
    isListOf(reported, (key) => typeof key === 'string') &&
    isListOf(lastFailures, (last) => isRecord(last) && typeof last['message'] === 'string') &&
    isListOf(pace, (sample) => areNumbers(sample, ['atMs', 'ended'])) &&
    isRecord(failures) &&
    areNumbers(uploads, ['files', 'bytes', 'shared']) &&
    numbers.every(Number.isFinite)
  );
}

/** What a `Date` can hold. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(new Date(value).getTime());
}

function isListOf(value: unknown, is: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function areNumbers(value: unknown, names: readonly string[]): boolean {
  return isRecord(value) && names.every((name) => Number.isFinite(value[name]));
}
