import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { TransferProgress } from '../../contract/activities';
import { searchAttributes } from '../../contract/search-attributes';
import type { StopRequestView, TaskStatus } from '../../contract/task-messages';
import { adoptionKey, batchOfRow, taskKeyOf, taskWorkflowId } from '../../contract/workflow-ids';
import type { UncertainCreate } from '../../domain/adoption';
import { shellWord } from '../../domain/shell-word';
import type { LonghaulStatus, ServiceStatus } from '../../domain/task-state';
import { formatMoment } from '../../domain/time';
import { noWorkerRemedy } from '../errors';
import { isClosed } from '../existing-run';
import { unfollowedTask } from '../workflow-ending';
import { type DescribedWorkflow, overloadWords, type StuckWorkflow } from '../workflow-info';
import type { PendingWork, RetryingActivity } from './pending-work';
import type { UndeliveredWebhook } from './task-webhooks';

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
  /** Of a task that is over, the webhooks that their receiver has not taken, newest first; null where it cannot be told. */
  readonly webhooks: readonly UndeliveredWebhook[] | null;
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
  readonly webhooks?: readonly UndeliveredWebhook[] | null;
  /** @default none */
  readonly adoptedBy?: string | null;
  /** @default none */
  readonly otherUncertain?: readonly UncertainCreate[];
  readonly url: string | null;
}

/** The request id as the workflow tells it, or else as Temporal's list does. */
export function knownRequestId(
  { attributes }: Pick<DescribedWorkflow, 'attributes'>,
  reported: TaskStatus | undefined,
): string | null {
  return reported?.requestId ?? attributes.get(searchAttributes.requestId.name) ?? null;
}

/** Merges the parts. Pure. */
export function taskView(sources: TaskViewSources): TaskView {
  const { description, reported, pending, webhooks = [], adoptedBy = null, otherUncertain = [], url } = sources;
  const { workflowId, execution, startedAt, closedAt, attributes, stuck } = description;
  const isOver = isClosed(execution);
  const { transfers, retrying, watched, refusedCreates, earlierCreateUntil = null } = pending;
  // A worker that watches the task knows more than the workflow, which waits for it.
  const known = watched ?? reported;
  const requestId = knownRequestId(description, reported);
  const status = reported?.status ?? attributes.get(searchAttributes.status.name) ?? 'PreparingInputs';
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
    nextStep: nextStep(description, reported, { status, requestId, adoptedBy }),
    problem: known?.problem ?? null,
    stopRequests: stopRequests(execution, reported),
    transfers,
    retrying,
    otherUncertain: otherUncertain.map((other) => ({
      workflowId: other.workflowId,
      sentAt: new Date(other.sentAtMs).toISOString(),
    })),
    webhooks,
    stuck,
    note: note(description, isOver, { status, requestId, adoptedBy, isAnswered: reported !== undefined }),
  };
}

/** The attempt that waits for it knows it, and the workflow does not. */
function waitForEarlierCreate(until: string | null): string | null {
  if (until === null) return null;
  return `the answer to an earlier create of this task, which may still be on its way: until ${formatMoment(until)} at the latest; without an answer it is not known whether that made a task, and nothing more is created before that is decided (CreateUncertain)`;
}

/** Of a task that failed, what is left to do for a person; of one that was cut off, its workflow did not know. */
function nextStep(
  { workflowId, execution }: DescribedWorkflow,
  reported: TaskStatus | undefined,
  { status, requestId, adoptedBy }: Pick<TaskView, 'status' | 'requestId' | 'adoptedBy'>,
): string | null {
  if (adoptedBy !== null) return `longhaul status ${taskKeyOf(adoptedBy) ?? adoptedBy} tells how its task goes on`;
  if (!isCutOff(execution)) return isClosed(execution) && execution !== 'FAILED' ? null : (reported?.nextStep ?? null);
  if (requestId !== null && workflowId === taskWorkflowId(adoptionKey(requestId)))
    return `longhaul adopt ${shellWord(requestId)} follows and archives it again; nothing is created`;
  const batch = batchOfRow(workflowId);
  const again =
    batch === undefined
      ? `longhaul run with --key ${taskKeyOf(workflowId) ?? 'KEY'} --retry and the same input`
      : `longhaul batch retry ${batch}, which pays anew for other rows that were not successful,`;
  const takesOver = `${again} takes over what was created, without paying for it twice`;
  if (status === 'CreateUncertain' && requestId === null) {
    return `longhaul reconcile tells whether it is settled by now what was created, in the create record, and if not, how to settle it; then ${takesOver}`;
  }
  if (requestId === null) return `${takesOver}; longhaul reconcile tells what is known of it`;
  return `longhaul adopt ${shellWord(requestId)} follows and archives what was created, at no cost; or ${takesOver}`;
}

/** A workflow that was cut off can tell no more what became of those that were open. */
function stopRequests(
  execution: WorkflowExecutionStatusName,
  reported: TaskStatus | undefined,
): readonly StopRequestView[] {
  const requests = reported?.stopRequests ?? [];
  if (!isCutOff(execution)) return requests;
  return requests.map((request) =>
    request.outcome === 'waiting' || request.outcome === 'sent'
      ? { ...request, outcome: 'unconfirmed', words: 'Its workflow was cut off, so nothing follows it any more.' }
      : request,
  );
}

function isCutOff(execution: WorkflowExecutionStatusName): boolean {
  return execution === 'TERMINATED' || execution === 'TIMED_OUT';
}

function toIso(ms: number | undefined): string | null {
  return typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

function note(
  { execution, stuck, isOverloaded, taskQueue, isCancelRequested, encryptionKey }: DescribedWorkflow,
  isOver: boolean,
  known: Pick<TaskView, 'status' | 'requestId' | 'adoptedBy'> & { readonly isAnswered: boolean },
): string | null {
  if (isCutOff(execution)) return `${cutOffWords(execution)}, ${afterCutOff(known)}`;
  if (isOverloaded) return overloadWords;
  if (known.isAnswered || stuck !== null) return null;
  // Of a task that is over, Temporal has all that matters.
  if (isOver) return null;
  const stop = isCancelRequested ? ' It was asked to stop, which a worker does as soon as one is there.' : '';
  return `No worker answered in time, and without one the task makes no progress; this is what Temporal itself knows.${stop} ${noWorkerRemedy(taskQueue, encryptionKey)}`;
}

/** The begin of a sentence about a workflow that was cut off. */
export function cutOffWords(execution: WorkflowExecutionStatusName): string {
  return `The workflow was ${execution === 'TERMINATED' ? 'terminated' : 'timed out by Temporal'}`;
}

/** Temporal does not know what the create record says: a person may have settled it since. */
function afterCutOff({ status, requestId, adoptedBy }: Pick<TaskView, 'status' | 'requestId' | 'adoptedBy'>): string {
  if (adoptedBy !== null) return `and ${adoptedBy} took its task over.`;
  if (status !== 'CreateUncertain' || requestId !== null) return unfollowedTask;
  return 'and it was not known whether it had created a task: its create record says whether that was settled since, which Temporal does not know.';
}
