import { maxPartBytes } from '../domain/archive-name';
import { showValue } from '../domain/show-value';
import { utf8Bytes } from '../domain/utf8-bytes';

/** Leaves room for a task's own names and the archive's prefix in the 1,024 bytes of an object's name. */
const maxFolderBytes = 500;

/** A folder inside the worker's archive, as a task or a batch names it: relative, no part beginning with a dot; `''` is its top. */
export function isArchiveFolder(value: unknown): value is string {
  if (value === '') return true;
  return typeof value === 'string' && value.split('/').every((part) => /^(?!\.)[\p{L}\p{N} ._-]{1,120}$/u.test(part));
}

/** What to give instead of what is none. */
export const archiveFolderRemedy =
  'a folder inside the worker’s archive, such as "campaign-7/drafts": relative, no part beginning with a dot';

/** Why names in this folder would be more than file systems and buckets take, although it {@link isArchiveFolder}. */
export function longFolderProblem(folder: string): string | undefined {
  const isShort =
    utf8Bytes(folder) <= maxFolderBytes && folder.split('/').every((part) => utf8Bytes(part) <= maxPartBytes);
  if (isShort) return undefined;
  return `archive is ${showValue(folder)}; give at most ${maxPartBytes} bytes of UTF-8 between two slashes and ${maxFolderBytes} in all.`;
}

/** Below it every batch keeps its record, its results and, unless told otherwise, its outputs. */
const batchesFolder = 'batches';

/** Where a batch keeps what it has in the archive. */
export function batchFolder(batchId: string): string {
  return `${batchesFolder}/${batchId}`;
}

/** Where the outputs of a batch's rows go that name no folder. */
export function defaultRowFolder(batchId: string): string {
  return `${batchFolder(batchId)}/outputs`;
}

/**
 * Why a task's files must not go into this folder, although it {@link isArchiveFolder}: what is there is a batch's own,
 * and replaced or removed by it. Undefined when they may. Only the outputs' folder of a row's own batch is open to it.
 *
 * @param batchId - of the batch that the task is a row of; null for any other task.
 */
export function reservedFolderProblem(folder: string, batchId: string | null): string | undefined {
  if (fold(folder.split('/')[0] ?? '') !== batchesFolder) return undefined;
  const own = batchId === null ? undefined : defaultRowFolder(batchId);
  if (own !== undefined && (folder === own || folder.startsWith(`${own}/`))) return undefined;
  const allowed = own === undefined ? '' : ` ${showValue(own)}, a folder in it, or`;
  return `archive is ${showValue(folder)}, which is reserved for the records of batches; give${allowed} a folder outside "${batchesFolder}".`;
}

/** One spelling of all that some file system takes for the same name: case, composed letters, dots and spaces at the end. */
function fold(part: string): string {
  return part
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[. ]+$/, '');
}
