import { type FailureType, failureTypes, mayExistUnfollowed, unpaidRefusals } from '../../contract/failure-types';
import type { TaskPlan } from '../../contract/parse-task-input';
import { taskKeyOf } from '../../contract/workflow-ids';
import { shellWord } from '../../domain/shell-word';

/** A task that failed, as far as what is left to do depends on it. */
export interface FailedTask {
  readonly workflowId: string;
  readonly plan: Pick<TaskPlan, 'adoptRequestId'> & { readonly batch: { readonly id: string } | null };
  readonly requestId: string | null;
  readonly createNumber: number;
  /** Undefined: a type that is not one of the durable ones. */
  readonly type: FailureType | undefined;
}

/** What is left to do for a person: whether something is paid, and how it is tried again. */
export function afterFailure(task: FailedTask): string {
  const { plan, requestId, type } = task;
  if (mayExistUnfollowed.some((one) => one === type)) return unfollowed(task);
  if (type === failureTypes.ArchiveIncomplete) {
    return `it is paid; while the service has its results, longhaul adopt ${shellWord(requestId ?? 'REQUEST_ID')} archives them`;
  }
  if (type === failureTypes.TaskNotFound) return unknownAtTheService(task);
  const paid =
    requestId === null ? 'nothing was created, so nothing is paid' : 'it was created, so the service may charge for it';
  if (plan.adoptRequestId !== null) return paid;
  return `${paid}. ${howAgain(task)}; Reset does not. See ${type ?? 'the failure'} in docs/reference/errors.md`;
}

/** One of the durable types, if it is one. */
export function durableType(type: string | null | undefined): FailureType | undefined {
  return Object.values(failureTypes).find((one) => one === type);
}

function unfollowed({ workflowId, plan, requestId, createNumber }: FailedTask): string {
  if (requestId !== null) {
    const underItsKey =
      plan.batch === null && plan.adoptRequestId === null
        ? `; ${runAgain(workflowId)} and the same input does so under its key`
        : '';
    return `it may run at the service, and is paid: follow it with longhaul adopt ${shellWord(requestId)}${underItsKey}`;
  }
  const settle = `longhaul reconcile --settle ${shellWord(`${workflowId}/${createNumber}`)}`;
  const again = plan.batch === null ? `${runAgain(workflowId)} and the same input` : retryBatch(plan.batch.id);
  return `it may exist at the service, and be paid, if that is not settled yet: find it in the service’s own list. ${settle}=REQUEST_ID notes it in the create record, and prints how it is followed; ${settle}=none notes that nothing was created. After that, ${again} follows or creates it; before, nothing is sent, and it ends in the same way or waits for a person`;
}

/** Another run with the same key follows the request id of its create record, which may end so again. */
function unknownAtTheService({ plan }: FailedTask): string {
  const look = 'the service does not know its request id, or no longer: look in the service’s own list';
  if (plan.adoptRequestId !== null) return `${look} for the right id`;
  if (plan.batch !== null) {
    return `${look}. A retry of its batch follows the request id of its create record again, and creates nothing; give the row another key for a new task, which is paid`;
  }
  return `${look}. The same key with --retry follows the request id of its create record again, and creates nothing; another key makes a new task, which is paid`;
}

function howAgain({ workflowId, plan, requestId, type }: FailedTask): string {
  if (plan.batch === null) {
    const anew = requestId === null ? '' : ', which is paid anew';
    return `${runAgain(workflowId)} starts another one${anew} with the same input, and a corrected input needs another key`;
  }
  const retry = retryBatch(plan.batch.id);
  if (requestId === null && unpaidRefusals.some((one) => one === type)) {
    return `Correct the cell and run the file again; or, for the same row, ${retry} --unpaid retries only rows that were not paid`;
  }
  return `${retry} starts every failed row anew, and those that the service had are paid anew`;
}

function retryBatch(id: string): string {
  return `longhaul batch retry ${shellWord(id)}`;
}

function runAgain(workflowId: string): string {
  return `longhaul run with --key ${taskKeyOf(workflowId) ?? 'KEY'} --retry`;
}
