import type { PollResult, TaskReference } from '../contract/activities';
import { pollTask } from './activity-proxies';
import { lastWordsOf } from './failures';

/** One query. It is always awaited: a local activity left behind when a run ends wedges the run. */
export async function look({ account, requestId }: TaskReference): Promise<PollResult> {
  try {
    return await pollTask({ account, requestId });
  } catch (error) {
    return { seen: 'nothing', problem: `The query for the task’s state failed: ${lastWordsOf(error)}` };
  }
}
