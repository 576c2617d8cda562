import { maxPartBytes } from '../domain/archive-name';
import { ArchiveError } from './errors';

/**
 * The parts of a name in the archive.
 *
 * @throws ArchiveError `NAME_INVALID` when it could lead out of the archive or cannot be a file's name.
 */
export function archiveNameParts(name: string): readonly string[] {
  const parts = name.split('/');
  const isInvalid = parts.some(
    (part) =>
      part === '' ||
      part === '.' ||
      part === '..' ||
      /[\p{Cc}\\]/u.test(part) ||
      Buffer.byteLength(part) > maxPartBytes,
  );
  if (isInvalid) throw new ArchiveError('NAME_INVALID', `${JSON.stringify(name)} cannot be a name in the archive`);
  return parts;
}
