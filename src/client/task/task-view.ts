import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { CreateHeartbeat, TransferProgress, WatchHeartbeat } from '../../contract/activities';
import { waitsForTurn, workerStopping } from '../../contract/failure-types';
import { searchAttributes } from '../../contract/search-attributes';
import type { StopRequestView, TaskStatus } from '../../contract/task-messages';
import { adoptionKey, batchOfRow, taskKeyOf, taskWorkflowId } from '../../contract/workflow-ids';
import { isRecord } from '../../domain/json';
import { shellWord } from '../../domain/shell-word';
import type { LonghaulStatus, ServiceStatus, WatchedTask } from '../../domain/task-state';
import { formatMoment } from '../../domain/time';
import { noWorkerRemedy } from '../errors';
import { isClosed } from '../existing-run';
import { unfollowedTask } from '../workflow-ending';
import {
  decodedFailureMessage,
  decodedPayload,
  type DescribedWorkflow,
  type StuckWorkflow,
  toMs,
} from '../workflow-info';

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
  const { description, reported, pending, webhooks = [], adoptedBy = null, url } = sources;
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
  { execution, stuck, taskQueue, isCancelRequested, encryptionKey }: DescribedWorkflow,
  isOver: boolean,
  known: Pick<TaskView, 'status' | 'requestId' | 'adoptedBy'> & { readonly isAnswered: boolean },
): string | null {
  if (isCutOff(execution)) return `${cutOffWords(execution)}, ${afterCutOff(known)}`;
  if (known.isAnswered || stuck !== null) return null;
  // Of a task that is over, Temporal has all that matters.
  if (isOver) return null;
  const stop = isCancelRequested ? ' It was asked to stop, which a worker does as soon as one is there.' : '';
  return `No worker answered, so the task makes no progress now; this is what Temporal itself knows.${stop} ${noWorkerRemedy(taskQueue, encryptionKey)}`;
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

/** An activity that is tried again: it failed, waits for its turn, or is paused. */
export interface RetryingActivity {
  readonly activity: string;
  /** The attempt that runs or comes next, from 1. */
  readonly attempt: number;
  /** What the last attempt complained of; empty when it is paused before an attempt has failed. */
  readonly lastFailure: string;
  /** ISO-8601: when it is tried again; null while it is being tried or paused. */
  readonly nextAttemptAt: string | null;
  /** Whether an operator paused it: it is not tried before Unpause, in the Web UI's Pending Activities. */
  readonly isPaused: boolean;
  /** Whether nothing is wrong: a create within its account's limits is sent once those before it were. */
  readonly waitsForTurn: boolean;
}

/** What keeps a task from going on now. */
export interface HeldUp {
  /** The step that it cannot take. */
  readonly activity: string;
  /** ISO-8601: since when it wants to. */
  readonly since: string;
  /** What its last attempt complained of. */
  readonly words: string;
}

/** A webhook that tells an end of the task, and that its receiver has not taken. */
export interface UndeliveredWebhook {
  /** The workflow that delivers it. */
  readonly workflowId: string;
  /** The header `webhook-id` of all its attempts. */
  readonly id: string;
  /** Whether it is sent no more; otherwise it is tried again. */
  readonly isGivenUp: boolean;
  /** ISO-8601: since when it is sent. */
  readonly startedAt: string;
  /** Why the last attempt failed; null while the first is on its way. */
  readonly lastFailure: string | null;
  /** ISO-8601: when it is tried again; null while it is being sent, and when it is given up. */
  readonly nextAttemptAt: string | null;
}

/** The state of a task's activities, which the workflow itself does not have. */
export interface PendingWork {
  /** Uploads and downloads in flight. */
  readonly transfers: readonly TransferProgress[];
  readonly retrying: readonly RetryingActivity[];
  /** The state that the worker watching the task by activity reported; null without one. */
  readonly watched: WatchedTask | null;
  /** How many creates the service has refused for now in the attempts of the pending one. */
  readonly refusedCreates: number;
  /** ISO-8601: until when the pending create waits for the answer to an earlier one. @default null: it does not */
  readonly earlierCreateUntil?: string | null;
}

type PendingActivities = DescribedWorkflow['pendingActivities'];

/** Reads the pending activities of a workflow: heartbeats of transfers and watches, and attempts that failed. */
export async function pendingWork(client: Client, pending: PendingActivities): Promise<PendingWork> {
  const heartbeats = await heartbeatsOf(client, pending);
  const ofRunning = await heartbeatsOf(
    client,
    pending.filter(({ state }) => state === started),
  );
  return {
    transfers: heartbeats.filter(isTransfer),
    retrying: await retryingActivities(client, pending),
    watched: heartbeats.find(isWatch)?.known ?? null,
    refusedCreates: heartbeats.find(isRefusedCreate)?.refused ?? 0,
    earlierCreateUntil: ofRunning.find(isWaitingCreate)?.waitsUntil ?? null,
  };
}

async function heartbeatsOf(client: Client, pending: PendingActivities): Promise<readonly unknown[]> {
  const payloads = pending.flatMap((activity) => activity.heartbeatDetails?.payloads ?? []);
  return await Promise.all(payloads.map((payload) => decodedPayload(client, payload)));
}

/** The activities that are tried again. */
export function retryingActivities(client: Client, pending: PendingActivities): Promise<readonly RetryingActivity[]> {
  return Promise.all(pending.filter(isRetried).map((one) => retrying(client, one)));
}

/**
 * What keeps a task from going on now: the activity that failed and is to be tried again, or that an operator paused.
 */
export async function readHeldUp(client: Client, pending: PendingActivities): Promise<HeldUp | undefined> {
  const held = pending.find(isHeldUp);
  if (held === undefined) return undefined;
  const { activity, lastFailure, isPaused } = await retrying(client, held);
  const paused = isPaused ? 'paused by an operator' : '';
  return { activity, since: firstScheduledAt(held), words: [paused, lastFailure].filter(Boolean).join('; ') };
}

/** One that is being tried is not, except a create, which may wait within an attempt; nor is one whose turn comes. */
function isHeldUp(activity: PendingActivities[number]): boolean {
  const { activityType, state, lastFailure, paused } = activity;
  if (paused === true) return true;
  const isTried = state === started && activityType?.name !== 'createTask';
  return isRetried(activity) && !isTried && typeOf(lastFailure) !== waitsForTurn;
}

const started = temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;

/** ISO-8601: when its workflow scheduled it. Temporal has that of the next attempt, and until when it may be tried. */
function firstScheduledAt({ expirationTime, activityOptions, scheduledTime }: PendingActivities[number]): string {
  const untilMs = toMs(expirationTime);
  const withinMs = toMs(activityOptions?.scheduleToCloseTimeout) ?? 0;
  const scheduledMs = toMs(scheduledTime) ?? Date.now();
  const firstMs = untilMs === null || withinMs === 0 ? scheduledMs : Math.min(untilMs - withinMs, scheduledMs);
  return new Date(firstMs).toISOString();
}

/** Whether it failed before, or is paused. */
function isRetried({ attempt, lastFailure, paused }: PendingActivities[number]): boolean {
  return paused === true || ((attempt ?? 1) > 1 && lastFailure != null && !isHandedOver(lastFailure));
}

type Failure = PendingActivities[number]['lastFailure'];

function typeOf(failure: Failure): string | null | undefined {
  return failure?.applicationFailureInfo?.type;
}

/** Ends of an attempt that did not fail: its worker shut down, or an operator paused or reset the activity (of the SDK). */
const handedOver: readonly unknown[] = [workerStopping, 'ActivityPause', 'ActivityReset'];

function isHandedOver(failure: Failure): boolean {
  return handedOver.includes(typeOf(failure));
}

async function retrying(client: Client, activity: PendingActivities[number]): Promise<RetryingActivity> {
  const { activityType, attempt, lastFailure, nextAttemptScheduleTime, paused } = activity;
  const seconds = nextAttemptScheduleTime?.seconds;
  const nextAt = seconds == null ? undefined : new Date(Number(seconds) * 1_000);
  return {
    activity: activityType?.name ?? '',
    attempt: attempt ?? 1,
    lastFailure: isHandedOver(lastFailure) ? '' : await decodedFailureMessage(client, lastFailure ?? {}),
    nextAttemptAt: nextAt === undefined || nextAt.getTime() === 0 || paused === true ? null : nextAt.toISOString(),
    isPaused: paused === true,
    waitsForTurn: typeOf(lastFailure) === waitsForTurn,
  };
}

function isWatch(details: unknown): details is WatchHeartbeat {
  return isRecord(details) && typeof details['watched'] === 'string' && isWatchedTask(details['known']);
}

function isRefusedCreate(details: unknown): details is CreateHeartbeat {
  return isRecord(details) && typeof details['archiveId'] === 'string' && typeof details['refused'] === 'number';
}

function isWaitingCreate(details: unknown): details is CreateHeartbeat & { readonly waitsUntil: string } {
  if (!isRecord(details) || typeof details['archiveId'] !== 'string') return false;
  return typeof details['waitsUntil'] === 'string' && !Number.isNaN(Date.parse(details['waitsUntil']));
}

/** As far as a view shows it. */
function isWatchedTask(known: unknown): known is WatchedTask {
  if (!isRecord(known)) return false;
  const { serviceStatus, queuePosition, polls, failedPolls, problem } = known;
  const areTexts = [serviceStatus, problem].every((one) => one === null || typeof one === 'string');
  const areCounts = [polls, failedPolls].every((one) => typeof one === 'number');
  return areTexts && areCounts && (queuePosition === null || typeof queuePosition === 'number');
}

function isTransfer(details: unknown): details is TransferProgress {
  if (typeof details !== 'object' || details === null) return false;
  const { transfer, name, bytes, totalBytes } = details as Partial<Record<keyof TransferProgress, unknown>>;
  const isKind = transfer === 'upload' || transfer === 'archive';
  const hasTotal = totalBytes === null || typeof totalBytes === 'number';
  return isKind && typeof name === 'string' && typeof bytes === 'number' && hasTotal;
}
