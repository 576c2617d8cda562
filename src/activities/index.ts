import type { Activities } from '../contract/activities';
import { ArchiveIdentity } from '../storage/archive/archive-identity';
import { type AccountKey, accountKey, AccountPatience } from './accounts';
import { archiveOnce, archiveOutputs } from './archive-outputs';
import { checkAdoption, sendVerb } from './task-requests';
import { inspectInputs, storeInput } from './store-input';
import { createTask } from './create-task';
import type { ActivityDependencies } from './dependencies';
import { countArchived, UnarchivedResults, withMetrics } from './metrics';
import { pollTask } from './poll-task';
import { asApplicationFailure } from './to-application-failure';
import { type WatchDependencies, watchTask } from './watch-task';

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
  let archives = 0;
  const counted = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
    archives += 1;
    try {
      return await attempt();
    } finally {
      archives -= 1;
    }
  };
  const archiveAtOnce: WatchDependencies['archiveAtOnce'] = async (input, attempt) => {
    // The other half is for archives that have waited for their turn.
    if (archives >= (dependencies.archiveSlots ?? 0) / 2) return undefined;
    const startedMs = performance.now();
    const archived = await counted(() => archiveOnce(dependencies, archive, input, attempt));
    countArchived(input.account, input, archived, startedMs, attempt.now());
    return archived;
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
    archiveOutputs: ofAccount((input) => counted(() => archiveOutputs(dependencies, archive, input)), endless),
  };
  const { services, unarchived = new UnarchivedResults() } = dependencies;
  return withMetrics(activities, (account) => services.has(account), unarchived);
}
