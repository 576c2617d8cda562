import { randomUUID } from 'node:crypto';
import type { Archive } from './archive';
import { ArchiveError } from './errors';

const identityName = '.archive-id';

/**
 * What tells this archive from every other one: made by whoever asks first, and kept in it. Two workers that say the
 * same share one archive, and with it the create records. Throws ArchiveError.
 *
 * @internal exported for tests
 */
export async function readArchiveIdentity(archive: Archive): Promise<string> {
  const there = await writtenIdentity(archive);
  if (there !== '') return there;
  await archive.createOnce(identityName, `${randomUUID()}\n`);
  return await writtenIdentity(archive);
}

/** Empty where there is none. */
async function writtenIdentity(archive: Archive): Promise<string> {
  return (await archive.read(identityName))?.toString('utf8').trim() ?? '';
}

/** The identity as this process knows it: read once. */
export class ArchiveIdentity {
  private readonly archive: Archive;
  private known: string | undefined;

  constructor(archive: Archive) {
    this.archive = archive;
  }

  async get(): Promise<string> {
    this.known ??= await readArchiveIdentity(this.archive);
    return this.known;
  }

  /**
   * Throws ArchiveError when what is in its place now is not that archive: it was unmounted, emptied or exchanged. Records
   * in the one protect nothing in the other, and what is written now is hidden once the former is back.
   */
  async requireSame(): Promise<void> {
    const known = await this.get();
    if ((await writtenIdentity(this.archive)) === known) return;
    const words = `the archive of this worker (${this.archive.location}) is not the one that was there before: bring it back (is it unmounted?), or restart the workers if it was exchanged on purpose`;
    throw new ArchiveError('ARCHIVE_UNUSABLE', words);
  }
}
