import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, opendir, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '../../core/text';
import { ArchiveError } from '../errors';
import { hashFile, type Measure } from '../hash';
import { ContentError, ignoreLateErrors, writeContent } from '../spool';
import { NotAFileError, openRegularFile, readRange } from '../local-file';
import {
  type AddTo,
  type Archive,
  type ArchivedFile,
  boundedContent,
  isArchiveName,
  shownName,
  splitArchiveName,
  testFileName,
  type Expectation,
  type ListedFile,
  compareContent,
  type OpenedArchiveFile,
  type PutOptions,
} from './archive';
import { createFile, diskFailure, flushFolder, makeFolder, openNew, readFreeBytes } from './disk';

/** `PATH_MAX` without its end. */
const maxPathBytes = 4095;
const temporaryNameBytes = 64;

/** A file is written under a temporary name, flushed to the disk, and renamed when complete. */
export class FolderArchive implements Archive {
  readonly location: string;
  readonly maxNameBytes: number;
  readonly #what: string;
  /** Of records, whose folders are few. */
  readonly #flushedFolders = new Set<string>();

  /** @param folder - made when it is missing, at the first use. @param what - what messages call it. */
  constructor(folder: string, what = 'the archive') {
    this.location = resolve(folder);
    this.#what = what;
    this.maxNameBytes = maxPathBytes - Buffer.byteLength(this.location) - temporaryNameBytes;
  }

  locate(name: string): string {
    return join(this.location, ...splitArchiveName(name));
  }

  get disk(): string {
    return this.location;
  }

  async freeBytes(): Promise<number | undefined> {
    return await readFreeBytes(this.location);
  }

  async check(): Promise<void> {
    const name = testFileName();
    try {
      await this.replace(name, '');
      await this.append(name, () => ({ text: 'more' }));
    } finally {
      await this.remove(name);
    }
  }

  async put(name: string, content: Readable, options: PutOptions = {}, signal?: AbortSignal): Promise<ArchivedFile> {
    ignoreLateErrors(content);
    const path = this.locate(name);
    try {
      return { path, ...(await writeAtomically(path, content, options, signal)) };
    } catch (error) {
      content.destroy();
      signal?.throwIfAborted();
      throw error instanceof ContentError ? error.cause : this.#failure(error, name);
    }
  }

  async find(name: string, expected: Expectation = {}, signal?: AbortSignal): Promise<ArchivedFile | undefined> {
    const compare = async (): Promise<ArchivedFile | undefined> => {
      const path = this.locate(name);
      const measured = await hashFile(path, signal);
      return compareContent(measured, expected) === undefined ? { path, ...measured } : undefined;
    };
    return await this.#ifThere(name, compare, signal);
  }

  async isKept(name: string, { bytes }: Measure): Promise<boolean> {
    return (await this.size(name)) === bytes;
  }

  async size(name: string): Promise<number | undefined> {
    const found = await this.#ifThere(name, () => stat(this.locate(name)));
    return found?.isFile() === true ? found.size : undefined;
  }

  async read(name: string): Promise<Buffer | undefined> {
    return await this.#ifThere(name, () => readFile(this.locate(name)));
  }

  async open(name: string, signal?: AbortSignal): Promise<OpenedArchiveFile | undefined> {
    try {
      const where = this.locate(name);
      const { file, stats } = await openRegularFile(await realpath(where));
      const bytes = Number(stats.size);
      const toError = (error: unknown): ArchiveError => this.#failure(error, name);
      const content = boundedContent(readRange(file, 0, bytes), { where, bytes, signal, toError });
      // All was read: a failed close changes nothing.
      content.once('close', () => void file.close().catch(() => undefined));
      return { content, bytes };
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || error instanceof NotAFileError) return undefined;
      throw this.#failure(error, name);
    }
  }

  link(): Promise<null> {
    return Promise.resolve(null);
  }

  async putIfAbsent(name: string, content: string, options: Pick<PutOptions, 'isFlushedLater'> = {}): Promise<boolean> {
    const path = this.locate(name);
    try {
      if (options.isFlushedLater !== true) await this.#makeShared(dirname(path));
      else await makeFolder(dirname(path));
      return await createFile(path, content, options.isFlushedLater);
    } catch (error) {
      throw this.#failure(error, name);
    }
  }

  /** One that another process or call made may not be flushed yet, or its maker died. */
  async #makeShared(folder: string): Promise<void> {
    const isFlushed = (await makeFolder(folder)) || this.#flushedFolders.has(folder);
    if (!isFlushed) await flushFolder(dirname(folder));
    this.#flushedFolders.add(folder);
  }

  async replace(name: string, content: string, options?: Pick<PutOptions, 'isFirst'>): Promise<void> {
    await this.put(name, Readable.from([Buffer.from(content)], { objectMode: false }), options);
  }

  async append(name: string, add: AddTo): Promise<boolean> {
    const path = this.locate(name);
    const addTo = async (): Promise<true> => {
      const file = await open(path, constants.O_RDWR | constants.O_APPEND);
      try {
        const addition = await add(await file.readFile());
        if (addition === undefined) return true;
        await file.writeFile(addition.text);
        if (addition.isFlushedLater !== true) await file.sync();
        return true;
      } finally {
        await file.close();
      }
    };
    return (await this.#ifThere(name, addTo)) ?? false;
  }

  async remove(name: string): Promise<void> {
    try {
      await rm(this.locate(name), { force: true });
    } catch (error) {
      throw this.#failure(error, name);
    }
  }

  async *list(
    folder: string,
    onForeign?: (place: string) => void,
    prefix = '',
  ): AsyncGenerator<ListedFile, void, undefined> {
    const path = folder === '' ? this.location : this.locate(folder);
    try {
      for await (const entry of await opendir(path)) {
        if (!entry.name.startsWith(prefix)) continue;
        const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (!isArchiveName(entry.name)) onForeign?.(name);
        else if (entry.isDirectory()) yield* this.list(name, onForeign);
        else if (entry.isFile() && !/^\.part-[0-9a-f]{16}-/.test(entry.name)) {
          const found = await stat(join(path, entry.name)).catch((error: unknown) => {
            if (errorCode(error) === 'ENOENT') return undefined;
            throw error;
          });
          if (found !== undefined) yield { name, bytes: found.size, keptAtMs: found.mtimeMs };
        }
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      // Such as `lost+found`; Longhaul's own records are never passed over.
      const mayPass = errorCode(error) === 'EACCES' && folder !== '' && !folder.startsWith('.');
      if (!mayPass || onForeign === undefined) throw this.#failure(error, folder);
      onForeign(folder);
    }
  }

  /** Undefined for what is not there; any other failure must not look like no file. */
  async #ifThere<T>(name: string, read: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      signal?.throwIfAborted();
      throw this.#failure(error, name);
    }
  }

  #failure(error: unknown, name: string): ArchiveError {
    return diskFailure(error, { where: `${this.#what} ${this.location}`, name: shownName(name) });
  }
}

async function writeAtomically(
  path: string,
  content: Readable,
  options: PutOptions,
  signal: AbortSignal | undefined,
): Promise<Measure> {
  const folder = dirname(path);
  // The same for all temporary names of this file; short, however long its own name is.
  const prefix = `.part-${createHash('sha256').update(path).digest('hex').slice(0, 16)}-`;
  if (options.isFirst !== true) await removeLeftovers(folder, prefix);
  const temporary = join(folder, `${prefix}${randomUUID()}`);
  try {
    const measured = await writeFlushed(temporary, content, signal);
    const problem = compareContent(measured, options);
    if (problem !== undefined) throw new ArchiveError('NOT_WHOLE', `${path} is not kept: ${problem}`);
    await rename(temporary, path);
    if (options.isFlushedLater !== true) await flushFolder(folder);
    return measured;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function removeLeftovers(folder: string, prefix: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const leftovers = entries.filter((entry) => entry.startsWith(prefix));
  await Promise.all(leftovers.map((entry) => rm(join(folder, entry), { force: true })));
}

/** Flushed before it has its name, which proves that the file is complete, also after a power failure. */
async function writeFlushed(path: string, content: Readable, signal: AbortSignal | undefined): Promise<Measure> {
  const file = await openNew(path);
  try {
    const measured = await writeContent(content, file, { signal });
    await file.sync();
    return measured;
  } finally {
    await file.close();
  }
}
