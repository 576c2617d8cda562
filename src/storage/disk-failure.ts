import { errorCode } from '../domain/text';
import { ArchiveError } from './errors';
import { safeCause } from './system-error';

/** A disk, a quota or the process's own limit has no room for more. */
const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** The error that a failure of the file system becomes: what happened, in words, and what to do about it. */
export function diskFailure(error: unknown, { where, name }: { where: string; name: string }): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const code = errorCode(error);
  const isFull = fullCodes.includes(code);
  return new ArchiveError(
    isFull ? 'ARCHIVE_FULL' : 'ARCHIVE_UNUSABLE',
    isFull
      ? `${where} has no space left for ${name} (${code}); make room on its disk`
      : `${where} cannot keep or give ${name} (${code}); check its disk and who may write there`,
    { cause: safeCause(error) },
  );
}
