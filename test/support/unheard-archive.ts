import { FolderArchive } from '../../src/storage/archive/folder-archive';
import { ArchiveError } from '../../src/storage/errors';

/** Answers the first claim of a create with an error, has kept it, and keeps it once more from being removed. */
export class UnheardArchive extends FolderArchive {
  #failures: ('putIfAbsent' | 'remove')[] = ['putIfAbsent', 'remove'];

  override async putIfAbsent(name: string, content: string): Promise<boolean> {
    const isMade = await super.putIfAbsent(name, content);
    this.#failOnce('putIfAbsent', name);
    return isMade;
  }

  override async remove(name: string): Promise<void> {
    this.#failOnce('remove', name);
    await super.remove(name);
  }

  #failOnce(method: 'putIfAbsent' | 'remove', name: string): void {
    if (this.#failures[0] !== method || !name.startsWith('.creates/')) return;
    this.#failures.shift();
    throw new ArchiveError('ARCHIVE_UNUSABLE', 'no answer');
  }
}
