import { randomUUID } from 'node:crypto';
import type { Archive } from './archive';

const identityName = '.archive-id';

/**
 * What tells this archive from every other one: made by whoever asks first, and kept in it. Two workers that say the
 * same share one archive, and with it the create records. Throws ArchiveError.
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

  /** Whether what is in its place now is still that archive: it may have been unmounted, emptied or exchanged. */
  async isStillThere(): Promise<boolean> {
    const known = await this.get();
    return (await writtenIdentity(this.archive)) === known;
  }
}
