import { log } from '@temporalio/activity';
import type { CheckAdoptionResult, TaskReference } from '../contract/activities';
import { errorMessage } from '../domain/unknown-error';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';
import { pollTask } from './poll-task';

/** Asks the service about a task, and Temporal who follows it. It changes nothing. */
export async function checkAdoption(parts: ActivityDependencies, task: TaskReference): Promise<CheckAdoptionResult> {
  const [poll, follower] = await Promise.all([pollTask(parts, task), followerOf(parts, task)]);
  return { poll, follower: follower === undefined || follower === ownWorkflowId() ? null : follower };
}

/** A second follower only asks and archives the same again, so what Temporal does not say holds nobody back. */
async function followerOf({ findFollower }: ActivityDependencies, task: TaskReference): Promise<string | undefined> {
  try {
    return await findFollower?.(task);
  } catch (error) {
    log.warn('follower not looked for', { error: errorMessage(error) });
    return undefined;
  }
}
