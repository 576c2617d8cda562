import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { type NewTaskInput, inputDigest } from '../contract/task-input';
import { isTaskKey } from '../contract/workflow-ids';
import { isRecord } from '../core/json';
import { formatRowPlace, type RowPlace } from '../core/batch/row-place';
import { showValue } from '../core/text';
import { maxOriginalKeyLength } from './row-key';
import { type DecimalSign, type Delimiter, delimiters } from './cells';

/** The form of a table. */
export interface RowTable {
  /** The names of its columns. */
  readonly columns: readonly string[];
  readonly delimiter: Delimiter;
  /** Whether the mark that some programs put before UTF-8 stands at its beginning. */
  readonly hasBom: boolean;
  /** What stands before the fraction of a number. @default point */
  readonly decimal?: DecimalSign;
  /** The columns that a template makes each input of, by the input's key. Without a template the columns are the inputs. */
  readonly inputColumns?: Readonly<Record<string, readonly string[]>>;
}

/** A row that can become a task. Plain JSON. */
export interface PreparedRow extends RowPlace {
  /** Its place among the rows of the file, bad ones counted, from 0. */
  readonly index: number;
  /** Matches `[A-Za-z0-9._-]{1,80}`. */
  readonly key: string;
  /** As the row gave it, when it gave one. */
  readonly originalKey: string | null;
  /** Checked; paths of input files are absolute. */
  readonly input: NewTaskInput;
  /** The input digest of `input`: the same that a task of its own would have. */
  readonly digest: string;
  /** The columns that were asked for, as text. */
  readonly columns: Readonly<Record<string, string>>;
  /** The form of the row's file, where that is a table. Among prepared rows only the first has it. */
  readonly table?: RowTable;
  /** What stands in the row's own columns, in their order; nothing of a row that has more than 64 KiB. */
  readonly cells?: readonly string[];
}

/** One line of a file of prepared rows, as JSON, in bytes: a page of them is the result of an activity. */
export const maxPreparedRowBytes = 1024 * 1024;

/** A row as a line of a file of prepared rows. */
export function preparedRowLine(row: PreparedRow): string {
  return `${JSON.stringify(row)}\n`;
}

/**
 * The digest of a set of rows: SHA-256 over every row's key and digest, in their order, and where pages end, because a
 * batch's record is kept by page.
 */
export class RowsDigest {
  readonly #hash = createHash('sha256');

  add({ key, digest }: Pick<PreparedRow, 'key' | 'digest'>): void {
    this.#hash.update(`${key} ${digest}\n`);
  }

  endPage(): void {
    this.#hash.update('\n');
  }

  /** In hex. Can be asked once, at the end. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

/** Bytes of one entry of the index: an unsigned offset, the highest byte first. */
export const indexEntryBytes = 8;

/** Where the index of a file of prepared rows is. */
export function preparedIndexPath(path: string): string {
  return `${path}.index`;
}

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
  /** What is wrong with which row or page, as the end of a sentence. */
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
  if (inputDigest(row.input) === row.digest) return row;
  const problem = `${formatRowPlace(row)} (key ${showValue(row.key)}) was changed after it was checked`;
  throw new PreparedRowsError(`${problem}; prepare the rows again.`, { problem });
}

function isPreparedRow(row: unknown): row is PreparedRow {
  if (!isRecord(row)) return false;
  const { index, line, sheetRow = 1, key, originalKey = null, digest, input, columns, table, cells } = row;
  return (
    [index, line, sheetRow].every((place) => Number.isSafeInteger(place) && Number(place) >= 0) &&
    typeof key === 'string' &&
    isTaskKey(key) &&
    (originalKey === null || (typeof originalKey === 'string' && originalKey.length <= maxOriginalKeyLength)) &&
    typeof digest === 'string' &&
    isRecord(input) &&
    isRecord(columns) &&
    Object.values(columns).every((column) => typeof column === 'string') &&
    (table === undefined || isRowTable(table)) &&
    (cells === undefined || isTexts(cells))
  );
}

function isRowTable(table: unknown): table is RowTable {
  return (
    isRecord(table) &&
    isTexts(table['columns']) &&
    delimiters.some((delimiter) => delimiter === table['delimiter']) &&
    typeof table['hasBom'] === 'boolean' &&
    [undefined, 'point', 'comma'].some((sign) => sign === table['decimal']) &&
    (table['inputColumns'] === undefined ||
      (isRecord(table['inputColumns']) && Object.values(table['inputColumns']).every(isTexts)))
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
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
