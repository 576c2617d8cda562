import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { CommitInputInput, CommittedInput } from '../contract/activities';
import { serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';

/**
 * Makes an uploaded object an input resource (specification, section 4.7). Whether a commit may be repeated is not
 * specified, so a later attempt first looks the key up in the list of resources.
 */
export async function commitInput(
  parts: ActivityDependencies,
  { account, objectKey, name }: CommitInputInput,
): Promise<CommittedInput> {
  const service = serviceOf(parts, account);
  const signal = cancellationSignal();
  if (activityInfo().attempt > 1) {
    const { list } = await service.listInputs({ objectKey }, { signal });
    const [committed] = list;
    if (committed !== undefined) return { resourceId: committed.id, name, objectKey };
  }
  const { id } = await service.commitInput({ name, objectKey }, { signal });
  return { resourceId: id, name, objectKey };
}
