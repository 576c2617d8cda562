import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '../core/text';
import type { Archive, Expectation } from '../storage/archive/archive';
import { diskFailure } from '../storage/archive/disk';
import { FolderArchive } from '../storage/archive/folder-archive';
import { ArchiveError } from '../storage/errors';
import { isInside } from '../storage/local-file';
import { ResultsError } from './errors';

export interface WantedFile extends Expectation {
  readonly archive: Archive;
  readonly from: string;
  readonly to: string;
  /** Whether nothing of its task was fetched before. */
  readonly isNew: boolean;
}

export interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Whether it was fetched now; otherwise it was there, complete. */
  readonly isNew: boolean;
}

/** Nothing is written outside of the folder, whatever names and links there are. */
export class Destination {
  readonly path: string;
  readonly #folder: FolderArchive;

  constructor(folder: string) {
    this.#folder = new FolderArchive(folder, 'the folder');
    this.path = this.#folder.location;
  }

  /** Keeps a file that is there with the right content. Another one is replaced unless `isNew`. */
  async fetch(
    { archive, from, to, isNew, ...expected }: WantedFile,
    { signal, onBytes }: { readonly signal?: AbortSignal; readonly onBytes?: (bytes: number) => void } = {},
  ): Promise<KeptFile> {
    await this.#writing(() => this.#requireInside(to));
    if (expected.sha256 !== undefined) {
      const there = await this.#writing(() => this.#folder.find(to, expected, signal));
      if (there !== undefined) return { ...there, isNew: false };
    }
    if (isNew && (await this.#writing(() => this.#folder.size(to))) !== undefined) {
      const path = this.#folder.locate(to);
      throw new ResultsError('unwritable', `${path} is another file, and is not replaced; give another folder.`);
    }
    const opened = await archive.open(from, signal);
    if (opened === undefined) {
      throw new ResultsError('missing', `${archive.locate(from)} is not there any more.`);
    }
    const { content } = opened;
    let failure: unknown;
    content.once('error', (error) => (failure = error));
    const counted = async function* (): AsyncGenerator<Buffer, void, undefined> {
      let bytes = 0;
      for await (const chunk of content as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        onBytes?.(bytes);
        yield chunk;
      }
    };
    try {
      const source = Readable.from(counted(), { objectMode: false });
      return { ...(await this.#folder.put(to, source, expected, signal)), isNew: true };
    } catch (error) {
      content.destroy();
      throw error === failure ? error : toFailure(error, archive.locate(from));
    }
  }

  async read(name: string): Promise<Buffer | undefined> {
    return await this.#writing(async () => {
      await this.#requireInside(name);
      return await this.#folder.read(name);
    });
  }

  async keep(to: string, text: Buffer): Promise<void> {
    await this.#writing(async () => {
      await this.#requireInside(to);
      await this.#folder.replace(to, text.toString('utf8'));
    });
  }

  /** A link in the folder may lead elsewhere. */
  async #requireInside(name: string): Promise<void> {
    const path = this.#folder.locate(name);
    const root = await this.#real(this.path);
    const place = await this.#nearest(dirname(path));
    if (root === undefined || place === undefined || place === root || isInside(place, root)) return;
    throw new ResultsError('unwritable', `${path} leads out of the folder ${this.path}: a folder in it is a link.`);
  }

  /** Resolved, or the nearest folder above it that is there and not above the destination. */
  async #nearest(folder: string): Promise<string | undefined> {
    const found = await this.#real(folder);
    if (found !== undefined || folder === this.path || !isInside(folder, this.path)) return found;
    return await this.#nearest(dirname(folder));
  }

  async #real(path: string): Promise<string | undefined> {
    try {
      return await realpath(path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw diskFailure(error, { where: `the folder ${this.path}`, name: 'a file' });
    }
  }

  async #writing<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw toFailure(error, this.path);
    }
  }
}

/** Replaces the file as a whole. Throws ArchiveError or ResultsError. */
export async function writeLocalFile(
  file: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const content = Readable.from(chunks, { objectMode: false });
  let failure: unknown;
  content.once('error', (error) => (failure = error));
  try {
    const { path, bytes } = await new FolderArchive(dirname(file), 'the folder').put(basename(file), content);
    return { path, bytes };
  } catch (error) {
    throw error === failure ? error : toFailure(error, file);
  }
}

function toFailure(error: unknown, from: string): unknown {
  if (!(error instanceof ArchiveError)) return error;
  if (error.code === 'NAME_INVALID') {
    return new ResultsError('damaged', `A manifest names a file that would not be in the folder: ${error.message}.`);
  }
  if (error.code !== 'NOT_WHOLE') return new ResultsError('unwritable', error.message, { cause: error });
  const words = `${from} is not what its manifest says (${error.message}); it was changed or damaged since.`;
  return new ResultsError('damaged', words, { cause: error });
}
