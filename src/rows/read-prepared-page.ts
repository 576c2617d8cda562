import { open, type FileHandle } from 'node:fs/promises';
import { isTaskKey } from '../contract/workflow-ids';
import { isRecord } from '../domain/json';
import { showValue } from '../domain/text';
import { digestOfInput } from './prepare-row';
import { maxPreparedRowBytes, type PreparedRow } from './prepared-row';
import { indexEntryBytes, preparedIndexPath } from './prepared-rows-writer';
import { maxOriginalKeyLength } from './row-key';

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
  /** What is wrong with which row or page, in words that go on a sentence. */
  readonly problem: string;

  constructor(message: string, { problem, ...options }: ErrorOptions & { readonly problem: string }) {
    super(message, options);
    this.name = 'PreparedRowsError';
    this.problem = problem;
  }
}

/** Far beyond any page: what a damaged index may name. */
const mostPageBytes = 16 * maxPreparedRowBytes;

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

function parseRow(text: string, page: number): PreparedRow {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch (error) {
    throw notThePage(page, error);
  }
  if (!isPreparedRow(row)) throw notThePage(page);
  // By its digest it is known what was checked, and whether it was paid already.
  if (digestOfInput(row.input) === row.digest) return row;
  const { index, line, key } = row;
  const problem = `row ${index + 1} (line ${line}, key ${showValue(key)}) was changed after it was checked`;
  throw new PreparedRowsError(`${problem}; prepare the rows again.`, { problem });
}

function isPreparedRow(row: unknown): row is PreparedRow {
  if (!isRecord(row)) return false;
  const { index, line, key, originalKey = null, digest, input, columns } = row;
  return (
    [index, line].every((place) => Number.isSafeInteger(place) && Number(place) >= 0) &&
    typeof key === 'string' &&
    isTaskKey(key) &&
    (originalKey === null || (typeof originalKey === 'string' && originalKey.length <= maxOriginalKeyLength)) &&
    typeof digest === 'string' &&
    isRecord(input) &&
    isRecord(columns) &&
    Object.values(columns).every((column) => typeof column === 'string')
  );
}

function notThePage(page: number, cause?: unknown): PreparedRowsError {
  const problem = `page ${page + 1} is damaged, or the file was replaced`;
  return new PreparedRowsError(`${problem}; prepare the rows again.`, { problem, cause });
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
