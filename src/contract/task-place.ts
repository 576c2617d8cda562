import { parseOutputNameTemplate } from '../domain/output-name-template';
import { showValue } from '../domain/show-value';
import { longFolderProblem, reservedFolderProblem } from './archive-folder';
import type { BatchInput, BatchMembership, OutputNaming } from './batch-input';
import { batchWorkflowId, rowWorkflowId } from './workflow-ids';

/** Longer than any template that can be used. */
const maxTemplateCharacters = 1_000;

/** What a task's input says of where it belongs. */
export interface TaskPlace {
  readonly archiveFolder: string;
  readonly batch: BatchMembership | null;
}

/**
 * What is wrong with where a task says that it belongs, given its workflow id: only the id `batch:<id>:<key>` makes a
 * task that row of that batch, a batch's folder is open to no task but its rows, and its outputs must get names. Pure;
 * none when all is well.
 */
export function taskPlaceProblems({ archiveFolder, batch }: TaskPlace, workflowId: string): readonly string[] {
  const folder = reservedFolderProblem(archiveFolder, batch?.id ?? null);
  const isRow = batch === null || rowWorkflowId(batch.id, batch.key) === workflowId;
  const foreign = isRow ? [] : [foreignRow(batch, workflowId)];
  const folders = [folder, longFolderProblem(archiveFolder)].filter((problem) => problem !== undefined);
  return [...foreign, ...folders, ...(batch?.names === undefined ? [] : namingProblems(batch.names))];
}

function foreignRow({ id, key }: BatchMembership, workflowId: string): string {
  return `batch is ${showValue({ id, key })}, but the workflow ${showValue(workflowId)} is not that row; leave batch out, or run the row with its batch.`;
}

/** What would be found out only when the task is paid and its outputs are to be named. */
function namingProblems({ template: text, columns }: OutputNaming): readonly string[] {
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

/** The same for a batch: its record in the archive is kept under its id, so only one workflow may keep it. */
export function batchPlaceProblems({ id }: Pick<BatchInput, 'id'>, workflowId: string): readonly string[] {
  const own = batchWorkflowId(id);
  if (own === workflowId) return [];
  return [`id is ${showValue(id)}, but the workflow id is ${showValue(workflowId)}; start it as ${showValue(own)}.`];
}
