import type { PollResult } from '../contract/activities';
import { isTerminal, parseServiceStatus } from '../domain/task-state';
import { errorMessage } from '../domain/unknown-error';
import { withoutUrls } from '../domain/uri';
import { NotFoundError, OutputGoneError, type TaskDetail } from '../service';
import { timestampsOf } from './timestamps';

/** What a query saw, as it may stand in a history; costs and timestamps only once the task is over. */
export function sightOf(detail: TaskDetail): PollResult {
  const { status, queuePosition, errorMessage, costTimes } = detail;
  return {
    seen: 'task',
    status,
    ...(queuePosition !== undefined && { queuePosition }),
    ...(errorMessage !== undefined && { errorMessage: withoutUrls(errorMessage) }),
    ...(isTerminal(parseServiceStatus(status)) && { costTimes, timestamps: timestampsOf(detail) }),
  };
}

/** What a query that failed tells: data, since it must never end the watch. */
export function failedSight(error: unknown): PollResult {
  if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { seen: 'notFound' };
  const problem = withoutUrls(errorMessage(error));
  return { seen: error instanceof OutputGoneError ? 'gone' : 'nothing', problem };
}
