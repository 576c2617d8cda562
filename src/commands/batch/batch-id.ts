import { Argument } from 'commander';
import { InputInvalidError } from '../../client/errors';
import { batchIdOf, batchWorkflowId, isTaskKey } from '../../contract/workflow-ids';

/** The batch's id that a person means by `ID` or `batch:ID`. Throws {@link InputInvalidError} when it can be none. */
export function checkedBatchId(text: string): string {
  const id = batchIdOf(text) ?? text;
  if (isTaskKey(id)) return id;
  const problem = `The batch id ${JSON.stringify(text)} cannot be one; give 1 to 80 letters, digits, dots, underscores or hyphens.`;
  throw new InputInvalidError([problem], 'batch');
}

/** How every command names a batch; read before Temporal is asked anything. */
export function batchIdArgument(): Argument {
  return new Argument('<id>', `the batch’s id, or its workflow id (${batchWorkflowId('ID')})`).argParser(
    checkedBatchId,
  );
}
