import { open, type FileHandle } from 'node:fs/promises';
import type { PreparedRow } from './prepared-row';
import { indexEntryBytes, preparedIndexPath } from './prepared-rows-writer';

/** Something whose bytes can be read in part: a file, or an object of a storage. */
export interface ByteRanges {
  /** The bytes from `start` to before `end`; fewer when it ends earlier. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A file of prepared rows and its index, wherever they are. */
export interface PreparedRows {
  readonly rows: ByteRanges;
  readonly index: ByteRanges;
}

/** What was read is no page of prepared rows: the file was damaged or replaced. No other try will help. */
export class PreparedRowsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PreparedRowsError';
  }
}

/** Far beyond any page: what a damaged index may name. */
const mostPageBytes = 256 * 1024 * 1024;

/** A file of prepared rows in a folder, as `PreparedRowsWriter` left it there. */
export function preparedRowsAt(path: string): PreparedRows {
  return { rows: fileRanges(path), index: fileRanges(preparedIndexPath(path)) };
}

/**
 * One page of prepared rows, from 0; `undefined` after the last. Reads the page and two entries of the index, whatever
 * the size of the file.
 *
 * @throws PreparedRowsError, and what `read` throws.
 */
export async function readPreparedPage(
  { rows, index }: PreparedRows,
  page: number,
): Promise<readonly PreparedRow[] | undefined> {
  const first = page * indexEntryBytes;
  const entries = Buffer.from(await index.read(first, first + 2 * indexEntryBytes));
  // After the last page stands only where it ends, and after that nothing.
  if (entries.length < 2 * indexEntryBytes) return undefined;
  const start = Number(entries.readBigUInt64BE(0));
  const end = Number(entries.readBigUInt64BE(indexEntryBytes));
  if (end <= start || end - start > mostPageBytes) throw notThePage(page);
  const bytes = Buffer.from(await rows.read(start, end));
  if (bytes.length !== end - start || bytes.at(-1) !== 0x0a) throw notThePage(page);
  return bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => parseRow(line, page));
}

function parseRow(line: string, page: number): PreparedRow {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (error) {
    throw notThePage(page, error);
  }
  if (!isPreparedRow(row)) throw notThePage(page);
  return row;
}

function isPreparedRow(row: unknown): row is PreparedRow {
  if (typeof row !== 'object' || row === null) return false;
  const wanted = {
    index: 'number',
    line: 'number',
    key: 'string',
    digest: 'string',
    input: 'object',
    columns: 'object',
  };
  const found = new Map<string, unknown>(Object.entries(row));
  return Object.entries(wanted).every(([name, type]) => typeof found.get(name) === type && found.get(name) !== null);
}

function notThePage(page: number, cause?: unknown): PreparedRowsError {
  return new PreparedRowsError(
    `Page ${page} of the prepared rows is damaged, or the file was replaced; prepare the rows again.`,
    cause === undefined ? undefined : { cause },
  );
}

function fileRanges(path: string): ByteRanges {
  return {
    async read(start, end) {
      const file = await open(path, 'r');
      try {
        return await readBytes(file, start, end);
      } finally {
        await file.close();
      }
    },
  };
}

/** The bytes of an open file from `start` to before `end`; fewer when it ends earlier. */
export async function readBytes(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}
