import * as v from 'valibot';
import { isTaskKey } from '../contract/workflow-ids';
import type { Money } from '../money/money';
import { costTimes, count, endStatus, isoTime, money } from './stored';

/** Longest key that a row may give, in characters. */
const maxOriginalKeyLength = 500;

export const rowOutputSchema = v.object({ path: v.string(), sha256: v.string(), bytes: count });
export const rowFailureSchema = v.object({ type: v.string(), message: v.string() });

const uploads = { files: count, bytes: count, shared: count };
const endEntries = {
  /** `Failed` with whatever the task's failure says. */
  status: endStatus,
  requestId: v.nullable(v.string()),
  createNumber: count,
  /** Null when the task completed. */
  failure: v.nullable(rowFailureSchema),
  /** The first of them, bounded; the manifest has all. */
  outputs: v.pipe(v.array(rowOutputSchema), v.readonly()),
  outputCount: count,
  /** Of all outputs. */
  outputBytes: v.optional(count, 0),
  /** Outputs that the service reports as failed; absent when there are none. */
  failedOutputCount: v.optional(count),
  manifest: v.nullable(v.string()),
  /** The service's, in milliseconds; absent when it gave none. */
  costTimes: v.optional(costTimes),
  cost: v.optional(money),
  /** How long the task queued at the service, by its own timestamps, in milliseconds; absent when it gave none. */
  queuedMs: v.optional(count),
  /** Null where the task itself could not tell. */
  uploads: v.optional(v.nullable(v.object(uploads)), null),
  startedAt: isoTime,
  endedAt: isoTime,
};
const createSchema = v.object({
  createNumber: count,
  requestId: v.nullable(v.string()),
  cost: v.optional(money),
});
const earlierUploadsSchema = v.object({ endedAt: isoTime, ...uploads });

export const rowRecordSchema = v.object({
  key: v.pipe(
    v.string(),
    v.check((text) => isTaskKey(text)),
  ),
  /** As the row gave it, where that is another one. */
  originalKey: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(maxOriginalKeyLength))), undefined),
  /** Its place among the rows of the file, from 0. */
  index: count,
  /** Of the row file, from 1. */
  line: count,
  /** In the spreadsheet; absent where the row file is no table. */
  sheetRow: v.optional(count),
  /** Of the prepared rows; the row's end is recorded under it. */
  page: count,
  digest: v.pipe(v.string(), v.maxLength(128)),
  /** What is known of the row's other creates, and what its end does not say of this one; absent when nothing is. */
  earlier: v.optional(v.pipe(v.array(createSchema), v.readonly())),
  /** Of the row's other attempts; absent when they uploaded nothing that is known. */
  earlierUploads: v.optional(v.pipe(v.array(earlierUploadsSchema), v.readonly())),
  ...endEntries,
});

/** One archived file of a row. */
export type RowOutput = Readonly<v.InferOutput<typeof rowOutputSchema>>;
/** What the upload of a row's input files took. */
export interface RowUploads {
  readonly files: number;
  readonly bytes: number;
  /** Files that needed no upload: another row's, of the same content, was there. */
  readonly shared: number;
}
/** A row and how it ended. */
export type RowRecord = Readonly<v.InferOutput<typeof rowRecordSchema>>;
/** How a row ended: what its task tells the batch. */
export type RowEnd = Pick<RowRecord, 'key' | keyof typeof endEntries>;
/** What the uploads of another attempt of a row took. */
export type EarlierUploads = Readonly<v.InferOutput<typeof earlierUploadsSchema>>;
/** A create of a row, and what its task cost. */
export type RowCreate = Readonly<v.InferOutput<typeof createSchema>>;

/** The uploads of each attempt of a row that is known, the latest first. */
export function allUploads({ endedAt, uploads, earlierUploads = [] }: RowRecord): readonly EarlierUploads[] {
  return uploads === null || uploads.files + uploads.shared === 0
    ? earlierUploads
    : [{ endedAt, ...uploads }, ...earlierUploads];
}

/** Of each attempt once, the latest first. */
export function mergedUploads(attempts: readonly EarlierUploads[]): readonly EarlierUploads[] {
  const byEnd = new Map<string, EarlierUploads>();
  for (const attempt of attempts) {
    const known = byEnd.get(attempt.endedAt);
    if (known === undefined || known.bytes < attempt.bytes) byEnd.set(attempt.endedAt, attempt);
  }
  return [...byEnd.values()].sort((one, other) => (one.endedAt > other.endedAt ? -1 : 1));
}

/** Every create of a row that is known, the latest first. */
export function allCreates({ createNumber, requestId, cost, earlier = [] }: RowRecord): readonly RowCreate[] {
  // A cost that is not known is absent: creates become JSON that is compared.
  return mergedCreates([{ createNumber, requestId, ...(cost !== undefined && { cost }) }, ...earlier]);
}

/** Of each create what is known best, the latest first: its cost rather than none, for the same task may be seen twice. */
export function mergedCreates(creates: readonly RowCreate[]): readonly RowCreate[] {
  const best = new Map<number, RowCreate>();
  for (const create of creates) {
    const known = best.get(create.createNumber);
    if (known === undefined || rank(create) > rank(known)) best.set(create.createNumber, create);
  }
  return [...best.values()].sort((one, other) => other.createNumber - one.createNumber);
}

/** Whether a task may have come of it. */
export function isKnownCreate({ requestId, cost }: RowCreate): boolean {
  return requestId !== null || cost !== undefined;
}

/** Whether as much is known of both. */
export function isSameCreate(one: RowCreate, other: RowCreate): boolean {
  return one.createNumber === other.createNumber && rank(one) === rank(other);
}

function rank({ requestId, cost }: RowCreate): string {
  return JSON.stringify([cost === undefined ? 0 : 1, cost?.currency, cost?.micros, requestId ?? '']);
}

/** The creates of a row that brought no result: of one that succeeded, those before the last. */
export function createsWithoutResult(record: RowRecord): readonly RowCreate[] {
  return allCreates(record).slice(record.status === 'Success' ? 1 : 0);
}

/** What creates of a row cost together, in the currency of the last known one; null when none is known. */
export function sumOfCreates(creates: readonly RowCreate[]): Money | null {
  const costs = creates.flatMap(({ cost }) => cost ?? []);
  const [latest] = costs;
  if (latest === undefined) return null;
  const { currency } = latest;
  const micros = costs.reduce((sum, cost) => sum + (cost.currency === currency ? cost.micros : 0), 0);
  return { currency, micros };
}
