import { isCount, isRecord } from '../core/json';
import { isMoney, type Money } from '../money/money';
import type { TerminalStatus } from '../core/task-state';
import type { ServiceTimestamp } from '../core/time';
import type { RowUploads } from '../archive/row-end';

/** One archived output. */
export interface ArchivedOutput {
  /** Its place among the outputs of the manifest, from 0; absent in results of earlier versions. */
  readonly index?: number;
  /** Where it is: an absolute path or an `s3:` URI. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** With its leading dot. */
  readonly ext: string;
  /** As the service gave it; `auditSource` in the manifest says which of its two tables applies (section 2.4). */
  readonly auditStatus: number | null;
  readonly errorType: string;
}

/** An output that the service reports as failed; there is nothing to archive. */
export interface FailedOutput {
  /** Its place among the outputs of the manifest, from 0. */
  readonly index: number;
  /** The service's own code, shortened. */
  readonly errorType: string;
  /** The service's words, shortened; null when it gave none. */
  readonly message: string | null;
}

/** A moment as ISO-8601 in UTC, with the service's text beside it; `iso` is null where the text is no timestamp. */
export type Timestamp = ServiceTimestamp;

/** The service's timestamps of a task (specification, section 2.3), by their camelCase names. */
export type Timestamps = Readonly<Record<string, Timestamp>>;

/** The service's cost times in milliseconds, by their own names (specification, section 2.5). */
export type CostTimes = Readonly<Record<string, number>>;

/** What a task did on the way to its end. In the result, or in the details of the failure. Absent from older tasks. */
export interface TaskFacts {
  /** ISO-8601: when its workflow was started, perhaps before a worker took it up. Of a task of an earlier version, when one did. */
  readonly startedAt?: string;
  /** Number of its create: 2 after a `recreate`. */
  readonly createNumber?: number;
  /** Its input files. */
  readonly uploads?: RowUploads;
}

/** Result of the `task` workflow, and what `--json` prints. */
export interface TaskResult extends TaskFacts {
  readonly workflowId: string;
  /** Null when the task was stopped before it was created. */
  readonly requestId: string | null;
  readonly status: TerminalStatus;
  /** In the service's order; of very many, as many as fit into 256 KiB. The manifest has all. */
  readonly outputs: readonly ArchivedOutput[];
  /** All archived outputs, and their bytes. */
  readonly outputCount: number;
  readonly outputBytes: number;
  /** The first {@link maxFailedOutputs} outputs that the service reports as failed; the manifest has all. */
  readonly failedOutputs: readonly FailedOutput[];
  readonly failedOutputCount: number;
  /** Where the manifest is; null when nothing was archived. */
  readonly manifest: string | null;
  readonly costTimes: CostTimes;
  /** What the task cost by the worker's price list; null when that is not known. */
  readonly cost: Money | null;
  readonly timestamps: Timestamps;
}

/** The most bytes of JSON that the outputs in a result take: Temporal refuses payloads of 2 MB. */
export const maxResultBytes = 256 * 1024;
export const maxFailedOutputs = 20;

/** What the memo keeps of the result of a task that a stop ended. */
export interface CanceledMemo extends Record<string, unknown> {
  readonly canceledResult: Pick<TaskResult, 'manifest' | 'costTimes' | 'cost' | 'timestamps' | keyof TaskFacts>;
}

export function canceledMemo(result: TaskResult): CanceledMemo {
  const { manifest, costTimes, cost, timestamps } = result;
  return { canceledResult: { manifest, costTimes, cost, timestamps, ...readTaskFacts(result) } };
}

/** Reads what a task said of itself; a field that is not there or is something else counts as nothing. */
export function readTaskFacts(value: unknown): TaskFacts {
  const { startedAt, createNumber, uploads } = recordOf(value);
  const { files, bytes, shared } = recordOf(uploads);
  return {
    ...(typeof startedAt === 'string' && isMoment(startedAt) && { startedAt }),
    ...(isCount(createNumber) && { createNumber }),
    ...(isCount(files) && isCount(bytes) && isCount(shared) && { uploads: { files, bytes, shared } }),
  };
}

/** As `toISOString` writes it, of a year of four digits: no other stands in a batch's record. */
function isMoment(text: string): boolean {
  const at = new Date(text);
  return /^\d{4}-/.test(text) && !Number.isNaN(at.getTime()) && at.toISOString() === text;
}

/** Reads what {@link canceledMemo} wrote; what is not there or is something else counts as nothing. */
export function readCanceledMemo(memo: Readonly<Record<string, unknown>> | undefined): CanceledMemo['canceledResult'] {
  const result = recordOf(memo?.['canceledResult']);
  const { manifest, costTimes, cost, timestamps } = result;
  return {
    manifest: typeof manifest === 'string' ? manifest : null,
    costTimes: entriesOf(costTimes, (value) => typeof value === 'number'),
    cost: isMoney(cost) ? cost : null,
    timestamps: entriesOf(timestamps, isTimestamp),
    ...readTaskFacts(result),
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function entriesOf<Value>(value: unknown, isValue: (one: unknown) => one is Value): Readonly<Record<string, Value>> {
  return Object.fromEntries(
    Object.entries(recordOf(value)).filter((entry): entry is [string, Value] => isValue(entry[1])),
  );
}

function isTimestamp(value: unknown): value is Timestamp {
  const { iso, raw } = recordOf(value);
  return (typeof iso === 'string' || iso === null) && typeof raw === 'string';
}
