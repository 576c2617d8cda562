import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from '../domain/text';
import { isUri } from '../domain/uri';

/** What the input files of all rows come to. */
export interface InputFileCount {
  /** Inputs that are files of this machine, counted once for every row that has them. */
  readonly references: number;
  /** Their size, in bytes: what would be uploaded if every row uploaded for itself. */
  readonly referencedBytes: number;
  /** Files of this machine, by path. */
  readonly distinct: number;
  /** Their size, in bytes. */
  readonly distinctBytes: number;
  /** Inputs named by a URI: they are not looked at. */
  readonly remoteReferences: number;
}

/** What is known of a file: its size or what is wrong with it, and whether a row was counted that has it. */
interface SeenFile {
  readonly size: number | string;
  isCounted: boolean;
}

/**
 * Looks at each input file once, however many rows have it. Remembers a hash and a size for each: some 200 bytes a
 * file.
 */
export class InputFileCensus {
  private readonly seen = new Map<string, SeenFile>();
  private readonly total = {
    references: 0,
    referencedBytes: 0,
    distinct: 0,
    distinctBytes: 0,
    remoteReferences: 0,
  };

  /** What is wrong with an input file, as the rest of a sentence about it; `undefined` when nothing is. */
  async check(file: string): Promise<string | undefined> {
    if (isUri(file)) return undefined;
    const { size } = await this.look(file);
    return typeof size === 'string' ? size : undefined;
  }

  /** Counts a file that will be uploaded. */
  async add(file: string): Promise<void> {
    if (isUri(file)) {
      this.total.remoteReferences += 1;
      return;
    }
    const seen = await this.look(file);
    if (typeof seen.size === 'string') return;
    this.total.references += 1;
    this.total.referencedBytes += seen.size;
    if (seen.isCounted) return;
    seen.isCounted = true;
    this.total.distinct += 1;
    this.total.distinctBytes += seen.size;
  }

  count(): InputFileCount {
    return { ...this.total };
  }

  private async look(file: string): Promise<SeenFile> {
    const name = createHash('sha256').update(file).digest('base64').slice(0, 22);
    const known = this.seen.get(name);
    if (known !== undefined) return known;
    const seen = { size: await sizeOfInputFile(file, 'from the folder of the row file'), isCounted: false };
    this.seen.set(name, seen);
    return seen;
  }
}

/**
 * The size of an input file in bytes, or what is wrong with it as the rest of a sentence about it.
 *
 * @param start - where relative paths start.
 */
export async function sizeOfInputFile(file: string, start: string): Promise<number | string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return 'is not a regular file; give the path of a file';
    if (stats.size === 0) return 'is empty; give a file that has content';
    await access(file, constants.R_OK);
    return stats.size;
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return `cannot be read (${code}); check its permissions`;
    return isWindowsPath(file)
      ? 'does not exist: it has a path of Windows; write / in the place of \\, and no drive'
      : `does not exist; relative paths start ${start}`;
  }
}

/** Whether a path, made absolute here, was written as Windows has it; there such paths are right. */
function isWindowsPath(file: string): boolean {
  return path.sep === '/' && /\\|(?:^|\/)[a-z]:\//i.test(file);
}
