import type { Activities } from '../contract/activities';
import { ArchiveIdentity } from '../storage/archive-identity';
import { archiveOutputs } from './archive-outputs';
import { askGate } from './ask-gate';
import { checkAdoption } from './check-adoption';
import { commitInput } from './commit-input';
import { createTask } from './create-task';
import type { ActivityDependencies } from './dependencies';
import { inspectInputs } from './inspect-inputs';
import { pollTask } from './poll-task';
import { readCreateRecord } from './read-create-record';
import { sendVerb } from './send-verb';
import { storeInput } from './store-input';
import { asApplicationFailure } from './to-application-failure';
import { watchTask } from './watch-task';

export { createBatchActivities } from './batch';
export type { ActivityDependencies } from './dependencies';

/** The worker's activities over these parts. Whatever one of them throws leaves as a failure of a durable type. */
export function createActivities(parts: ActivityDependencies): Activities {
  const archive = new ArchiveIdentity(parts.archive);
  return {
    inspectInputs: (input) => asApplicationFailure(null, () => inspectInputs(parts, input)),
    storeInput: (input) => asApplicationFailure(input.account, () => storeInput(parts, input)),
    commitInput: (input) => asApplicationFailure(input.account, () => commitInput(parts, input)),
    askGate: (input) => asApplicationFailure(input.account, () => askGate(parts, archive, input)),
    createTask: (input) => asApplicationFailure(input.account, () => createTask(parts, archive, input)),
    readCreateRecord: (input) => asApplicationFailure(null, () => readCreateRecord(parts, input)),
    pollTask: (input) => asApplicationFailure(input.account, () => pollTask(parts, input)),
    checkAdoption: (task) => asApplicationFailure(task.account, () => checkAdoption(parts, task)),
    watchTask: (input) => asApplicationFailure(input.account, () => watchTask(parts.pollers, input)),
    cancelTask: (task) => asApplicationFailure(task.account, () => sendVerb(parts, 'cancel', task)),
    interruptTask: (task) => asApplicationFailure(task.account, () => sendVerb(parts, 'interrupt', task)),
    archiveOutputs: (input) => asApplicationFailure(input.account, () => archiveOutputs(parts, input)),
  };
}
