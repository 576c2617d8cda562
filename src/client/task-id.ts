import { workflowIdOf } from '../contract/workflow-ids';
import { errorMessage } from '../domain/text';
import { InputInvalidError } from './errors';

/** The workflow id that `task:KEY` or `KEY` means. Throws {@link InputInvalidError} when it can be neither. */
export function checkedTaskId(idOrKey: string): string {
  try {
    return workflowIdOf(idOrKey);
  } catch (error) {
    throw new InputInvalidError([errorMessage(error)]);
  }
}
