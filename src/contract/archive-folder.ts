import { maxPartBytes } from '../domain/archive-name';
import { parseOutputNameTemplate } from '../domain/output-name-template';
import { showValue } from '../domain/show-value';
import { utf8Bytes } from '../domain/utf8-bytes';
import type { OutputNaming } from './batch-input';

/** Leaves room for a task's own names and the archive's prefix in the 1,024 bytes of an object's name. */
const maxFolderBytes = 500;
/** Longer than any template that can be used. */
const maxTemplateCharacters = 1_000;

/** A folder inside the worker's archive, as a task or a batch names it: relative, no part beginning with a dot; `''` is its top. */
export function isArchiveFolder(value: unknown): value is string {
  if (value === '') return true;
  return typeof value === 'string' && value.split('/').every((part) => /^(?!\.)[\p{L}\p{N} ._-]{1,120}$/u.test(part));
}

/** Whether an archive folder leaves room for a task's names, on every file system and in every bucket. */
export function isShortArchiveFolder(folder: string): boolean {
  return utf8Bytes(folder) <= maxFolderBytes && folder.split('/').every((part) => utf8Bytes(part) <= maxPartBytes);
}

/** What to give instead of what is none. */
export const archiveFolderRemedy =
  'a folder inside the worker’s archive, such as "campaign-7/drafts": relative, no part beginning with a dot, ' +
  `at most ${maxPartBytes} bytes of UTF-8 between two slashes and ${maxFolderBytes} in all`;

/** What would be found out only when the task is paid and its outputs are to be named. */
export function namingProblems({ template: text, columns }: OutputNaming): readonly string[] {
  if (text.length > maxTemplateCharacters) {
    return [`batch.names.template has ${text.length} characters; give at most ${maxTemplateCharacters}.`];
  }
  const { template, problems } = parseOutputNameTemplate(text);
  if (template === undefined) return problems.map((problem) => `batch.names.template: ${problem}`);
  return template.columns.flatMap((column) => {
    const problem = `batch.names.columns has no ${showValue(column)}, which the template ${showValue(text)} asks for; give it.`;
    return Object.hasOwn(columns, column) ? [] : [problem];
  });
}
