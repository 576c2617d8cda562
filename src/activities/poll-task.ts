import type { PollResult, TaskReference } from '../contract/activities';
import type { Timestamps } from '../contract/task-result';
import { isTerminal, parseServiceStatus } from '../domain/task-state';
import { errorMessage } from '../domain/text';
import { parseServiceTimestamp } from '../domain/time';
import { withoutUrls } from '../domain/uri';
import { NotFoundError, OutputGoneError, type TaskDetail } from '../service';
import { getLimits, getService } from './accounts';
import type { ActivityDependencies } from './dependencies';

/** Under the local activity's own timeout of 4 s, so that a slow service is told apart from a slow worker. */
const timeoutMs = 3_500;
/** How much of it a query may wait for its place; one whose place is further off is left out this time. */
const patienceMs = 1_000;

/** One `detail` query. One that failed or was held back is data, not a failure: it must never end the watch. */
export async function pollTask(
  dependencies: ActivityDependencies,
  { account, requestId }: TaskReference,
): Promise<PollResult> {
  try {
    const service = getService(dependencies, account);
    const query = (waitedMs: number): Promise<TaskDetail> =>
      service.getTask(requestId, { timeoutMs: timeoutMs - waitedMs });
    return toPollResult(await getLimits(dependencies, account).polls.run(query, patienceMs));
  } catch (error) {
    return toFailedPoll(error);
  }
}

/** What a query saw, as it may stand in a history; costs and timestamps only once the task is over. */
export function toPollResult(detail: TaskDetail): PollResult {
  const { status, queuePosition, errorMessage, costTimes } = detail;
  return {
    seen: 'task',
    status,
    ...(queuePosition !== undefined && { queuePosition }),
    ...(errorMessage !== undefined && { errorMessage: withoutUrls(errorMessage) }),
    ...(isTerminal(parseServiceStatus(status)) && { costTimes, timestamps: toTimestamps(detail) }),
  };
}

/** What a query that failed tells: data, since it must never end the watch. */
export function toFailedPoll(error: unknown): PollResult {
  if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { seen: 'notFound' };
  const problem = withoutUrls(errorMessage(error));
  return { seen: error instanceof OutputGoneError ? 'gone' : 'nothing', problem };
}

const names = ['createdAt', 'executedAt', 'runningAt', 'endedAt', 'updatedAt', 'expiredAt'] as const;

/** The timestamps that the service gave, as ISO-8601 with the raw text beside them. */
function toTimestamps(detail: TaskDetail): Timestamps {
  const given = names.flatMap((name) => {
    const raw = detail[name];
    return raw === undefined ? [] : [[name, { iso: parseServiceTimestamp(raw) ?? null, raw }] as const];
  });
  return Object.fromEntries(given);
}
