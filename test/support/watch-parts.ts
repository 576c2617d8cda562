import type { WatchDependencies } from '../../src/activities/watch-task';
import type { PollResult, WatchTaskInput } from '../../src/contract/activities';
import { unseenTask } from '../../src/core/task-state';
import { NotFoundError, OutputGoneError, type TaskDetail } from '../../src/service';
import { PollLimiter } from '../../src/service/account-gate';

const hourMs = 3_600_000;

/** A task that was created now, and is polled without a pause. */
export function newWatch(more: Partial<WatchTaskInput> = {}): WatchTaskInput {
  const nowMs = Date.now();
  return {
    account: 'default',
    requestId: 'request-1',
    known: unseenTask(0),
    poll: { minMs: 1, maxMs: 2 },
    notVisibleGraceMs: hourMs,
    deadlinesMs: { queue: hourMs, run: hourMs, total: hourMs },
    startedAtMs: nowMs,
    acceptedAtMs: nowMs,
    returnOnChange: false,
    ...more,
  };
}

/** What a worker watches with, over a service that answers a query as `poll` says. */
export function watchParts(
  account: string,
  poll: (requestId: string) => Promise<PollResult>,
  perSecond = 10_000,
): WatchDependencies {
  const getTask = async (requestId: string): Promise<TaskDetail> => detailOf(await poll(requestId));
  return {
    services: new Map([[account, { getTask, getOutputs: () => Promise.reject(new Error('no outputs')) }]]),
    limits: new Map([[account, { polls: new PollLimiter({ perSecond }) }]]),
  };
}

/** What the service's client would have given, or thrown, for this to be seen. */
function detailOf(result: PollResult): TaskDetail {
  if (result.seen === 'notFound') throw new NotFoundError('no such task', { httpStatus: 404 }, 'TASK_NOT_FOUND');
  if (result.seen === 'gone') throw new OutputGoneError(result.problem, { httpStatus: 410 }, 'OUTPUT_GONE');
  if (result.seen === 'nothing') throw new Error(result.problem);
  const { status, queuePosition, errorMessage, timestamps = {}, costTimes = {} } = result;
  const given = Object.entries(timestamps);
  return {
    ...Object.fromEntries(given),
    status,
    costTimes,
    ...(queuePosition !== undefined && { queuePosition }),
    ...(errorMessage !== undefined && { errorMessage }),
  };
}
