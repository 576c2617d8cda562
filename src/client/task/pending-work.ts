import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import * as v from 'valibot';
import type { Activities, TransferProgress } from '../../contract/activities';
import { waitsForTurn, workerStopping } from '../../contract/failure-types';
import { moment } from '../../contract/schema';
import { areFailingLong } from '../../core/task-state';
import { formatCount } from '../../core/text';
import { decodedFailureMessage, decodedPayload, type DescribedWorkflow, toMs } from '../workflow-info';

/** An activity that is tried again: it failed, waits for its turn, or is paused. */
export interface RetryingActivity {
  readonly activity: string;
  /** The attempt that runs or comes next, from 1. */
  readonly attempt: number;
  /** Words of the last failure; empty when it is paused before an attempt has failed. */
  readonly lastFailure: string;
  /** ISO-8601: when it is tried again; null while it is being tried or paused. */
  readonly nextAttemptAt: string | null;
  /** By an operator: it is not tried before `longhaul retry-now`, or Unpause in the Web UI's Pending Activities. */
  readonly isPaused: boolean;
  /** Nothing is wrong: a create within its account's limits is sent once those before it were. */
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
  readonly transfers: readonly TransferProgress[];
  readonly retrying: readonly RetryingActivity[];
  /** By the worker that watches the task by activity; null without one. */
  readonly watched: v.InferOutput<typeof watch>['known'] | null;
  /** Creates that the service has refused for now in the attempts of the pending one. */
  readonly refusedCreates: number;
  /** ISO-8601: until when the pending create waits for the answer to an earlier one. @default null: it does not */
  readonly earlierCreateUntil?: string | null;
}

type PendingActivities = DescribedWorkflow['pendingActivities'];
type Pending = PendingActivities[number];

const watchTask: keyof Activities = 'watchTask';
const started = temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_STARTED;
/** Ends of attempts that did not fail: the worker shut down, or an operator paused or reset the activity. */
const handedOver: readonly unknown[] = [workerStopping, 'ActivityPause', 'ActivityReset'];

// Heartbeats, as far as a view shows them: any worker may have sent them. contract/activities has their types.
const text = v.string();
const count = v.number();
const atMs = v.pipe(count, v.minValue(-8.64e15), v.maxValue(8.64e15));
const refusedCreate = v.object({ archiveId: text, refused: count });
const waitingCreate = v.object({ archiveId: text, waitsUntil: moment });
const transfer = v.object({
  transfer: v.picklist(['upload', 'archive']),
  name: text,
  bytes: count,
  totalBytes: v.nullable(count),
});
const watch = v.object({
  watched: text,
  known: v.object({
    serviceStatus: v.nullable(text),
    serviceStatusAtMs: v.fallback(v.optional(atMs), undefined),
    queuePosition: v.nullable(count),
    polls: count,
    failedPolls: count,
    problem: v.nullable(text),
  }),
  failing: v.fallback(v.optional(v.object({ sinceMs: atMs, lastMs: count, queries: count, problem: text })), undefined),
});

export async function pendingWork(client: Client, pending: PendingActivities): Promise<PendingWork> {
  const heartbeats = await readHeartbeats(client, pending);
  const running = pending.filter(({ state }) => state === started);
  return {
    transfers: parsed(transfer, heartbeats),
    retrying: await retryingActivities(client, pending),
    watched: parsed(watch, heartbeats)[0]?.known ?? null,
    refusedCreates: parsed(refusedCreate, heartbeats)[0]?.refused ?? 0,
    earlierCreateUntil: parsed(waitingCreate, await readHeartbeats(client, running))[0]?.waitsUntil ?? null,
  };
}

function parsed<Schema extends v.GenericSchema>(
  schema: Schema,
  heartbeats: readonly unknown[],
): readonly v.InferOutput<Schema>[] {
  return heartbeats.flatMap((one) => {
    const { success, output } = v.safeParse(schema, one);
    return success ? [output] : [];
  });
}

async function readHeartbeats(client: Client, pending: PendingActivities): Promise<readonly unknown[]> {
  const payloads = pending.flatMap((activity) => activity.heartbeatDetails?.payloads ?? []);
  return await Promise.all(payloads.map((payload) => decodedPayload(client, payload)));
}

export function retryingActivities(client: Client, pending: PendingActivities): Promise<readonly RetryingActivity[]> {
  return Promise.all(pending.filter(isRetried).map((one) => readRetrying(client, one)));
}

/** An activity that failed and is tried again, or was paused by an operator, or a watch that fails for minutes. */
export async function readHeldUp(client: Client, pending: PendingActivities): Promise<HeldUp | undefined> {
  const held = pending.find((one) => {
    // One that is being tried is not, except a create, which may wait within an attempt; nor is one whose turn comes.
    const isTried = one.state === started && one.activityType?.name !== 'createTask';
    return one.paused === true || (isRetried(one) && !isTried && failureType(one) !== waitsForTurn);
  });
  if (held !== undefined) {
    const { activity, lastFailure, isPaused } = await readRetrying(client, held);
    const paused = isPaused ? 'paused by an operator' : '';
    return { activity, since: firstScheduledAt(held), words: [paused, lastFailure].filter(Boolean).join('; ') };
  }
  const watches = pending.filter(({ activityType, state }) => activityType?.name === watchTask && state === started);
  const [failed] = parsed(watch, await readHeartbeats(client, watches)).flatMap(({ failing }) => failing ?? []);
  if (failed === undefined || !areFailingLong(failed)) return undefined;
  const { sinceMs, queries, problem } = failed;
  const words = `the last ${formatCount(queries)} queries failed: ${problem}`;
  return { activity: watchTask, since: new Date(sinceMs).toISOString(), words };
}

/**
 * Has Temporal try at once what waits for its next attempt, and go on with what an operator paused. Heartbeats are kept:
 * they name what an attempt before did. Returns the types of these activities, or `workflow` where that was paused.
 */
export async function retryNow(client: Client, workflow: DescribedWorkflow): Promise<readonly string[]> {
  const { workflowService, options } = client;
  const { namespace, identity } = options;
  const { workflowId, runId, execution, pendingActivities } = workflow;
  const retried: string[] = [];
  if (execution === 'PAUSED') {
    await workflowService.unpauseWorkflowExecution({ namespace, identity, workflowId, runId, reason: 'retry-now' });
    retried.push('workflow');
  }
  for (const one of pendingActivities) {
    // One that is being tried would be interrupted, and the turn of a create comes by itself.
    const waits = isRetried(one) && one.state !== started && failureType(one) !== waitsForTurn;
    if (one.paused !== true && !waits) continue;
    const { activityId: id, activityType } = one;
    const activity = { namespace, identity, execution: { workflowId, runId }, id };
    if (one.paused === true) await workflowService.unpauseActivity({ ...activity, resetAttempts: true });
    else await workflowService.resetActivity(activity);
    retried.push(activityType?.name ?? '');
  }
  return retried;
}

/** ISO-8601: when its workflow scheduled it. Temporal has that of the next attempt, and until when it may be tried. */
function firstScheduledAt({ expirationTime, activityOptions, scheduledTime }: Pending): string {
  const untilMs = toMs(expirationTime);
  const withinMs = toMs(activityOptions?.scheduleToCloseTimeout) ?? 0;
  const scheduledMs = toMs(scheduledTime) ?? Date.now();
  const firstMs = untilMs === null || withinMs === 0 ? scheduledMs : Math.min(untilMs - withinMs, scheduledMs);
  return new Date(firstMs).toISOString();
}

function failureType({ lastFailure }: Pending): string | null | undefined {
  return lastFailure?.applicationFailureInfo?.type;
}

function isRetried(one: Pending): boolean {
  const hasFailed = (one.attempt ?? 1) > 1 && one.lastFailure != null && !handedOver.includes(failureType(one));
  return one.paused === true || hasFailed;
}

async function readRetrying(client: Client, activity: Pending): Promise<RetryingActivity> {
  const { activityType, attempt, lastFailure, nextAttemptScheduleTime } = activity;
  const isPaused = activity.paused === true;
  const nextMs = Number(nextAttemptScheduleTime?.seconds ?? 0) * 1_000;
  const type = failureType(activity);
  return {
    activity: activityType?.name ?? '',
    attempt: attempt ?? 1,
    lastFailure: handedOver.includes(type) ? '' : await decodedFailureMessage(client, lastFailure ?? {}),
    nextAttemptAt: nextMs === 0 || isPaused ? null : new Date(nextMs).toISOString(),
    isPaused,
    waitsForTurn: type === waitsForTurn,
  };
}
