import type { Client } from '@temporalio/client';
import type { CreateHeartbeat, TransferProgress, WatchHeartbeat } from '../contract/activities';
import { workerStopping } from '../contract/failure-types';
import { isRecord } from '../domain/json';
import type { WatchedTask } from '../domain/task-state';
import { decodedPayload, type DescribedWorkflow } from './workflow-info';

/** An activity that failed and is tried again. */
export interface RetryingActivity {
  readonly activity: string;
  /** The attempt that runs or comes next, from 1. */
  readonly attempt: number;
  /** What the last attempt complained of. */
  readonly lastFailure: string;
  /** ISO-8601: when it is tried again; null while it is being tried. */
  readonly nextAttemptAt: string | null;
}

/** What a task's activities are at: more than the workflow itself knows. */
export interface PendingWork {
  /** Uploads and downloads in flight. */
  readonly transfers: readonly TransferProgress[];
  readonly retrying: readonly RetryingActivity[];
  /** What the worker knows that watches the task by activity; null without one. */
  readonly watched: WatchedTask | null;
  /** How many creates the service has refused for now in the attempts of the pending one. */
  readonly refusedCreates: number;
}

type PendingActivities = DescribedWorkflow['pendingActivities'];

/** Reads the pending activities of a workflow: heartbeats of transfers and watches, and attempts that failed. */
export async function pendingWork(client: Client, pending: PendingActivities): Promise<PendingWork> {
  const payloads = pending.flatMap((activity) => activity.heartbeatDetails?.payloads ?? []);
  const heartbeats = await Promise.all(payloads.map((payload) => decodedPayload(client, payload)));
  return {
    transfers: heartbeats.filter(isTransfer),
    retrying: retryingActivities(pending),
    watched: heartbeats.find(isWatch)?.known ?? null,
    refusedCreates: heartbeats.find(isRefusedCreate)?.refused ?? 0,
  };
}

/** The activities that failed and are tried again. */
export function retryingActivities(pending: PendingActivities): readonly RetryingActivity[] {
  return pending.filter(isRetried).map(retrying);
}

/** Whether it failed before. A watch that went over from a worker that was told to stop did not. */
function isRetried({ attempt, lastFailure }: PendingActivities[number]): boolean {
  return (attempt ?? 1) > 1 && lastFailure != null && lastFailure.applicationFailureInfo?.type !== workerStopping;
}

function retrying({
  activityType,
  attempt,
  lastFailure,
  nextAttemptScheduleTime,
}: PendingActivities[number]): RetryingActivity {
  const seconds = nextAttemptScheduleTime?.seconds;
  const nextAt = seconds == null ? undefined : new Date(Number(seconds) * 1_000);
  return {
    activity: activityType?.name ?? '',
    attempt: attempt ?? 1,
    lastFailure: lastFailure?.message ?? '',
    nextAttemptAt: nextAt === undefined || nextAt.getTime() === 0 ? null : nextAt.toISOString(),
  };
}

function isWatch(details: unknown): details is WatchHeartbeat {
  return isRecord(details) && typeof details['watched'] === 'string' && isWatchedTask(details['known']);
}

function isRefusedCreate(details: unknown): details is CreateHeartbeat {
  return isRecord(details) && typeof details['archiveId'] === 'string' && typeof details['refused'] === 'number';
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
