import { isTerminal } from '../core/task-state';
import { shellWord } from '../core/text';
import { type FailureType, mayExistUnfollowed, unpaidRefusals } from './failure-types';
import type { StopRequestView, TaskStatus } from './task-messages';
import { adoptionKey, batchOfRow, isLonghaulWorkflowId, taskKeyOf, taskWorkflowId } from './workflow-ids';

/** An id that is not Longhaul's own may hold anything: it stands in no command to copy. */
function shownId(workflowId: string): string {
  return taskKeyOf(workflowId) ?? (isLonghaulWorkflowId(workflowId) ? workflowId : 'WORKFLOW_ID');
}

export const taskCommands = {
  status: (workflowId: string): string => `longhaul status ${shownId(workflowId)}`,
  follow: (workflowId: string): string => `longhaul status ${shownId(workflowId)} --follow`,
  end: (workflowId: string, verb: 'stop' | 'cancel' | 'interrupt'): string => `longhaul ${verb} ${shownId(workflowId)}`,
  take: (workflowId: string): string => `longhaul resolve ${shownId(workflowId)} --adopt REQUEST_ID`,
  recreate: (workflowId: string): string => `longhaul resolve ${shownId(workflowId)} --recreate`,
  abandon: (workflowId: string): string => `longhaul resolve ${shownId(workflowId)} --abandon`,
  rearchive: (workflowId: string): string => `longhaul rearchive ${shownId(workflowId)}`,
  adopt: (requestId: string | null): string => `longhaul adopt ${shellWord(requestId ?? 'REQUEST_ID')}`,
  retry: (workflowId: string): string => `longhaul retry ${taskKeyOf(workflowId) ?? 'KEY'}`,
  retryNow: (workflowId: string): string => `longhaul retry-now ${shownId(workflowId)}`,
  retryBatch: (batchId: string): string => `longhaul batch retry ${shellWord(batchId)}`,
  settle: (create: string): string => `longhaul reconcile --settle ${shellWord(create)}`,
  reconcile: 'longhaul reconcile',
};

/** A name and what is known under it; null: nothing. */
export type Fact = readonly [name: string, value: string | null];

/** What is known of a task, as its workflow answers or a client puts it together; null where it is not known. */
type ShownTask = Nullable<Omit<TaskStatus, 'workflowId' | 'status' | 'since' | 'startedAt' | 'stopRequests'>>;
type Nullable<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | null };

/** @param asOf - a moment as this view shows it, such as `as of 0:05 ago`. */
export function taskFacts(task: ShownTask, asOf: (iso: string) => string): readonly Fact[] {
  const { serviceStatus, serviceStatusAt = null, queuePosition, polls, failedPolls, createRequests } = task;
  const ahead = queuePosition === null ? '' : `, ${queuePosition} ahead in the queue`;
  // The end is final; of any other state it is not known what became of it since.
  const isOld = serviceStatusAt !== null && serviceStatus !== null && !isTerminal(serviceStatus);
  const when = isOld ? `, ${asOf(serviceStatusAt)}` : '';
  const failed = failedPolls === null || failedPolls === 0 ? '' : `, ${failedPolls} failed`;
  return [
    ['request id', task.requestId],
    ['service', serviceStatus && `${serviceStatus}${ahead}${when}`],
    ['waiting for', task.waitingFor],
    ['next', task.nextStep],
    ['queries', polls === null ? null : `${polls}${failed}`],
    ['creates sent', createRequests === null ? null : String(createRequests)],
  ];
}

export function isOpenRequest({ outcome }: Pick<StopRequestView, 'outcome'>): boolean {
  return outcome === 'waiting' || outcome === 'sent';
}

/** Whether a workflow ended without its own doing, so that nothing follows what it had started. */
export function isCutOff(execution: string): boolean {
  return execution === 'TERMINATED' || execution === 'TIMED_OUT';
}

export interface OperatorChoice {
  readonly update: 'adopt' | 'recreate' | 'abandon' | 'rearchive';
  /** The update's argument, as JSON; null: it takes none. */
  readonly argument: string | null;
  readonly command: string;
  /** When to choose it, and what it costs. */
  readonly meaning: string;
}

/** What can be decided in a state; nothing in most. A task that is over takes no decision, whatever its state. */
export function operatorChoices(status: string, workflowId: string): readonly OperatorChoice[] {
  const choice = (update: OperatorChoice['update'], command: string, meaning: string): OperatorChoice => {
    return { update, argument: update === 'adopt' ? '{"requestId": "REQUEST_ID"}' : null, command, meaning };
  };
  const { take, recreate, abandon, rearchive } = taskCommands;
  if (status === 'CreateUncertain') {
    return [
      choice('adopt', take(workflowId), 'the service shows the task: follow it; costs nothing more'),
      choice(
        'recreate',
        recreate(workflowId),
        'the service does not show it: create it once more; paid twice if it exists after all',
      ),
      choice('abandon', abandon(workflowId), 'give it up; if it exists, it runs on and is paid'),
    ];
  }
  if (status !== 'ArchiveIncomplete') return [];
  return [
    choice(
      'rearchive',
      rearchive(workflowId),
      'the cause is repaired: fetch at once what is missing; costs nothing more',
    ),
    choice('abandon', abandon(workflowId), 'give up what is missing; it is paid, and gone once the service deletes it'),
  ];
}

export interface FailedTask {
  readonly workflowId: string;
  readonly isAdopted: boolean;
  readonly batchId: string | null;
  readonly requestId: string | null;
  readonly createNumber: number;
  /** Undefined: a type that is not one of the durable ones. */
  readonly type: FailureType | undefined;
}

/** Whether something is paid, and how it is tried again. */
export function afterFailure(task: FailedTask): string {
  const { requestId, type, isAdopted } = task;
  if (mayExistUnfollowed.some((one) => one === type)) return afterUnfollowed(task);
  if (type === 'ArchiveIncomplete') {
    return `it is paid; while the service has its results, ${taskCommands.adopt(requestId)} archives them`;
  }
  if (type === 'TaskNotFound') return afterNotFound(task);
  const paid =
    requestId === null ? 'nothing was created, so nothing is paid' : 'it was created, so the service may charge for it';
  if (isAdopted) return paid;
  return `${paid}. ${howToRunAgain(task)}; Reset does not. See ${type ?? 'the failure'} in docs/reference/errors.md`;
}

function afterUnfollowed({ workflowId, isAdopted, batchId, requestId, createNumber }: FailedTask): string {
  const again = taskCommands.retry(workflowId);
  if (requestId !== null) {
    const underItsKey = batchId === null && !isAdopted ? `; ${again} does so under its key` : '';
    return `it may run at the service, and is paid: follow it with ${taskCommands.adopt(requestId)}${underItsKey}`;
  }
  const settle = taskCommands.settle(`${workflowId}/${createNumber}`);
  const then = batchId === null ? again : taskCommands.retryBatch(batchId);
  return `it may exist at the service, and be paid, if that is not settled yet: find it in the service’s own list. ${settle}=REQUEST_ID notes it in the create record, and prints how it is followed; ${settle}=none notes that nothing was created. After that, ${then} follows or creates it; before, nothing is sent, and it ends in the same way or waits for a person`;
}

/** Another run with the same key follows the request id of its create record, which may end so again. */
function afterNotFound({ workflowId, isAdopted, batchId }: FailedTask): string {
  const look = 'the service does not know its request id, or no longer: look in the service’s own list';
  if (isAdopted) return `${look} for the right id`;
  const follows = 'follows the request id of its create record again, and creates nothing';
  return batchId === null
    ? `${look}. ${taskCommands.retry(workflowId)} ${follows}; another key makes a new task, which is paid`
    : `${look}. A retry of its batch ${follows}; give the row another key for a new task, which is paid`;
}

function howToRunAgain({ workflowId, batchId, requestId, type }: FailedTask): string {
  if (batchId === null) {
    const anew = requestId === null ? '' : ', which is paid anew';
    return `${taskCommands.retry(workflowId)} starts another one${anew} with the same input, and a corrected input needs another key`;
  }
  const retry = taskCommands.retryBatch(batchId);
  return requestId === null && unpaidRefusals.some((one) => one === type)
    ? `Correct the cell and run the file again; or, for the same row, ${retry} --unpaid retries only rows that were not paid`
    : `${retry} starts every failed row anew, and those that the service had are paid anew`;
}

/** A task whose workflow was terminated or timed out, by its last known state. */
export interface CutOffTask {
  readonly workflowId: string;
  readonly status: string;
  readonly requestId: string | null;
  /** The workflow that follows its task now. */
  readonly adoptedBy: string | null;
}

export const unfollowedTask =
  'so nothing follows the task: it may still run at the service, and be paid. Start it again with the same key, input and retry to take it over, or adopt its request id.';

/** A person may have settled an uncertain create since, which Temporal does not know. */
export function cutOffMeaning({ status, requestId, adoptedBy }: CutOffTask): string {
  if (adoptedBy !== null) return `and ${adoptedBy} took its task over.`;
  if (status !== 'CreateUncertain' || requestId !== null) return unfollowedTask;
  return 'and it was not known whether it had created a task: its create record says whether that was settled since, which Temporal does not know.';
}

export function afterAdoption(adoptedBy: string): string {
  return `${taskCommands.status(adoptedBy)} tells how its task goes on`;
}

export function afterCutOff({ workflowId, status, requestId, adoptedBy }: CutOffTask): string {
  if (adoptedBy !== null) return afterAdoption(adoptedBy);
  if (requestId !== null && workflowId === taskWorkflowId(adoptionKey(requestId))) {
    return `${taskCommands.adopt(requestId)} follows and archives it again; nothing is created`;
  }
  const batchId = batchOfRow(workflowId);
  const again =
    batchId === undefined
      ? taskCommands.retry(workflowId)
      : `${taskCommands.retryBatch(batchId)}, which pays anew for other rows that were not successful,`;
  const takesOver = `${again} takes over what was created, without paying for it twice`;
  if (requestId !== null) {
    return `${taskCommands.adopt(requestId)} follows and archives what was created, at no cost; or ${takesOver}`;
  }
  if (status !== 'CreateUncertain') return `${takesOver}; ${taskCommands.reconcile} tells what is known of it`;
  return `${taskCommands.reconcile} tells whether it is settled by now what was created, in the create record, and if not, how to settle it; then ${takesOver}`;
}

/** What is wrong, its cause first, and what to do. */
export interface Advice {
  readonly message: string;
  readonly remedy: string;
}

export const overloadAdvice: Advice = {
  message: 'Its workflow tasks time out: the workers are overloaded, mostly after a restart.',
  remedy:
    'Wait: it goes on by itself, and a stop is carried out then. If it lasts, start more workers; the log of a worker says when replays are slow.',
};

/** Of an activity that an operator paused. */
export function pausedRemedy(workflowId: string): string {
  return `${taskCommands.retryNow(workflowId)} lets it go on, or Unpause in the Web UI’s Pending Activities.`;
}

/** Of a workflow that an operator paused, as Temporal's `workflow pause` does. */
export function pausedAdvice(workflowId: string): Advice {
  return {
    message:
      'An operator paused its workflow, so it makes no progress, and a stop does not reach it; what runs at the service goes on.',
    remedy: `${taskCommands.retryNow(workflowId)} lets it go on.`,
  };
}

/**
 * Of a workflow whose workflow tasks fail.
 * @param known - what is known of the failure, its own words first
 */
export function stuckAdvice(...known: readonly string[]): Advice {
  const [cause, remedy] = stuckCause(known.join(' '));
  const [failure] = known;
  const words = failure === undefined ? '' : ` (${failure})`;
  return {
    message: `${cause}${words}, so it makes no progress, and a stop does not reach it.`,
    remedy: `${remedy} It goes on by itself then.`,
  };
}

function stuckCause(failure: string): readonly [cause: string, remedy: string] {
  const goBack = 'o back to the version of the workers before (docs/guides/versions.md).';
  if (failure.includes('LONGHAUL_CODEC_KEYS_FILE')) {
    const remedy = 'Give all workers and clients one LONGHAUL_CODEC_KEYS_FILE with every key, and restart the workers.';
    return ['The workers lack a key of its payloads', remedy];
  }
  if (/non[-_ ]?determini/i.test(failure)) return ['The workers’ code does not fit its history', `G${goBack}`];
  return ['Its workflow tasks fail', `If that began with a new version, g${goBack} Else see the log of a worker.`];
}
