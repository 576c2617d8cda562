import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { TransferProgress, WatchHeartbeat } from '../contract/activities';
import { workerStopping } from '../contract/failure-types';
import type { WatchedTask } from '../domain/watched-task';

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
}

type PendingActivity = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];
type Payload = NonNullable<NonNullable<PendingActivity['heartbeatDetails']>['payloads']>[number];

/** Reads the pending activities of a description: heartbeats of transfers and watches, and attempts that failed. */
export async function pendingWork(client: Client, description: WorkflowExecutionDescription): Promise<PendingWork> {
  const pending = description.raw.pendingActivities ?? [];
  const heartbeats = await Promise.all(
    pending.map((activity) => decoded(client, activity.heartbeatDetails?.payloads ?? [])),
  );
  return {
    transfers: heartbeats.flat().filter(isTransfer),
    retrying: retryingActivities(description),
    watched: heartbeats.flat().find(isWatch)?.known ?? null,
  };
}

/** The activities of a description that failed and are tried again. */
export function retryingActivities({ raw }: WorkflowExecutionDescription): readonly RetryingActivity[] {
  return (raw.pendingActivities ?? []).filter(isRetried).map(retrying);
}

/** Whether it failed before. A watch that went over from a worker that was told to stop did not. */
function isRetried({ attempt, lastFailure }: PendingActivity): boolean {
  return (attempt ?? 1) > 1 && lastFailure != null && lastFailure.applicationFailureInfo?.type !== workerStopping;
}

function retrying({ activityType, attempt, lastFailure, nextAttemptScheduleTime }: PendingActivity): RetryingActivity {
  const seconds = nextAttemptScheduleTime?.seconds;
  const nextAt = seconds == null ? undefined : new Date(Number(seconds) * 1_000);
  return {
    activity: activityType?.name ?? '',
    attempt: attempt ?? 1,
    lastFailure: lastFailure?.message ?? '',
    nextAttemptAt: nextAt === undefined || nextAt.getTime() === 0 ? null : nextAt.toISOString(),
  };
}

/** What cannot be decoded is no progress: a status must not fail for it. */
async function decoded(client: Client, payloads: Payload[]): Promise<unknown[]> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  try {
    let plain = payloads;
    for (const codec of [...payloadCodecs].reverse()) plain = await codec.decode(plain);
    return plain.map((payload) => payloadConverter.fromPayload<unknown>(payload));
  } catch {
    return [];
  }
}

function isWatch(details: unknown): details is WatchHeartbeat {
  return typeof details === 'object' && details !== null && 'watched' in details && 'known' in details;
}

function isTransfer(details: unknown): details is TransferProgress {
  if (typeof details !== 'object' || details === null) return false;
  const { transfer, name, bytes, totalBytes } = details as Partial<Record<keyof TransferProgress, unknown>>;
  const isKind = transfer === 'upload' || transfer === 'archive';
  const hasTotal = totalBytes === null || typeof totalBytes === 'number';
  return isKind && typeof name === 'string' && typeof bytes === 'number' && hasTotal;
}
