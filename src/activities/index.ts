import type { Activities } from '../contract/activities';
import { ArchiveIdentity } from '../storage/archive/archive';
import { AccountPatience } from './accounts';
import { archiveOutputs } from './archive-outputs';
import { checkAdoption, sendVerb } from './task-requests';
import { commitInput, inspectInputs, storeInput } from './store-input';
import { createTask } from './create-task';
import type { ActivityDependencies } from './dependencies';
import { pollTask } from './poll-task';
import { asApplicationFailure } from './to-application-failure';
import { watchTask } from './watch-task';

export { createBatchActivities } from './batch';
export type { ActivityDependencies } from './dependencies';

/** The worker's activities over these parts. Whatever one of them throws leaves as a failure of a durable type. */
export function createActivities(parts: ActivityDependencies): Activities {
  const archive = new ArchiveIdentity(parts.archive);
  const patience = new AccountPatience(parts.accountPatienceMs ?? 0);
  /** Results are paid: their archive is tried again for as long as the service keeps them. */
  const endless = new AccountPatience(Number.POSITIVE_INFINITY);
  const ofAccount = <Input extends { readonly account: string }, Result>(
    activity: (input: Input) => Promise<Result>,
    during = patience,
  ): ((input: Input) => Promise<Result>) => {
    return (input) => asApplicationFailure(input.account, () => activity(input), during);
  };
  return {
    inspectInputs: (input) => asApplicationFailure(null, () => inspectInputs(parts, input)),
    storeInput: ofAccount((input) => storeInput(parts, input)),
    commitInput: ofAccount((input) => commitInput(parts, input)),
    createTask: (input) => asApplicationFailure(input.account, () => createTask(parts, archive, patience, input)),
    pollTask: ofAccount((input) => pollTask(parts, input)),
    checkAdoption: ofAccount((task) => checkAdoption(parts, task)),
    watchTask: ofAccount((input) => watchTask(parts, input)),
    cancelTask: ofAccount((task) => sendVerb(parts, 'cancel', task)),
    interruptTask: ofAccount((task) => sendVerb(parts, 'interrupt', task)),
    archiveOutputs: ofAccount((input) => archiveOutputs(parts, archive, input), endless),
  };
}
