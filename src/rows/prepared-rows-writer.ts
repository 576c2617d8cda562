import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { maxPreparedRowBytes, type PreparedRow, preparedRowLine } from './prepared-row';
import { RowsDigest } from './rows-digest';

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
  /** SHA-256 (hex) of every row's key and digest, in order and by page: the same rows have the same, wherever they stood. */
  readonly digest: string;
}

/** Bytes of one entry of the index: an unsigned offset, the highest byte first. */
export const indexEntryBytes = 8;

/** Where the index of a file of prepared rows is. */
export function preparedIndexPath(path: string): string {
  return `${path}.index`;
}

/**
 * Writes prepared rows, one JSON line each, and beside them an index: where each page begins, and where the last one
 * ends. Both appear under their names when they are whole and on the disk, the index last; a file without an index is
 * what an interrupted writer left behind. Holds one page.
 */
export class PreparedRowsWriter {
  private readonly path: string;
  private readonly maxRows: number;
  private readonly maxBytes: number;
  private readonly rowsFile: WholeFile;
  private readonly indexFile: WholeFile;
  private readonly digest = new RowsDigest();
  private page: string[] = [];
  private pageBytes = 0;
  private rows = 0;
  private pages = 0;
  private bytes = 0;

  private constructor(path: string, limits: PageLimits, rowsFile: WholeFile, indexFile: WholeFile) {
    this.path = path;
    this.maxRows = limits.rows ?? 200;
    this.maxBytes = limits.bytes ?? maxPreparedRowBytes;
    this.rowsFile = rowsFile;
    this.indexFile = indexFile;
  }

  /** Throws the system's error when the folder is not there or cannot be written. */
  static async create(path: string, limits: PageLimits = {}): Promise<PreparedRowsWriter> {
    const rowsFile = await WholeFile.create(path);
    try {
      return new PreparedRowsWriter(path, limits, rowsFile, await WholeFile.create(preparedIndexPath(path)));
    } catch (error) {
      await rowsFile.discard();
      throw error;
    }
  }

  async add(row: PreparedRow): Promise<void> {
    const line = preparedRowLine(row);
    const bytes = Buffer.byteLength(line);
    if (this.page.length >= this.maxRows || this.pageBytes + bytes > this.maxBytes) await this.writePage();
    this.digest.add(row);
    this.page.push(line);
    this.pageBytes += bytes;
    this.rows += 1;
  }

  /** Puts both files under their names; what stood there before is replaced. */
  async finish(): Promise<PreparedRowsSummary> {
    await this.writePage();
    await this.indexFile.write(indexEntry(this.bytes));
    // The index of former rows must not be taken for that of these.
    await rm(preparedIndexPath(this.path), { force: true });
    await this.rowsFile.keep();
    await this.indexFile.keep();
    return { rows: this.rows, pages: this.pages, bytes: this.bytes, digest: this.digest.hex() };
  }

  /** Removes what was written so far, instead of `finish`. */
  async discard(): Promise<void> {
    await this.rowsFile.discard();
    await this.indexFile.discard();
  }

  private async writePage(): Promise<void> {
    if (this.page.length === 0) return;
    await this.indexFile.write(indexEntry(this.bytes));
    await this.rowsFile.write(Buffer.from(this.page.join('')));
    this.digest.endPage();
    this.bytes += this.pageBytes;
    this.pages += 1;
    this.page = [];
    this.pageBytes = 0;
  }
}

function indexEntry(offset: number): Buffer {
  const entry = Buffer.alloc(indexEntryBytes);
  entry.writeBigUInt64BE(BigInt(offset));
  return entry;
}

/** A file that has its name only when it is whole. */
class WholeFile {
  private readonly path: string;
  private readonly temporary: string;
  private readonly handle: FileHandle;

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.path = path;
    this.temporary = temporary;
    this.handle = handle;
  }

  static async create(path: string): Promise<WholeFile> {
    const temporary = `${path}.part-${randomUUID()}`;
    return new WholeFile(path, temporary, await open(temporary, 'wx'));
  }

  async write(bytes: Buffer): Promise<void> {
    await this.handle.appendFile(bytes);
  }

  async keep(): Promise<void> {
    await this.handle.sync();
    await this.handle.close();
    await rename(this.temporary, this.path);
    const folder = await open(dirname(this.path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.temporary, { force: true });
  }
}
