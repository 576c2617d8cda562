import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ArchiveError } from '../errors';
import type { Archive } from './archive';

const identityName = '.archive-id';
/** So long an id may be on its way: another worker has made its file, and not written it yet. */
const identityWithinMs = 2_000;
const readIdentityEveryMs = 50;

/**
 * The random id of this archive: made at the first use, and kept in it. Two workers that read the
 * same share one archive, and with it the create records. Throws ArchiveError, also where its file stays empty: without
 * an id, an archive that is unmounted would look like this one.
 */
export async function readArchiveIdentity(archive: Archive): Promise<string> {
  if (await isNewArchive(archive)) await archive.putIfAbsent(identityName, `${randomUUID()}\n`);
  return await whenWritten(archive);
}

/** The id, once the worker that makes it has written it. */
async function whenWritten(archive: Archive): Promise<string> {
  const untilMs = Date.now() + identityWithinMs;
  for (;;) {
    const id = await writtenIdentity(archive);
    if (id !== '') return id;
    if (Date.now() >= untilMs) throw emptyIdentity(archive);
    await delay(readIdentityEveryMs);
  }
}

function emptyIdentity(archive: Archive): ArchiveError {
  const words = `${archive.locate(identityName)} is empty: a worker ended while it wrote the id of this archive. Remove the file, and start the workers again`;
  return new ArchiveError('ARCHIVE_UNUSABLE', words);
}

/** Whether no worker has used this archive yet, as of a mistyped path or a disk that is not mounted. Throws ArchiveError. */
async function isNewArchive(archive: Archive): Promise<boolean> {
  return (await archive.read(identityName)) === undefined;
}

/** The id of an archive; null for a new one, which is left as it is. Throws ArchiveError. */
export async function findArchiveIdentity(archive: Archive): Promise<string | null> {
  return (await isNewArchive(archive)) ? null : await whenWritten(archive);
}

/**
 * The id of an archive; null for a new one, which is left as it is: a folder whose disk is not mounted stays empty. Throws
 * ArchiveError where the tasks have another archive, as the given function finds out: by the files of this one their keys
 * could be paid twice, and every result would be called lost.
 */
export async function requireArchiveOfTasks(
  archive: Archive,
  findOther: (id: string | null) => Promise<{ readonly found: string; readonly remedy: string } | undefined>,
): Promise<string | null> {
  const id = await findArchiveIdentity(archive);
  const other = await findOther(id);
  if (other === undefined) return id;
  throw new ArchiveError('ARCHIVE_UNUSABLE', `${archive.location}: ${other.found}. ${other.remedy}`);
}

/** Empty where there is none. */
async function writtenIdentity(archive: Archive): Promise<string> {
  return (await archive.read(identityName))?.toString('utf8').trim() ?? '';
}

/** The identity as this process knows it: read once. */
export class ArchiveIdentity {
  readonly #archive: Archive;
  #known: string | undefined;

  /** @param known - read before, by {@link readArchiveIdentity}. Absent: it is that of the archive at the first use. */
  constructor(archive: Archive, known?: string) {
    this.#archive = archive;
    this.#known = known;
  }

  async get(): Promise<string> {
    this.#known ??= await readArchiveIdentity(this.#archive);
    return this.#known;
  }

  /** Does what reads or writes the archive. It has done so only if that was the same one from its begin to its end. */
  async during<Result>(use: () => Promise<Result>): Promise<Result> {
    await this.requireSame();
    const result = await use();
    await this.requireSame();
    return result;
  }

  /**
   * Throws ArchiveError when what is in its place now is not that archive: it was unmounted, emptied or exchanged.
   * Records in the one protect nothing in the other, and what is written now is hidden once the first is back.
   */
  async requireSame(): Promise<void> {
    const known = await this.get();
    if ((await writtenIdentity(this.#archive)) === known) return;
    const words = `the archive of this worker (${this.#archive.location}) is not the one that was there before: bring it back (is it unmounted?), or restart the workers if it was exchanged on purpose: at their start they say what that takes`;
    throw new ArchiveError('ARCHIVE_UNUSABLE', words);
  }
}
