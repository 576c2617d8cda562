import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ArchiveError } from '../errors';
import type { Archive } from './archive';

const identityName = '.archive-id';
/** So long an id may be on its way: another worker has made its file, and not written it yet. */
const identityWithinMs = 2_000;
const readIdentityEveryMs = 50;

/** What `.archive-id` says, a line each. */
interface KnownIdentity {
  /** Random: two workers that read the same share one archive, and with it the create records. */
  readonly id: string;
  /** The namespace of Temporal whose workflow ids the names in the archive are. */
  readonly namespace: string;
}

/**
 * The identity of this archive: made at the first use, for this namespace, and kept in it. Throws ArchiveError, also where
 * its file stays incomplete: without an id, an archive that is unmounted would look like this one.
 */
export async function readArchiveIdentity(archive: Archive, namespace = 'default'): Promise<KnownIdentity> {
  if ((await archive.read(identityName)) === undefined) {
    await archive.putIfAbsent(identityName, `${randomUUID()}\n${namespace}\n`);
  }
  return await whenWritten(archive);
}

/** The identity of an archive; null for a new one, which is left as it is. Throws ArchiveError. */
export async function findArchiveIdentity(archive: Archive): Promise<KnownIdentity | null> {
  return (await archive.read(identityName)) === undefined ? null : await whenWritten(archive);
}

/** The identity, once the worker that makes it has written it. */
async function whenWritten(archive: Archive): Promise<KnownIdentity> {
  const untilMs = performance.now() + identityWithinMs;
  for (;;) {
    const identity = await writtenIdentity(archive);
    if (identity !== undefined) return identity;
    if (performance.now() >= untilMs) break;
    await delay(readIdentityEveryMs);
  }
  const words = `${archive.locate(identityName)} is incomplete: a worker ended while it wrote the id of this archive. Remove the file, and start the workers again`;
  throw new ArchiveError('ARCHIVE_UNUSABLE', words);
}

/** The identity of an archive, null for a new one. Throws ArchiveError where the tasks have another archive, as `findOther` finds out. */
export async function requireArchiveOfTasks(
  archive: Archive,
  findOther: (
    identity: KnownIdentity | null,
  ) => Promise<{ readonly found: string; readonly remedy: string } | undefined>,
): Promise<KnownIdentity | null> {
  const identity = await findArchiveIdentity(archive);
  const other = await findOther(identity);
  if (other === undefined) return identity;
  throw new ArchiveError('ARCHIVE_UNUSABLE', `${archive.location}: ${other.found}. ${other.remedy}`);
}

/** Undefined where there is none, or one that is not whole. */
async function writtenIdentity(archive: Archive): Promise<KnownIdentity | undefined> {
  const text = (await archive.read(identityName))?.toString('utf8') ?? '';
  const [, id, namespace] = /^(\S[^\n]*)\n(\S[^\n]*)\n/.exec(text) ?? [];
  return id === undefined || namespace === undefined ? undefined : { id, namespace };
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
    this.#known ??= (await readArchiveIdentity(this.#archive)).id;
    return this.#known;
  }

  /** Does what reads or writes the archive. It has done so only if that was the same one from its begin to its end. */
  async during<Result>(use: () => Promise<Result>): Promise<Result> {
    await this.requireSame();
    const result = await use();
    await this.requireSame();
    return result;
  }

  /** Throws ArchiveError when another archive is in the place of this one: it was unmounted, emptied or exchanged. */
  async requireSame(): Promise<void> {
    const known = await this.get();
    if ((await writtenIdentity(this.#archive))?.id === known) return;
    const words = `the archive of this worker (${this.#archive.location}) is not the one that was there before: bring it back (is it unmounted?), or restart the workers if it was exchanged on purpose: at their start they say what that takes`;
    throw new ArchiveError('ARCHIVE_UNUSABLE', words);
  }
}
