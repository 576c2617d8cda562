import type { PollResult, TaskReference } from '../contract/activities';
import type { TaskDetail } from '../service';
import { limitsOf, serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { failedSight, sightOf } from './task-sight';

/** Under the local activity's own timeout of 4 s, so that a slow service is told apart from a slow worker. */
const timeoutMs = 3_500;
/** How much of it a query may wait for its place; one whose place is further off is left out this time. */
const patienceMs = 1_000;

/** One `detail` query. One that failed or was held back is data, not a failure: it must never end the watch. */
export async function pollTask(
  parts: ActivityDependencies,
  { account, requestId }: TaskReference,
): Promise<PollResult> {
  try {
    const service = serviceOf(parts, account);
    const query = (waitedMs: number): Promise<TaskDetail> =>
      service.getTask(requestId, { timeoutMs: timeoutMs - waitedMs });
    return sightOf(await limitsOf(parts, account).polls.run(query, patienceMs));
  } catch (error) {
    return failedSight(error);
  }
}
