import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  indexEntryBytes,
  maxPreparedRowBytes,
  preparedIndexPath,
  type PreparedRow,
  preparedRowLine,
  RowsDigest,
} from './prepared-rows';

/** The cells of a row, as JSON, in bytes: a page holds up to 200 rows. */
const maxCellBytes = 64 * 1024;

/** How large a page may become. */
export interface PageLimits {
  /** @default 200 */
  readonly rows?: number;
  /** As JSON; at least one row of any size fits. @default 1 MiB, half of what Temporal takes as a result */
  readonly bytes?: number;
}

/** What was written. */
export interface PreparedRowsSummary {
  readonly rows: number;
  readonly pages: number;
  /** Of the rows, without the index. */
  readonly bytes: number;
  /**
   * SHA-256 (hex) of every row's key and digest, in order and by page: the same rows have the same, wherever they
   * stood.
   */
  readonly digest: string;
}

/**
 * Writes prepared rows, one JSON line each, and beside them an index: where each page begins, and where the last one
 * ends. Both appear under their names when they are complete and on the disk, the index last; a file without an index
 * is what an interrupted writer left behind. Holds one page.
 */
export class PreparedRowsWriter {
  readonly #path: string;
  readonly #maxRows: number;
  readonly #maxBytes: number;
  readonly #rowsFile: AtomicFile;
  readonly #indexFile: AtomicFile;
  readonly #digest = new RowsDigest();
  #page: string[] = [];
  #pageBytes = 0;
  #rows = 0;
  #pages = 0;
  #bytes = 0;

  private constructor(path: string, limits: PageLimits, rowsFile: AtomicFile, indexFile: AtomicFile) {
    this.#path = path;
    this.#maxRows = limits.rows ?? 200;
    this.#maxBytes = limits.bytes ?? maxPreparedRowBytes;
    this.#rowsFile = rowsFile;
    this.#indexFile = indexFile;
  }

  /** Throws the system's error when the folder is not there or cannot be written. */
  static async create(path: string, limits: PageLimits = {}): Promise<PreparedRowsWriter> {
    const rowsFile = await AtomicFile.create(path);
    try {
      return new PreparedRowsWriter(path, limits, rowsFile, await AtomicFile.create(preparedIndexPath(path)));
    } catch (error) {
      await rowsFile.discard();
      throw error;
    }
  }

  async add(row: PreparedRow): Promise<void> {
    const { table, cells, sheetRow, ...content } = row;
    // Where pages end is part of the digest, so it does not depend on what no task gets.
    const bytes = Buffer.byteLength(preparedRowLine(content));
    if (this.#page.length >= this.#maxRows || this.#pageBytes + bytes > this.#maxBytes) await this.#writePage();
    const isFitting = cells !== undefined && Buffer.byteLength(JSON.stringify(cells)) <= maxCellBytes;
    const own = { sheetRow, table: this.#rows === 0 ? table : undefined, cells: isFitting ? cells : undefined };
    this.#digest.add(row);
    this.#page.push(preparedRowLine({ ...content, ...own }));
    this.#pageBytes += bytes;
    this.#rows += 1;
  }

  /** Puts both files under their names, replacing existing ones. What cannot be finished is removed, as by `discard`. */
  async finish(): Promise<PreparedRowsSummary> {
    try {
      await this.#writePage();
      await this.#indexFile.write(indexEntry(this.#bytes));
      // The index of previous rows must not be taken for that of these.
      await rm(preparedIndexPath(this.#path), { force: true });
      await this.#rowsFile.keep();
      await this.#indexFile.keep();
    } catch (error) {
      await this.discard();
      throw error;
    }
    return { rows: this.#rows, pages: this.#pages, bytes: this.#bytes, digest: this.#digest.hex() };
  }

  /** Removes what was written so far, instead of `finish`. */
  async discard(): Promise<void> {
    await this.#rowsFile.discard();
    await this.#indexFile.discard();
  }

  async #writePage(): Promise<void> {
    if (this.#page.length === 0) return;
    await this.#indexFile.write(indexEntry(this.#bytes));
    const content = Buffer.from(this.#page.join(''));
    await this.#rowsFile.write(content);
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

/** A file that gets its name only when it is complete. */
class AtomicFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  static async create(path: string): Promise<AtomicFile> {
    const temporary = `${path}.part-${randomUUID()}`;
    return new AtomicFile(path, temporary, await open(temporary, 'wx'));
  }

  async write(bytes: Buffer): Promise<void> {
    await this.#handle.appendFile(bytes);
  }

  async keep(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(this.#temporary, this.#path);
    const folder = await open(dirname(this.#path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.#temporary, { force: true });
  }
}
