import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { TransferProgress } from '../../contract/activities';
import { searchAttributes } from '../../contract/search-attributes';
import { afterAdoption, afterCutOff, cutOffMeaning, type CutOffTask, isCutOff } from '../../contract/task-advice';
import { isOpenRequest } from '../../contract/task-facts';
import type { StopRequestView, TaskStatus } from '../../contract/task-messages';
import type { UncertainCreate } from '../../core/adoption';
import type { LonghaulStatus, ServiceStatus } from '../../core/task-state';
import { formatMoment } from '../../core/time';
import { noWorkerRemedy } from '../errors';
import { isClosed } from '../existing-run';
import { type DescribedWorkflow, overloadWords, type StuckWorkflow } from '../workflow-info';
import type { PendingWork, RetryingActivity } from './pending-work';

/**
 * A task as it stands: its workflow's own answer, and what Temporal knows beside it. What is not known is null. This
 * is also what `longhaul status --json` prints, which adds the result of a task that is over.
 */
export interface TaskView {
  readonly workflowId: string;
  /** Its page in Temporal's Web UI; null when the address of the Web UI is not configured. */
  readonly url: string | null;
  /** What `LonghaulStatus` shows; workers of a later version may say another word. */
  readonly status: LonghaulStatus | (string & {});
  /** ISO-8601: since when. */
  readonly since: string | null;
  /** Whether the workflow is over. */
  readonly isOver: boolean;
  /** Temporal's state of the workflow: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
  readonly execution: WorkflowExecutionStatusName;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly app: string | null;
  readonly account: string | null;
  /** The task queue on which it runs: where a worker is missing when none answers. */
  readonly taskQueue: string;
  readonly requestId: string | null;
  /**
   * Of one that was cut off or failed: the workflow of another id that took its task over, as `adopt` does; null for none,
   * or where it cannot be told.
   */
  readonly adoptedBy: string | null;
  /** What its start called it. */
  readonly tags: readonly string[];
  /** The service's own word, which may be another one. */
  readonly serviceStatus: ServiceStatus | (string & {}) | null;
  /** ISO-8601: when the service said it last. */
  readonly serviceStatusAt: string | null;
  /** Tasks ahead in the service's queue. */
  readonly queuePosition: number | null;
  readonly polls: number | null;
  readonly failedPolls: number | null;
  readonly createRequests: number | null;
  readonly waitingFor: string | null;
  readonly nextStep: string | null;
  readonly problem: string | null;
  readonly stopRequests: readonly StopRequestView[];
  readonly transfers: readonly TransferProgress[];
  readonly retrying: readonly RetryingActivity[];
  /** In `CreateUncertain`, the other tasks of the app that are, too, and when their creates were sent, the latest first. */
  readonly otherUncertain: readonly { readonly workflowId: string; readonly sentAt: string }[];
  /** Why it makes no progress and what to do; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** A remark about this view itself, such as that no worker answered. */
  readonly note: string | null;
}

/** What {@link taskView} puts together. */
export interface TaskViewSources {
  readonly description: DescribedWorkflow;
  /** The workflow's own answer; undefined when no worker gave one. */
  readonly reported: TaskStatus | undefined;
  readonly pending: PendingWork;
  /** @default none */
  readonly adoptedBy?: string | null;
  /** @default none */
  readonly otherUncertain?: readonly UncertainCreate[];
  readonly url: string | null;
}

/** The request id as the workflow tells it, or else as Temporal's list does. */
export function knownRequestId({ attributes }: DescribedWorkflow, reported: TaskStatus | undefined): string | null {
  return reported?.requestId ?? attributes.get(searchAttributes.requestId.name) ?? null;
}

/** Merges the parts. Pure. */
export function taskView(sources: TaskViewSources): TaskView {
  const { description, reported, pending, adoptedBy = null, otherUncertain = [], url } = sources;
  const { workflowId, execution, startedAt, closedAt, attributes, stuck } = description;
  const isOver = isClosed(execution);
  const { transfers, retrying, watched, refusedCreates, earlierCreateUntil = null } = pending;
  // A worker that watches the task knows more than the workflow, which waits for it.
  const known = watched ?? reported;
  const requestId = knownRequestId(description, reported);
  const status = reported?.status ?? attributes.get(searchAttributes.status.name) ?? 'PreparingInputs';
  const cutOff = isCutOff(execution) ? { workflowId, status, requestId, adoptedBy } : null;
  const isLeft = !isOver || execution === 'FAILED';
  return {
    workflowId,
    url,
    status,
    since: reported?.since ?? null,
    isOver,
    execution,
    startedAt: reported?.startedAt ?? startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
    app: attributes.get(searchAttributes.app.name) ?? null,
    account: attributes.get(searchAttributes.account.name) ?? null,
    taskQueue: description.taskQueue,
    requestId,
    adoptedBy,
    tags: description.tags,
    serviceStatus: known?.serviceStatus ?? null,
    serviceStatusAt: watched === null ? (reported?.serviceStatusAt ?? null) : toIso(watched.serviceStatusAtMs),
    queuePosition: known?.queuePosition ?? null,
    polls: known?.polls ?? null,
    failedPolls: known?.failedPolls ?? null,
    createRequests: reported === undefined ? null : reported.createRequests + refusedCreates,
    waitingFor: isOver ? null : (waitForEarlierCreate(earlierCreateUntil) ?? reported?.waitingFor ?? null),
    nextStep: nextStep(cutOff, adoptedBy) ?? (isLeft ? (reported?.nextStep ?? null) : null),
    problem: known?.problem ?? null,
    stopRequests: stopRequests(reported?.stopRequests ?? [], cutOff !== null),
    transfers,
    retrying,
    otherUncertain: otherUncertain.map((other) => ({
      workflowId: other.workflowId,
      sentAt: new Date(other.sentAtMs).toISOString(),
    })),
    stuck,
    note: cutOff === null ? note(description, reported) : `${cutOffWords(execution)}, ${cutOffMeaning(cutOff)}`,
  };
}

/** Of one that was cut off or adopted: its workflow did not know. */
function nextStep(cutOff: CutOffTask | null, adoptedBy: string | null): string | null {
  if (adoptedBy !== null) return afterAdoption(adoptedBy);
  return cutOff && afterCutOff(cutOff);
}

/** The attempt that waits for it knows it, and the workflow does not. */
function waitForEarlierCreate(until: string | null): string | null {
  if (until === null) return null;
  return `the answer to an earlier create of this task, which may still be on its way: until ${formatMoment(until)} at the latest; without an answer it is not known whether that made a task, and nothing more is created before that is decided (CreateUncertain)`;
}

/** A workflow that was cut off can tell no more what became of those that were open. */
function stopRequests(requests: readonly StopRequestView[], wasCutOff: boolean): readonly StopRequestView[] {
  return requests.map((request) =>
    wasCutOff && isOpenRequest(request)
      ? { ...request, outcome: 'unconfirmed', words: 'Its workflow was cut off, so nothing follows it any more.' }
      : request,
  );
}

function toIso(ms: number | undefined): string | null {
  return typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

function note(
  { execution, stuck, isOverloaded, taskQueue, isCancelRequested, encryptionKey }: DescribedWorkflow,
  reported: TaskStatus | undefined,
): string | null {
  if (isOverloaded) return overloadWords;
  // Of a task that is over, Temporal has all that matters.
  if (reported !== undefined || stuck !== null || isClosed(execution)) return null;
  const stop = isCancelRequested ? ' It was asked to stop, which a worker does as soon as one is there.' : '';
  return `No worker answered in time, and without one the task makes no progress; this is what Temporal itself knows.${stop} ${noWorkerRemedy(taskQueue, encryptionKey)}`;
}

/** The begin of a sentence about a workflow that was cut off. */
export function cutOffWords(execution: WorkflowExecutionStatusName): string {
  return `The workflow was ${execution === 'TERMINATED' ? 'terminated' : 'timed out by Temporal'}`;
}
