import type { PollResult, TaskReference } from '../contract/activities';
import { isTerminal, parseServiceStatus } from '../domain/task-state';
import { withoutUrls } from '../domain/without-urls';
import { NotFoundError, type TaskDetail } from '../service';
import { serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { timestampsOf } from './timestamps';

/** Under the local activity's own timeout of 4 s, so that a slow service is told apart from a slow worker. */
const timeoutMs = 3_500;

/** One `detail` query. A failed one is data, not a failure: it must never end the watch. */
export async function pollTask(
  parts: ActivityDependencies,
  { account, requestId }: TaskReference,
): Promise<PollResult> {
  try {
    return seen(await serviceOf(parts, account).getTask(requestId, { timeoutMs }));
  } catch (error) {
    if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { seen: 'notFound' };
    return { seen: 'nothing', problem: withoutUrls(error instanceof Error ? error.message : String(error)) };
  }
}

function seen(detail: TaskDetail): PollResult {
  const { status, queuePosition, errorMessage, costTimes } = detail;
  return {
    seen: 'task',
    status,
    ...(queuePosition !== undefined && { queuePosition }),
    ...(errorMessage !== undefined && { errorMessage: withoutUrls(errorMessage) }),
    ...(isTerminal(parseServiceStatus(status)) && { costTimes, timestamps: timestampsOf(detail) }),
  };
}
