import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { Activities, CreateHeartbeat, TransferProgress, WatchHeartbeat } from '../../contract/activities';
import { waitsForTurn, workerStopping } from '../../contract/failure-types';
import { areFailingLong, type FailingQueries, type WatchedTask } from '../../core/task-state';
import { isRecord } from '../../core/json';
import { formatCount } from '../../core/text';
import { decodedFailureMessage, decodedPayload, type DescribedWorkflow, toMs } from '../workflow-info';

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
  /** What its last attempt, or the last query of a watch, complained of. */
  readonly words: string;
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
 * What keeps a task from going on now: the activity that failed and is to be tried again, or that an operator paused, or
 * a watch whose queries have failed for minutes.
 */
export async function readHeldUp(client: Client, pending: PendingActivities): Promise<HeldUp | undefined> {
  const held = pending.find((one) => {
    // One that is being tried is not, except a create, which may wait within an attempt; nor is one whose turn comes.
    const isTried = one.state === started && one.activityType?.name !== 'createTask';
    return one.paused === true || (isRetried(one) && !isTried && typeOf(one.lastFailure) !== waitsForTurn);
  });
  if (held !== undefined) {
    const { activity, lastFailure, isPaused } = await retrying(client, held);
    const paused = isPaused ? 'paused by an operator' : '';
    return { activity, since: firstScheduledAt(held), words: [paused, lastFailure].filter(Boolean).join('; ') };
  }
  const watches = pending.filter(({ activityType, state }) => activityType?.name === watchTask && state === started);
  const failing = (await heartbeatsOf(client, watches)).find(isFailingWatch)?.failing;
  if (failing === undefined || !areFailingLong(failing)) return undefined;
  const { sinceMs, queries, problem } = failing;
  const words = `the last ${formatCount(queries)} queries failed: ${problem}`;
  return { activity: watchTask, since: new Date(sinceMs).toISOString(), words };
}

const watchTask: keyof Activities = 'watchTask';
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

function isFailingWatch(details: unknown): details is WatchHeartbeat & { readonly failing: FailingQueries } {
  if (!isWatch(details) || !isRecord(details.failing)) return false;
  const { sinceMs, lastMs, queries, problem } = details.failing;
  const isMoment = typeof sinceMs === 'number' && !Number.isNaN(new Date(sinceMs).getTime());
  return isMoment && typeof lastMs === 'number' && typeof queries === 'number' && typeof problem === 'string';
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
