/** A folder inside the worker's archive, as a task or a batch names it: relative, no part beginning with a dot; `''` is its top. */
export function isArchiveFolder(value: unknown): value is string {
  if (value === '') return true;
  return typeof value === 'string' && value.split('/').every((part) => /^(?!\.)[\p{L}\p{N} ._-]{1,120}$/u.test(part));
}

/** What to give instead of what is none. */
export const archiveFolderRemedy =
  'a folder inside the worker’s archive, such as "campaign-7/drafts": relative, no part beginning with a dot';
