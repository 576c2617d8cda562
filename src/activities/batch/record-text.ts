import { z } from 'zod';
import type { RowRecord } from '../../contract/batch-rows';
import { boundedRowEnd } from '../../contract/row-end';
import { isTaskKey } from '../../contract/workflow-ids';
import { parseJson } from '../../domain/json';

const isoTime = z.iso.datetime({ offset: true });

const count = z.number().int().nonnegative();
const uploadsSchema = z.object({ files: count, bytes: count, shared: count });

const recordShape: z.ZodType<RowRecord> = z.object({
  key: z.string().refine(isTaskKey),
  index: count,
  line: count,
  page: count,
  digest: z.string().max(128),
  status: z.enum(['Success', 'Failed', 'Canceled']),
  requestId: z.string().nullable(),
  createNumber: count,
  failure: z.object({ type: z.string(), message: z.string() }).nullable(),
  outputs: z.array(z.object({ path: z.string(), sha256: z.string(), bytes: count })),
  outputCount: count,
  outputBytes: count.default(0),
  failedOutputCount: count.optional(),
  manifest: z.string().nullable(),
  uploads: uploadsSchema.nullable().default(null),
  startedAt: isoTime,
  endedAt: isoTime,
});

/** Whatever stands in the file, no more than a history can hold comes of it. */
const recordSchema = recordShape.transform(boundedRowEnd);

const headSchema = z.strictObject({ records: z.number().int().nonnegative() });

/**
 * Records as the text of a file: a line that says how many there are, by which a file is known that somebody cut short,
 * and one line for each, in the order of the rows.
 */
export function recordText(records: Iterable<RowRecord>): string {
  const inOrder = [...records].sort((one, other) => one.index - other.index || (one.key < other.key ? -1 : 1));
  return [{ records: inOrder.length }, ...inOrder.map(inOneForm)].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Throws an Error that says what is wrong with the text, and where. */
export function parseRecordText(text: string): RowRecord[] {
  const [head, ...lines] = text.split('\n');
  const { data } = headSchema.safeParse(parseJson(head ?? ''));
  if (data === undefined) throw new Error('its first line does not say how many records it has');
  // What follows the last line's end.
  if (lines.pop() !== '' || lines.length !== data.records) {
    throw new Error(`it has ${lines.length} of ${data.records} records; somebody cut it short or added to it`);
  }
  return lines.map((line, index) => {
    const record = recordSchema.safeParse(parseJson(line));
    if (!record.success) throw new Error(`its line ${index + 2} is no record of a row`);
    return record.data;
  });
}

/** Whether a text begins as that of records does: nothing else in the archive has such a first line. */
export function isRecordText(text: string): boolean {
  return headSchema.safeParse(parseJson(text.split('\n', 1)[0] ?? '')).success;
}

/** The same record is the same text, in whatever order its fields came. */
function inOneForm(record: RowRecord): RowRecord {
  return recordSchema.parse(record);
}
