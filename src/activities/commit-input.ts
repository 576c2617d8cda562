import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { CommitInputInput, CommittedInput } from '../contract/activities';
import { serviceOf } from './account-service';
import { commitObject } from './commit-object';
import type { ActivityDependencies } from './dependencies';

/** Makes an uploaded object an input resource; a later attempt first looks whether it is one. */
export async function commitInput(
  parts: ActivityDependencies,
  { account, objectKey, name }: CommitInputInput,
): Promise<CommittedInput> {
  const choices = { mayBeCommitted: activityInfo().attempt > 1, signal: cancellationSignal() };
  return await commitObject(serviceOf(parts, account), { objectKey, name }, choices);
}
