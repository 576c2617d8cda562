import * as v from 'valibot';
import { type BatchCommand, isBatchCommand } from '../contract/batch/batch-command';
import { boundedRowEnd } from '../contract/batch/batch-rows';
import { parseJson } from '../core/json';
import {
  allCreates,
  allUploads,
  isKnownCreate,
  isSameCreate,
  mergedCreates,
  mergedUploads,
  type RowRecord,
  rowRecordSchema,
} from './row-end';
import { count, parseStored, storedText } from './stored';

const layoutSchema = v.object({
  id: v.string(),
  digest: v.pipe(v.string(), v.minLength(1)),
  rows: count,
  pages: count,
  /** Where the rows came from, for people. */
  source: v.optional(v.nullable(v.string())),
  command: v.optional(v.custom<BatchCommand>(isBatchCommand)),
});

/** `batch.json`: which rows the record is of, of which batch, and what started it. */
export type BatchLayout = Readonly<v.InferOutput<typeof layoutSchema>>;

export function layoutText({ id, digest, rows, pages, source, command }: BatchLayout): string {
  return storedText({ id, digest, rows, pages, source, command });
}

export function parseLayout(text: string): BatchLayout | undefined {
  return parseStored(layoutSchema, text);
}

/** Bounded to what a history can hold. */
const recordSchema = v.pipe(rowRecordSchema, v.transform(boundedRowEnd));

const headSchema = v.strictObject({ records: count });

/** First the number of records, to know when the text was cut short, then a line for each. */
export function recordText(records: Iterable<RowRecord>): string {
  const inOrder = [...records].sort((one, other) => one.index - other.index || (one.key < other.key ? -1 : 1));
  // Parsed, so that the order of a record's fields does not matter.
  return [{ records: inOrder.length }, ...inOrder.map((record) => v.parse(recordSchema, record))]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/** Throws an Error that says what is wrong with the text, and where. */
export function parseRecordText(text: string): RowRecord[] {
  const [head, ...lines] = text.split('\n');
  const count = parseStored(headSchema, head)?.records;
  if (count === undefined) throw new Error('its first line does not say how many records it has');
  if (lines.pop() !== '' || lines.length !== count) {
    throw new Error(`it has ${lines.length} of ${count} records; somebody cut it short or added to it`);
  }
  return lines.map((line, index) => {
    const record = v.safeParse(recordSchema, parseJson(line));
    if (!record.success) throw new Error(`its line ${index + 2} is no record of a row`);
    return record.output;
  });
}

/** Nothing else in the archive has such a first line. */
export function isRecordText(text: string): boolean {
  return parseStored(headSchema, text.split('\n', 1)[0]) !== undefined;
}

/** The later create, or of the same one the later end; the same in whatever order they come. */
function standingRecord(one: RowRecord, other: RowRecord): RowRecord {
  if (one.createNumber !== other.createNumber) return one.createNumber > other.createNumber ? one : other;
  if (one.endedAt !== other.endedAt) return one.endedAt > other.endedAt ? one : other;
  // As in the file, so that neither stands for the order of its fields.
  const text = (record: RowRecord): string =>
    recordText([{ ...record, earlier: undefined, earlierUploads: undefined }]);
  return text(one) >= text(other) ? one : other;
}

const maxCreates = 100;

/** The record that stands, with the other creates and attempts; the same in whatever order they come. */
function mergedRecord(one: RowRecord, other: RowRecord): RowRecord {
  const standing = standingRecord(one, other);
  const { createNumber, requestId, cost } = standing;
  const own = { createNumber, requestId, cost };
  const creates = mergedCreates([...allCreates(one), ...allCreates(other)]).filter((create) => {
    return isKnownCreate(create) && !isSameCreate(create, own);
  });
  const uploads = mergedUploads([...allUploads(one), ...allUploads(other)]).filter(({ endedAt }) => {
    return endedAt !== standing.endedAt;
  });
  return {
    ...standing,
    earlier: creates.length === 0 ? undefined : creates.slice(0, maxCreates),
    earlierUploads: uploads.length === 0 ? undefined : uploads.slice(0, maxCreates),
  };
}

export function addRecords(known: Map<string, RowRecord>, records: Iterable<RowRecord>): void {
  for (const record of records) {
    const previous = known.get(record.key);
    known.set(record.key, previous === undefined ? record : mergedRecord(previous, record));
  }
}
