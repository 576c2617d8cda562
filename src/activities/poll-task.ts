import type { PollResult, TaskReference } from '../contract/activities';
import { serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { failedSight, sightOf } from './task-sight';

/** Under the local activity's own timeout of 4 s, so that a slow service is told apart from a slow worker. */
const timeoutMs = 3_500;

/** One `detail` query. A failed one is data, not a failure: it must never end the watch. */
export async function pollTask(
  parts: ActivityDependencies,
  { account, requestId }: TaskReference,
): Promise<PollResult> {
  try {
    return sightOf(await serviceOf(parts, account).getTask(requestId, { timeoutMs }));
  } catch (error) {
    return failedSight(error);
  }
}
