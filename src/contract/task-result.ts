import * as v from 'valibot';
import type { RowUploads } from '../archive/row-end';
import { isRecord } from '../core/json';
import type { TerminalStatus } from '../core/task-state';
import type { ServiceTimestamp } from '../core/time';
import { isMoney, type Money } from '../money/money';
import { dictionary, listOf, moment, wholeNumber } from './schema';

const text = v.string();
const count = wholeNumber(0);
/** As `toISOString` writes it, of a year of four digits: no other stands in a batch's record. */
const exactMoment = v.pipe(
  moment,
  v.check((value: string) => /^\d{4}-/.test(value) && new Date(value).toISOString() === value),
);

const archivedOutput = v.object({
  /** Its place among the outputs of the manifest, from 0. */
  index: v.optional(count),
  /** Where it is: an absolute path or an `s3:` URI. */
  path: text,
  sha256: text,
  bytes: count,
  /** With its leading dot. */
  ext: text,
  /** As the service gave it; `auditSource` in the manifest says which of its two tables applies (section 2.4). */
  auditStatus: v.nullable(v.number()),
  errorType: text,
});
/** One archived output. */
export type ArchivedOutput = v.InferOutput<typeof archivedOutput>;

const failedOutput = v.object({
  /** Its place among the outputs of the manifest, from 0. */
  index: count,
  /** The service's own code, shortened. */
  errorType: text,
  /** The service's words, shortened; null when it gave none. */
  message: v.nullable(text),
});
/** An output that the service reports as failed; there is nothing to archive. */
export type FailedOutput = v.InferOutput<typeof failedOutput>;

/** A moment as ISO-8601 in UTC, with the service's text beside it; `iso` is null where the text is no timestamp. */
export type Timestamp = ServiceTimestamp;
/** The service's timestamps of a task (specification, section 2.3), by their camelCase names. */
export type Timestamps = Readonly<Record<string, Timestamp>>;
const timestamps: v.GenericSchema<Timestamps> = dictionary(v.object({ iso: v.nullable(moment), raw: text }));

/** The service's cost times in milliseconds, by their own names (specification, section 2.5). */
export type CostTimes = Readonly<Record<string, number>>;
const costTimes: v.GenericSchema<CostTimes> = dictionary(v.number());

const cost = v.nullable(v.custom<Money>(isMoney));

const uploads: v.GenericSchema<RowUploads> = v.object({ files: count, bytes: count, shared: count });
const status: v.GenericSchema<TerminalStatus> = v.picklist(['Success', 'Failed', 'Canceled']);

const factEntries = {
  /** ISO-8601: when its workflow was started, perhaps before a worker took it up. */
  startedAt: v.optional(exactMoment),
  /** Number of its create: 2 after a `recreate`. */
  createNumber: v.optional(count),
  /** Its input files. */
  uploads: v.optional(uploads),
};
/** What a task did on the way to its end: in the result, or in a failure's details. */
export type TaskFacts = v.InferOutput<v.ObjectSchema<typeof factEntries, undefined>>;

export const taskResultSchema = v.object({
  workflowId: text,
  /** Null when the task was stopped before it was created. */
  requestId: v.nullable(text),
  status,
  /** In the service's order; of very many, as many as fit into 256 KiB. The manifest has all. */
  outputs: listOf(archivedOutput),
  /** All archived outputs, and their bytes. */
  outputCount: count,
  outputBytes: count,
  /** The first {@link maxFailedOutputs} outputs that the service reports as failed; the manifest has all. */
  failedOutputs: listOf(failedOutput),
  failedOutputCount: count,
  /** Where the manifest is; null when nothing was archived. */
  manifest: v.nullable(text),
  costTimes,
  /** What the task cost by the worker's price list; null when that is not known. */
  cost,
  timestamps,
  ...factEntries,
});
/** Result of the `task` workflow, and what `--json` prints. */
export type TaskResult = v.InferOutput<typeof taskResultSchema>;

export function isTaskResult(value: unknown): value is TaskResult {
  return v.is(taskResultSchema, value);
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

/** A field that another program wrote in another form is left out. */
const readFacts = v.object({
  startedAt: v.fallback(factEntries.startedAt, undefined),
  createNumber: v.fallback(factEntries.createNumber, undefined),
  uploads: v.fallback(factEntries.uploads, undefined),
});
const canceledResult = v.object({
  manifest: v.fallback(v.nullable(text), null),
  costTimes: v.fallback(costTimes, {}),
  cost: v.fallback(cost, null),
  timestamps: v.fallback(timestamps, {}),
  ...readFacts.entries,
});

export function readTaskFacts(value: unknown): TaskFacts {
  return v.parse(readFacts, isRecord(value) ? value : {});
}

export function readCanceledMemo(memo: Readonly<Record<string, unknown>> | undefined): CanceledMemo['canceledResult'] {
  const result = memo?.['canceledResult'];
  return v.parse(canceledResult, isRecord(result) ? result : {});
}
