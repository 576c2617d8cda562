import { isRecord } from '../core/json';
import { maxPartBytes } from '../core/archive-name';
import { parseOutputNameTemplate } from '../core/output-name-template';
import { showValue, utf8Bytes } from '../core/text';
import { batchWorkflowId, isTaskKey, rowWorkflowId } from './workflow-ids';

/** What a row's task knows of its batch. */
export interface BatchMembership {
  readonly id: string;
  readonly key: string;
  /** How the archived files are named; absent: `{requestId}/{index}{ext}`. */
  readonly names?: OutputNaming;
}

export interface OutputNaming {
  readonly template: string;
  /** Columns of the row that the template asks for. */
  readonly columns: Readonly<Record<string, string>>;
}

export function isBatchMembership(value: unknown): value is BatchMembership {
  const { id, key, names } = isRecord(value) ? value : {};
  if (!isTaskKey(id) || !isTaskKey(key)) return false;
  if (names === undefined) return true;
  if (!isRecord(names) || typeof names['template'] !== 'string' || !isRecord(names['columns'])) return false;
  return Object.values(names['columns']).every((column) => typeof column === 'string');
}

/** Leaves room for a task's own names and the archive's prefix in the 1,024 bytes of an object's name. */
const maxFolderBytes = 500;

/** Relative, no part beginning with a dot; `''` is the top of the archive. */
export function isArchiveFolder(value: unknown): value is string {
  if (value === '') return true;
  return typeof value === 'string' && value.split('/').every((part) => /^(?!\.)[\p{L}\p{N} ._-]{1,120}$/u.test(part));
}

export const archiveFolderRemedy =
  'a folder inside the worker’s archive, such as "campaign-7/drafts": relative, no part beginning with a dot';

/** Why names in this folder would be longer than file systems and buckets take. */
export function longFolderProblem(folder: string): string | undefined {
  const isShort =
    utf8Bytes(folder) <= maxFolderBytes && folder.split('/').every((part) => utf8Bytes(part) <= maxPartBytes);
  if (isShort) return undefined;
  return `archive is ${showValue(folder)}; give at most ${maxPartBytes} bytes of UTF-8 between two slashes and ${maxFolderBytes} in all.`;
}

/** Below it every batch keeps its record, its results and, by default, its outputs. */
const batchesFolder = 'batches';

export function batchFolder(batchId: string): string {
  return `${batchesFolder}/${batchId}`;
}

/** Where the outputs of a batch's rows go that name no folder. */
export function defaultRowFolder(batchId: string): string {
  return `${batchFolder(batchId)}/outputs`;
}

/**
 * A batch replaces and removes what is in its folder: only outputs of its own rows may go there.
 * @param batchId - of the batch that the task is a row of; null for any other task.
 */
export function reservedFolderProblem(folder: string, batchId: string | null): string | undefined {
  // One spelling of what file systems take for the same name: case, composed letters, dots and spaces at the end.
  const first = (folder.split('/')[0] ?? '').normalize('NFKC').toLowerCase();
  if (first.replace(/(?<![. ])[. ]+$/, '') !== batchesFolder) return undefined;
  const own = batchId === null ? undefined : defaultRowFolder(batchId);
  if (own !== undefined && (folder === own || folder.startsWith(`${own}/`))) return undefined;
  const allowed = own === undefined ? '' : ` ${showValue(own)}, a folder in it, or`;
  return `archive is ${showValue(folder)}, which is reserved for the records of batches; give${allowed} a folder outside "${batchesFolder}".`;
}

const maxTemplateCharacters = 1_000;

export interface TaskPlace {
  readonly archiveFolder: string;
  readonly batch: BatchMembership | null;
}

/** Only the id `batch:<id>:<key>` makes a task that row; only rows use a batch's folder; outputs must get names. */
export function taskPlaceProblems({ archiveFolder, batch }: TaskPlace, workflowId: string): readonly string[] {
  const { id = '', key = '', names } = batch ?? {};
  const isRow = batch === null || rowWorkflowId(id, key) === workflowId;
  const foreign = `batch is ${showValue({ id, key })}, but the workflow ${showValue(workflowId)} is not that row; leave batch out, or run the row with its batch.`;
  const problems = [
    isRow ? undefined : foreign,
    reservedFolderProblem(archiveFolder, batch?.id ?? null),
    longFolderProblem(archiveFolder),
  ];
  return [
    ...problems.filter((problem) => problem !== undefined),
    ...(names === undefined ? [] : namingProblems(names)),
  ];
}

/** What would be found out only when the task is paid and its outputs are to be named. */
function namingProblems({ template: text, columns }: OutputNaming): readonly string[] {
  if (text.length > maxTemplateCharacters) {
    return [`batch.names.template has ${text.length} characters; give at most ${maxTemplateCharacters}.`];
  }
  const { template, problems } = parseOutputNameTemplate(text);
  if (template === undefined) return problems.map((problem) => `batch.names.template: ${problem}`);
  const missing = template.columns.filter((column) => !Object.hasOwn(columns, column));
  return missing.map((column) => {
    return `batch.names.columns has no ${showValue(column)}, which the template ${showValue(text)} asks for; give it.`;
  });
}

/** A batch's record is kept under its id, so only one workflow may keep it. */
export function batchPlaceProblems({ id }: { readonly id: string }, workflowId: string): readonly string[] {
  const own = batchWorkflowId(id);
  if (own === workflowId) return [];
  return [`id is ${showValue(id)}, but the workflow id is ${showValue(workflowId)}; start it as ${showValue(own)}.`];
}
