import * as z from 'zod';
import { isMoney, type Money } from '../money/money';
import { isTaskKey } from '../contract/workflow-ids';

/** Longest key that a row may give, in characters. */
const maxOriginalKeyLength = 500;

const isoTime = z.iso.datetime({ offset: true });
const count = z.number().int().nonnegative();

/** One archived file of a row. */
export const rowOutputSchema = z.object({ path: z.string(), sha256: z.string(), bytes: count });

/** What the upload of a row's input files took. */
const rowUploadsSchema: z.ZodType<RowUploads> = z.object({ files: count, bytes: count, shared: count });

/** The type of a task's failure and its words, shortened. */
export const rowFailureSchema = z.object({ type: z.string(), message: z.string() });

/** How a row ended: what its task tells the batch, and a line of the batch's record. */
export const rowEndSchema = z.object({
  key: z.string(),
  /** `Failed` with whatever the task's failure says. */
  status: z.enum(['Success', 'Failed', 'Canceled']),
  requestId: z.string().nullable(),
  createNumber: count,
  /** Null when the task completed. */
  failure: rowFailureSchema.nullable(),
  /** The first of them, bounded; the manifest has all. */
  outputs: z.array(rowOutputSchema).readonly(),
  outputCount: count,
  /** Of all outputs. Older tasks do not tell. */
  outputBytes: count.default(0),
  /** Outputs that the service reports as failed; absent when there are none. */
  failedOutputCount: count.optional(),
  manifest: z.string().nullable(),
  /** The service's, in milliseconds; absent when it gave none. */
  costTimes: z.record(z.string(), z.number()).readonly().optional(),
  /** Absent when it is not known. */
  cost: z.custom<Money>(isMoney).optional(),
  /** How long the task queued at the service, by its own timestamps, in milliseconds; absent when it gave none. */
  queuedMs: count.optional(),
  /** Null where the task itself could not tell. */
  uploads: rowUploadsSchema.nullable().default(null),
  startedAt: isoTime,
  endedAt: isoTime,
});

/** A create of a row, and what its task cost. */
const earlierCreateSchema = z.object({
  createNumber: count,
  requestId: z.string().nullable(),
  cost: z.custom<Money>(isMoney).optional(),
});

/** What the uploads of another attempt of a row took, by when it ended. */
const earlierUploadsSchema = z.object({ endedAt: isoTime, files: count, bytes: count, shared: count });

/** A row and how it ended: one line of the batch's record. */
export const rowRecordSchema = z.object({
  key: rowEndSchema.shape.key.refine(isTaskKey),
  /** As the row gave it, where that is another one; absent from a version before. */
  originalKey: z.string().max(maxOriginalKeyLength).optional().catch(undefined),
  /** Its place among the rows of the file, from 0. */
  index: count,
  /** Of the row file, from 1. */
  line: count,
  /** In the spreadsheet; absent where the row file is no table, and from a version before. */
  sheetRow: count.optional(),
  /** Of the prepared rows; the row's end is recorded under it. */
  page: count,
  /** Of the row's content. */
  digest: z.string().max(128),
  /** What is known of the row's other creates, and what its end does not say of this one; absent when nothing is. */
  earlier: z.array(earlierCreateSchema).readonly().optional(),
  /** Of the row's other attempts; absent when they uploaded nothing that is known. */
  earlierUploads: z.array(earlierUploadsSchema).readonly().optional(),
  ...rowEndSchema.omit({ key: true }).shape,
});

/** One archived file of a row. */
export type RowOutput = Readonly<z.infer<typeof rowOutputSchema>>;
/** What the upload of a row's input files took. */
export interface RowUploads {
  /** Files that were uploaded. */
  readonly files: number;
  /** Of those. */
  readonly bytes: number;
  /** Files that needed no upload: another row's, of the same content, was there. */
  readonly shared: number;
}
/** How a row ended. */
export type RowEnd = Readonly<z.infer<typeof rowEndSchema>>;
/** A row and how it ended. */
export type RowRecord = Readonly<z.infer<typeof rowRecordSchema>>;
/** What the uploads of another attempt of a row took. */
export type EarlierUploads = Readonly<z.infer<typeof earlierUploadsSchema>>;
/** A create of a row, and what its task cost. */
export type RowCreate = Readonly<z.infer<typeof earlierCreateSchema>>;

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
  const own = { createNumber, requestId, ...(cost !== undefined && { cost }) };
  return earlier.length === 0 ? [own] : mergedCreates([own, ...earlier]);
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

/** What every create of a row cost together, in the currency of the last known one; null when none is known. */
export function rowCost(record: RowRecord): Money | null {
  return sumCosts(allCreates(record));
}

/** The creates of a row that brought no result: of one that succeeded, those before the last. */
export function createsWithoutResult(record: RowRecord): readonly RowCreate[] {
  return allCreates(record).slice(record.status === 'Success' ? 1 : 0);
}

/** The part of a row's cost that brought no result; null when none is known. */
export function rowCostWithoutResult(record: RowRecord): Money | null {
  return sumCosts(createsWithoutResult(record));
}

function sumCosts(creates: readonly RowCreate[]): Money | null {
  const costs = creates.flatMap(({ cost }) => cost ?? []);
  const [latest] = costs;
  if (latest === undefined) return null;
  const { currency } = latest;
  const micros = costs.reduce((sum, cost) => sum + (cost.currency === currency ? cost.micros : 0), 0);
  return { currency, micros };
}
