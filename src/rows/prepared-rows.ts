import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import type { RowsReference } from '../contract/batch/batch-input';
import { dictionary, wholeNumber } from '../contract/schema';
import { type NewTaskInput, inputDigest } from '../contract/task-input';
import { isTaskKey } from '../contract/workflow-ids';
import { formatRowPlace, type RowPlace } from '../core/batch/row-place';
import { isRecord } from '../core/json';
import { showValue } from '../core/text';
import { type DecimalSign, type Delimiter, delimiters } from './cells';
import { maxOriginalKeyLength } from './row-key';

export interface RowTable {
  readonly columns: readonly string[];
  readonly delimiter: Delimiter;
  /** Whether the UTF-8 mark stands at its beginning. */
  readonly hasBom: boolean;
  /** Before a number's fraction. @default point */
  readonly decimal?: DecimalSign;
  /** The columns that a template makes each input of, by input key. Absent without a template: columns are inputs. */
  readonly inputColumns?: Readonly<Record<string, readonly string[]>>;
}

/** A row that can become a task. Plain JSON. */
export interface PreparedRow extends RowPlace {
  /** Among the rows, bad ones counted, from 0. */
  readonly index: number;
  /** Matches `[A-Za-z0-9._-]{1,80}`. */
  readonly key: string;
  /** As the row gave it, when it gave one. */
  readonly originalKey: string | null;
  /** Checked; paths of input files are absolute. */
  readonly input: NewTaskInput;
  /** The input digest of `input`: the same that a task of its own would have. */
  readonly digest: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Where the file is a table. Among prepared rows only the first has it. */
  readonly table?: RowTable;
  /** In the order of the row's own columns; absent for more than 64 KiB. */
  readonly cells?: readonly string[];
}

/** Of one row as a JSON line: a page of rows is the result of an activity. */
export const maxPreparedRowBytes = 1024 * 1024;

export function preparedRowLine(row: PreparedRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** SHA-256 over every row's key and digest, in order, and over page ends: a batch's record is kept by page. */
export class RowsDigest {
  readonly #hash = createHash('sha256');

  add({ key, digest }: Pick<PreparedRow, 'key' | 'digest'>): void {
    this.#hash.update(`${key} ${digest}\n`);
  }

  endPage(): void {
    this.#hash.update('\n');
  }

  /** Hex. Can be asked once, at the end. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}

const indexEntryBytes = 8;

export function preparedIndexPath(path: string): string {
  return `${path}.index`;
}

export interface ByteRanges {
  /** From `start` to before `end`; fewer when it ends earlier. */
  read(start: number, end: number): Promise<Uint8Array>;
}

export interface PreparedRows {
  readonly rows: ByteRanges;
  readonly index: ByteRanges;
}

/** What was read is no page of prepared rows: the file was damaged or replaced. No other try will help. */
export class PreparedRowsError extends Error {
  readonly problem: string;

  constructor(problem: string, options?: ErrorOptions) {
    super(`${problem}; prepare the rows again.`, options);
    this.name = 'PreparedRowsError';
    this.problem = problem;
  }
}

const mostPageBytes = 16 * maxPreparedRowBytes;

export function preparedRowsAt(path: string): PreparedRows {
  return { rows: fileRanges(path), index: fileRanges(preparedIndexPath(path)) };
}

/** From page 0; `undefined` after the last. @throws PreparedRowsError, and what `read` throws. */
export async function readPreparedPage(
  { rows, index }: PreparedRows,
  page: number,
): Promise<readonly PreparedRow[] | undefined> {
  const first = page * indexEntryBytes;
  const entries = Buffer.from(await index.read(first, first + 2 * indexEntryBytes));
  // The last page is followed only by its end.
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

const texts = v.array(v.string());
const tableSchema = v.object({
  columns: texts,
  delimiter: v.picklist(delimiters),
  hasBom: v.boolean(),
  decimal: v.optional(v.picklist(['point', 'comma'])),
  inputColumns: v.optional(dictionary(texts)),
});
const rowSchema = v.object({
  index: wholeNumber(0),
  line: wholeNumber(0),
  sheetRow: v.optional(wholeNumber(0)),
  key: v.pipe(
    v.string(),
    v.check((key) => isTaskKey(key)),
  ),
  originalKey: v.nullable(v.pipe(v.string(), v.maxLength(maxOriginalKeyLength))),
  digest: v.string(),
  input: v.custom<NewTaskInput>(isRecord),
  columns: dictionary(v.string()),
  table: v.optional(tableSchema),
  cells: v.optional(texts),
});

function parseRow(text: string, page: number): PreparedRow {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch (error) {
    throw notThePage(page, error);
  }
  if (!v.is(rowSchema, row)) throw notThePage(page);
  // The digest tells what was checked, and whether it was paid already.
  if (inputDigest(row.input) === row.digest) return row;
  throw new PreparedRowsError(`${formatRowPlace(row)} (key ${showValue(row.key)}) was changed after it was checked`);
}

function notThePage(page: number, cause?: unknown): PreparedRowsError {
  return new PreparedRowsError(`page ${page + 1} is damaged, or the file was replaced`, { cause });
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

export async function readBytes(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

/** As JSON: a page holds up to 200 rows. */
const maxCellBytes = 64 * 1024;

export interface PageLimits {
  /** @default 200 */
  readonly rows?: number;
  /** As JSON; at least one row of any size fits. @default 1 MiB, half of what Temporal takes as a result */
  readonly bytes?: number;
}

/**
 * Writes rows as JSON lines, and an index of where each page begins and the last one ends. Holds one page. Both files
 * get their names when they are on the disk, the index last: a file without one is that of an interrupted writer.
 */
export class PreparedRowsWriter {
  readonly #draft: string;
  readonly #limits: Required<PageLimits>;
  readonly #rowsFile: FileHandle;
  readonly #indexFile: FileHandle;
  readonly #digest = new RowsDigest();
  readonly #contentHash = createHash('sha256');
  #page: string[] = [];
  #pageBytes = 0;
  #rows = 0;
  #pages = 0;
  #bytes = 0;

  private constructor(draft: string, limits: PageLimits, rowsFile: FileHandle, indexFile: FileHandle) {
    this.#draft = draft;
    this.#limits = { rows: 200, bytes: maxPreparedRowBytes, ...limits };
    this.#rowsFile = rowsFile;
    this.#indexFile = indexFile;
  }

  /** Throws the system's error when the folder is not there or cannot be written. */
  static async create(folder: string, limits: PageLimits = {}): Promise<PreparedRowsWriter> {
    const draft = join(folder, `.part-${randomUUID()}`);
    const rowsFile = await open(draft, 'wx');
    try {
      return new PreparedRowsWriter(draft, limits, rowsFile, await open(preparedIndexPath(draft), 'wx'));
    } catch (error) {
      await rowsFile.close();
      await rm(draft, { force: true });
      throw error;
    }
  }

  async add(row: PreparedRow): Promise<void> {
    const { table, cells, sheetRow, ...content } = row;
    // Where pages end is part of the digest, so it does not depend on what no task gets.
    const bytes = Buffer.byteLength(preparedRowLine(content));
    const isFull = this.#page.length >= this.#limits.rows || this.#pageBytes + bytes > this.#limits.bytes;
    if (isFull) await this.#writePage();
    const isFitting = cells !== undefined && Buffer.byteLength(JSON.stringify(cells)) <= maxCellBytes;
    const own = { sheetRow, table: this.#rows === 0 ? table : undefined, cells: isFitting ? cells : undefined };
    this.#digest.add(row);
    this.#page.push(preparedRowLine({ ...content, ...own }));
    this.#pageBytes += bytes;
    this.#rows += 1;
  }

  /** The names have some digits of the content's hash. Removes what cannot be finished. */
  async finish(nameOf: (contentHash: string) => string): Promise<RowsReference> {
    try {
      await this.#writePage();
      await this.#indexFile.appendFile(indexEntry(this.#bytes));
      for (const file of [this.#rowsFile, this.#indexFile]) {
        await file.sync();
        await file.close();
      }
      const folder = dirname(this.#draft);
      const location = join(folder, nameOf(this.#contentHash.digest('hex').slice(0, 12)));
      await rename(this.#draft, location);
      await rename(preparedIndexPath(this.#draft), preparedIndexPath(location));
      const handle = await open(folder, 'r');
      await handle.sync().finally(() => handle.close());
      return { location, digest: this.#digest.hex(), rows: this.#rows, pages: this.#pages };
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    await this.#rowsFile.close();
    await this.#indexFile.close();
    for (const file of [this.#draft, preparedIndexPath(this.#draft)]) await rm(file, { force: true });
  }

  async #writePage(): Promise<void> {
    if (this.#page.length === 0) return;
    await this.#indexFile.appendFile(indexEntry(this.#bytes));
    const content = Buffer.from(this.#page.join(''));
    await this.#rowsFile.appendFile(content);
    this.#contentHash.update(content);
    this.#digest.endPage();
    this.#bytes += content.length;
    this.#pages += 1;
    this.#page = [];
    this.#pageBytes = 0;
  }
}

function indexEntry(offset: number): Buffer {
  const entry = Buffer.alloc(indexEntryBytes);
  entry.writeBigUInt64BE(BigInt(offset));
  return entry;
}
