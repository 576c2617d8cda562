import { z } from 'zod';
import type { RowRecord } from '../../contract/batch-rows';

const isoTime = z.iso.datetime({ offset: true });

const uploadsSchema = z.object({ files: z.number(), bytes: z.number(), shared: z.number() });

const recordSchema: z.ZodType<RowRecord> = z.object({
  key: z.string(),
  index: z.number(),
  line: z.number(),
  page: z.number(),
  digest: z.string(),
  status: z.enum(['Success', 'Failed', 'Canceled']),
  requestId: z.string().nullable(),
  createNumber: z.number().int(),
  failure: z.object({ type: z.string(), message: z.string() }).nullable(),
  outputs: z.array(z.object({ path: z.string(), sha256: z.string(), bytes: z.number() })),
  outputCount: z.number(),
  outputBytes: z.number().default(0),
  failedOutputCount: z.number().optional(),
  manifest: z.string().nullable(),
  uploads: uploadsSchema.nullable().default(null),
  startedAt: isoTime,
  endedAt: isoTime,
});

const headSchema = z.object({ records: z.number().int() });

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
  const { data } = headSchema.safeParse(jsonOf(head ?? ''));
  if (data === undefined) throw new Error('its first line does not say how many records it has');
  // What follows the last line's end.
  if (lines.pop() !== '' || lines.length !== data.records) {
    throw new Error(`it has ${lines.length} of ${data.records} records; somebody cut it short or added to it`);
  }
  return lines.map((line, index) => {
    const record = recordSchema.safeParse(jsonOf(line));
    if (!record.success) throw new Error(`its line ${index + 2} is no record of a row`);
    return record.data;
  });
}

/** The same record is the same text, in whatever order its fields came. */
function inOneForm(record: RowRecord): RowRecord {
  return recordSchema.parse(record);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
