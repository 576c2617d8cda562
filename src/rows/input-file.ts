import { constants } from 'node:fs';
import { access, opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, showValue } from '../domain/text';
import { trimUnseen } from './table-cells';

/**
 * The size of an input file in bytes, or what is wrong with it as the rest of a sentence about it.
 *
 * @param start - where relative paths start.
 */
export async function inspectInputFile(
  file: string,
  start: string,
  folders = new FolderNames(),
): Promise<number | string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return 'is not a regular file; give the path of a file';
    if (stats.size === 0) return 'is empty; give a file that has content';
    await access(file, constants.R_OK);
    return stats.size;
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') return `cannot be read (${code}); check its permissions`;
    if (isWindowsPath(file))
      return 'does not exist: it has a path of Windows; write / in the place of \\, and no drive';
    const namesake = (await withoutMark(file)) ?? (await folders.namesake(file));
    return namesake === undefined ? `does not exist; relative paths start ${start}` : `does not exist; ${namesake}`;
  }
}

/** Whether a path was written in the form of Windows; on Windows such paths are valid. */
function isWindowsPath(file: string): boolean {
  return path.sep === '/' && /\\|(?:^|\/)[a-z]:\//i.test(file);
}

/** The file that is there without the `@` before its name, which a cell has and a template has not. */
async function withoutMark(file: string): Promise<string | undefined> {
  const unmarked = file.replace(/(^|\/)@/, '$1');
  if (unmarked === file || (await stat(unmarked).catch(() => undefined)) === undefined) return undefined;
  return `${showValue(unmarked)} is there: leave out the @, which is written only in cells without a template`;
}

/** So many names are read in all, and no folder beyond them: the hint is not worth more. */
const maxNames = 200_000;

/** The names in folders, without regard to capital letters, the forms of accents, and what cannot be seen around them. */
export class FolderNames {
  readonly #folders = new Map<string, ReadonlyMap<string, string>>();
  #count = 0;

  /** What is there in the place of a path that does not exist, and how it differs; `undefined`: nothing is, or it cannot be read. */
  async namesake(file: string): Promise<string | undefined> {
    const folder = path.dirname(file);
    if (folder === file) return undefined;
    const names = await this.#read(folder);
    // The folder itself may be written in another way.
    if (names === undefined) return await this.namesake(folder);
    const name = path.basename(file);
    const found = names.get(fold(name));
    if (found === undefined) return undefined;
    return `${showValue(path.join(folder, found))} is there: ${differenceBetween(found, name)}`;
  }

  /** `undefined` for what is no folder. */
  async #read(folder: string): Promise<ReadonlyMap<string, string> | undefined> {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const names = new Map<string, string>();
    try {
      for await (const { name } of await opendir(folder)) {
        this.#count += 1;
        if (this.#count > maxNames) break;
        names.set(fold(name), name);
      }
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    }
    this.#folders.set(folder, names);
    return names;
  }
}

function fold(name: string): string {
  return trimUnseen(name).normalize('NFC').toLowerCase();
}

function differenceBetween(found: string, name: string): string {
  if (trimUnseen(found) !== found || trimUnseen(name) !== name)
    return 'spaces and line ends around a name make a difference; write its name so';
  return found.normalize('NFC') === name.normalize('NFC')
    ? 'its name has its accents in the other form of Unicode (NFC, NFD); rename it, or copy its name from there'
    : 'capital letters make a difference; write its name so';
}
