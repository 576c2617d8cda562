import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ArchiveError } from '../errors';
import type { Archive } from './archive';

const identityName = '.archive-id';
/** How long to wait for an id whose file another worker has made and not yet written. */
const identityWithinMs = 2_000;
const readIdentityEveryMs = 50;
/** For so long after its id was read it is enough that the archive has one: it is neither unmounted nor emptied. */
const sameForMs = 1_000;

interface KnownIdentity {
  /** Random: workers that read the same one share one archive, and with it the create records. */
  readonly id: string;
  /** The namespace of Temporal whose workflow ids the archive's names have. */
  readonly namespace: string;
}

/** The archive's identity, made at the first use. Throws ArchiveError, also where its file stays incomplete. */
export async function readArchiveIdentity(archive: Archive, namespace = 'default'): Promise<KnownIdentity> {
  if ((await archive.read(identityName)) === undefined) {
    await archive.putIfAbsent(identityName, `${randomUUID()}\n${namespace}\n`);
  }
  return await whenWritten(archive);
}

/** The identity; null for a new archive, which is left as it is. Throws ArchiveError. */
export async function findArchiveIdentity(archive: Archive): Promise<KnownIdentity | null> {
  return (await archive.read(identityName)) === undefined ? null : await whenWritten(archive);
}

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

/** Null for a new archive. Throws ArchiveError where `findOther` finds that the tasks have another archive. */
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

async function writtenIdentity(archive: Archive): Promise<KnownIdentity | undefined> {
  const text = (await archive.read(identityName))?.toString('utf8') ?? '';
  const [, id, namespace] = /^(\S[^\n]*)\n(\S[^\n]*)\n/.exec(text) ?? [];
  return id === undefined || namespace === undefined ? undefined : { id, namespace };
}

export class ArchiveIdentity {
  readonly #archive: Archive;
  #known: string | undefined;
  #sameAtMs = -Infinity;

  /** @param known - read before; absent: that of the archive at the first use. */
  constructor(archive: Archive, known?: string) {
    this.#archive = archive;
    this.#known = known;
  }

  async get(): Promise<string> {
    this.#known ??= (await readArchiveIdentity(this.#archive)).id;
    return this.#known;
  }

  /** Throws ArchiveError unless the archive was the same one before and after `use`. */
  async during<Result>(use: () => Promise<Result>): Promise<Result> {
    await this.requireSame();
    const result = await use();
    await this.requireSame({ anew: true });
    return result;
  }

  /** Throws ArchiveError when another archive is in its place: it was unmounted, emptied or, a second ago, exchanged. */
  async requireSame({ anew = false } = {}): Promise<void> {
    const known = await this.get();
    const nowMs = performance.now();
    if (!anew && nowMs < this.#sameAtMs + sameForMs && (await this.#archive.size(identityName)) !== undefined) return;
    if ((await writtenIdentity(this.#archive))?.id === known) {
      this.#sameAtMs = nowMs;
      return;
    }
    const words = `the archive of this worker (${this.#archive.location}) is not the one that was there before: bring it back (is it unmounted?), or restart the workers if it was exchanged on purpose: at their start they say what that takes`;
    throw new ArchiveError('ARCHIVE_UNUSABLE', words);
  }
}
