import type { Activities, ArchiveOutputsInput, ArchiveOutputsResult } from '../contract/activities';
import { ArchiveIdentity } from '../storage/archive/archive-identity';
import { type AccountKey, accountKey, AccountPatience } from './accounts';
import { archiveOutputs } from './archive-outputs';
import { checkAdoption, sendVerb } from './task-requests';
import { inspectInputs, storeInput } from './store-input';
import { createTask } from './create-task';
import type { ActivityDependencies } from './dependencies';
import { UnarchivedResults, withMetrics } from './metrics';
import { pollTask } from './poll-task';
import { asApplicationFailure } from './to-application-failure';
import { watchTask } from './watch-task';

export { createBatchActivities } from './batch';
export { createWebhookActivities, createWebhookAgent } from './send-webhook';
export type { WebhookDependencies } from './send-webhook';
export { createSweepActivities } from './sweep';
export type { ActivityDependencies, ActivityTraces } from './dependencies';

/** The worker's activities over these dependencies. Whatever one of them throws leaves as a failure of a durable type. */
export function createActivities(dependencies: ActivityDependencies): Activities {
  const { archiveIdentity: archive = new ArchiveIdentity(dependencies.archive) } = dependencies;
  const patience = new AccountPatience(dependencies.accountPatienceMs ?? 0);
  /** Results are paid: their archive is tried again for as long as the service keeps them. */
  const endless = new AccountPatience(Number.POSITIVE_INFINITY);
  const ofAccount = <Input extends { readonly account: string }, Result>(
    activity: (input: Input) => Promise<Result>,
    during: AccountPatience | null = patience,
  ): ((input: Input) => Promise<Result>) => {
    const key = (input: Input): AccountKey => accountKey(dependencies, input.account);
    return (input) => asApplicationFailure(key(input), () => activity(input), during ?? undefined);
  };
  let freeSlots = dependencies.archiveSlots ?? 0;
  const archiveAtOnce = async (input: ArchiveOutputsInput): Promise<ArchiveOutputsResult | undefined> => {
    return freeSlots > 0 ? await counted.archiveOutputs(input) : undefined;
  };
  const activities: Activities = {
    inspectInputs: (input) => asApplicationFailure(null, () => inspectInputs(dependencies, input)),
    storeInput: ofAccount((input) => storeInput(dependencies, input)),
    createTask: ofAccount((input) => createTask(dependencies, archive, patience, input), null),
    pollTask: ofAccount((input) => pollTask(dependencies, input)),
    checkAdoption: ofAccount((task) => checkAdoption(dependencies, task)),
    watchTask: ofAccount((input) => watchTask({ ...dependencies, archiveAtOnce }, input)),
    cancelTask: ofAccount((task) => sendVerb(dependencies, 'cancel', task)),
    interruptTask: ofAccount((task) => sendVerb(dependencies, 'interrupt', task)),
    archiveOutputs: ofAccount(async (input) => {
      freeSlots -= 1;
      try {
        return await archiveOutputs(dependencies, archive, input);
      } finally {
        freeSlots += 1;
      }
    }, endless),
  };
  const { services, unarchived = new UnarchivedResults() } = dependencies;
  const counted = withMetrics(activities, (account) => services.has(account), unarchived);
  return counted;
}
