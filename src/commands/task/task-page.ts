import { TaskFailedError } from '../../client/errors';
import { isTaskResult } from '../../client/replies';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskResult } from '../../contract/task-result';
import { isRecord } from '../../domain/json';
import { redact } from '../../domain/redact';

/** What became of a task that is over. */
export interface TaskOutcome {
  readonly result: Partial<TaskResult> | null;
  readonly failure: { readonly type: string; readonly message: string } | null;
}

/** What became of a task that is over. Throws ReplyInvalidError for one that another program ended. */
export async function readOutcome(task: TaskHandle): Promise<TaskOutcome> {
  try {
    return { result: await task.result(), failure: null };
  } catch (error) {
    if (!(error instanceof TaskFailedError)) throw error;
    const { details, failureType: type, message, requestId } = error;
    const found: unknown = isRecord(details) ? details['result'] : undefined;
    return { result: isTaskResult(found) ? found : { requestId }, failure: { type, message: redact(message) } };
  }
}
