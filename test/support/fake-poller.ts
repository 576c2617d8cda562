import type { PollResult } from '../../src/contract/activities';
import { NotFoundError, OutputGoneError, type TaskDetail } from '../../src/service';
import { Poller } from '../../src/service/poller';

/** The poller of a worker, over a service that answers a query as `look` says. */
export function pollerOver(look: (requestId: string) => Promise<PollResult>): Poller {
  const getTask = async (requestId: string): Promise<TaskDetail> => detailOf(await look(requestId));
  return new Poller({ getTask }, { timeoutMs: 3_500 });
}

/** What the service's client would have given, or thrown, for this to be seen. */
function detailOf(sight: PollResult): TaskDetail {
  if (sight.seen === 'notFound') throw new NotFoundError('no such task', { httpStatus: 404 }, 'TASK_NOT_FOUND');
  if (sight.seen === 'gone') throw new OutputGoneError(sight.problem, { httpStatus: 410 }, 'OUTPUT_GONE');
  if (sight.seen === 'nothing') throw new Error(sight.problem);
  const { status, queuePosition, errorMessage, timestamps = {}, costTimes = {} } = sight;
  const given = Object.entries(timestamps).map(([name, { raw }]) => [name, raw] as const);
  return {
    ...Object.fromEntries(given),
    status,
    costTimes,
    ...(queuePosition !== undefined && { queuePosition }),
    ...(errorMessage !== undefined && { errorMessage }),
  };
}
