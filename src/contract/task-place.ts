import { showValue } from '../domain/show-value';
import { reservedFolderProblem } from './archive-folder';
import type { BatchInput, BatchMembership } from './batch-input';
import { batchWorkflowId, rowWorkflowId } from './workflow-ids';

/** What a task's input says of where it belongs. */
export interface TaskPlace {
  readonly archiveFolder: string;
  readonly batch: BatchMembership | null;
}

/**
 * What is wrong with where a task says that it belongs, given its workflow id: only the id `batch:<id>:<key>` makes a
 * task that row of that batch, and a batch's folder is open to no task but its rows. Pure; none when all is well.
 */
export function taskPlaceProblems({ archiveFolder, batch }: TaskPlace, workflowId: string): readonly string[] {
  const folder = reservedFolderProblem(archiveFolder, batch?.id ?? null);
  const isRow = batch === null || rowWorkflowId(batch.id, batch.key) === workflowId;
  const problems = isRow ? [] : [foreignRow(batch, workflowId)];
  return folder === undefined ? problems : [...problems, folder];
}

function foreignRow({ id, key }: BatchMembership, workflowId: string): string {
  return `batch is ${showValue({ id, key })}, but the workflow ${showValue(workflowId)} is not that row; leave batch out, or run the row with its batch.`;
}

/** The same for a batch: its record in the archive is kept under its id, so only one workflow may keep it. */
export function batchPlaceProblems({ id }: Pick<BatchInput, 'id'>, workflowId: string): readonly string[] {
  const own = batchWorkflowId(id);
  if (own === workflowId) return [];
  return [`id is ${showValue(id)}, but the workflow id is ${showValue(workflowId)}; start it as ${showValue(own)}.`];
}
