import * as v from 'valibot';
import { isTaskKey } from '../contract/workflow-ids';
import type { Money } from '../money/money';
import { costTimes, count, endStatus, isoTime, money } from './stored';

/** In characters. */
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
  /** At the service, by its timestamps, in milliseconds; absent when it gave none. */
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
  /** As the row gave it, where it differs from `key`. */
  originalKey: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(maxOriginalKeyLength))), undefined),
  /** Among the rows, from 0. */
  index: count,
  /** Of the row file, from 1. */
  line: count,
  sheetRow: v.optional(count),
  /** Of the prepared rows; the row's end is recorded under it. */
  page: count,
  digest: v.pipe(v.string(), v.maxLength(128)),
  /** The row's other creates, and what its end does not say of this one; absent when nothing is known. */
  earlier: v.optional(v.pipe(v.array(createSchema), v.readonly())),
  /** Of the row's other attempts; absent when they uploaded nothing that is known. */
  earlierUploads: v.optional(v.pipe(v.array(earlierUploadsSchema), v.readonly())),
  ...endEntries,
});

export type RowOutput = Readonly<v.InferOutput<typeof rowOutputSchema>>;
export interface RowUploads {
  readonly files: number;
  readonly bytes: number;
  /** Files that needed no upload: another row's, of the same content, was there. */
  readonly shared: number;
}
export type RowRecord = Readonly<v.InferOutput<typeof rowRecordSchema>>;
/** What a task tells its batch. */
export type RowEnd = Pick<RowRecord, 'key' | keyof typeof endEntries>;
export type EarlierUploads = Readonly<v.InferOutput<typeof earlierUploadsSchema>>;
export type RowCreate = Readonly<v.InferOutput<typeof createSchema>>;

/** The latest first. */
export function allUploads({ endedAt, uploads, earlierUploads = [] }: RowRecord): readonly EarlierUploads[] {
  return uploads === null || uploads.files + uploads.shared === 0
    ? earlierUploads
    : [{ endedAt, ...uploads }, ...earlierUploads];
}

/** Each attempt once, the latest first. */
export function mergedUploads(attempts: readonly EarlierUploads[]): readonly EarlierUploads[] {
  const byEnd = new Map<string, EarlierUploads>();
  for (const attempt of attempts) {
    const known = byEnd.get(attempt.endedAt);
    if (known === undefined || known.bytes < attempt.bytes) byEnd.set(attempt.endedAt, attempt);
  }
  return [...byEnd.values()].sort((one, other) => (one.endedAt > other.endedAt ? -1 : 1));
}

/** Those that are known, the latest first. */
export function allCreates({ createNumber, requestId, cost, earlier = [] }: RowRecord): readonly RowCreate[] {
  // An unknown cost is absent: creates become JSON that is compared.
  return mergedCreates([{ createNumber, requestId, ...(cost !== undefined && { cost }) }, ...earlier]);
}

/** Each create once, as best known, the latest first: the same task may be seen with its cost and without. */
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

/** Of a row that succeeded, those before the last. */
export function createsWithoutResult(record: RowRecord): readonly RowCreate[] {
  return allCreates(record).slice(record.status === 'Success' ? 1 : 0);
}

/** In the currency of the last known cost; null when none is known. */
export function sumOfCreates(creates: readonly RowCreate[]): Money | null {
  const costs = creates.flatMap(({ cost }) => cost ?? []);
  const [latest] = costs;
  if (latest === undefined) return null;
  const { currency } = latest;
  const micros = costs.reduce((sum, cost) => sum + (cost.currency === currency ? cost.micros : 0), 0);
  return { currency, micros };
}
