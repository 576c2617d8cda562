import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import * as v from 'valibot';
import type { Activities, TransferProgress } from '../../contract/activities';
import { waitsForTurn, workerStopping } from '../../contract/failure-types';
import type { Problem, ProblemCode } from '../../contract/problem';
import { pausedRemedy } from '../../contract/task-advice';
import { moment } from '../../contract/schema';
import { areFailingLong } from '../../core/task-state';
import { formatCount } from '../../core/text';
import { decodedFailureMessage, decodedPayload, type DescribedWorkflow, toMs } from '../workflow-info';

/** The state of a task's activities, which the workflow itself does not have. */
export interface PendingWork {
  readonly transfers: readonly TransferProgress[];
  readonly problem: Problem | null;
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
    turnInMs: v.optional(count),
    polls: count,
    failedPolls: count,
    problem: v.nullable(text),
  }),
  failing: v.fallback(v.optional(v.object({ sinceMs: atMs, lastMs: count, queries: count, problem: text })), undefined),
});

export async function pendingWork(
  client: Client,
  { workflowId, pendingActivities: pending }: DescribedWorkflow,
): Promise<PendingWork> {
  const heartbeats = await readHeartbeats(client, pending);
  const running = pending.filter(({ state }) => state === started);
  return {
    transfers: parsed(transfer, heartbeats),
    problem: await pendingProblem(client, pending, workflowId),
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

/**
 * Of an activity that an operator paused, or that failed or waits for its turn and is tried again, or of a watch whose
 * queries fail for minutes. Without the number of the attempt, so that an hour of attempts is one problem.
 */
export async function pendingProblem(
  client: Client,
  pending: PendingActivities,
  workflowId = '',
): Promise<Problem | null> {
  for (const code of ['Paused', 'Retrying', 'HeldBack'] as const) {
    const one = pending.find((activity) => codeOf(activity) === code);
    if (one === undefined) continue;
    const words = await failureWords(client, one);
    const why = words === '' ? '' : `: ${words}`;
    const since = firstScheduledAt(one);
    if (code === 'HeldBack') return { code, message: words, since, remedy: null };
    const message = `${one.activityType?.name ?? ''}${code === 'Paused' ? ' is paused by an operator' : ''}${why}`;
    const nextMs = code === 'Paused' ? null : toMs(one.nextAttemptScheduleTime);
    const nextAttemptAt = nextMs === null ? undefined : new Date(nextMs).toISOString();
    return { code, message, since, remedy: code === 'Paused' ? pausedRemedy(workflowId) : null, nextAttemptAt };
  }
  const watches = pending.filter(({ activityType, state }) => activityType?.name === watchTask && state === started);
  const [failed] = parsed(watch, await readHeartbeats(client, watches)).flatMap(({ failing }) => failing ?? []);
  if (failed === undefined || !areFailingLong(failed)) return null;
  const { sinceMs, queries, problem } = failed;
  const message = `${watchTask}: the last ${formatCount(queries)} queries failed: ${problem}`;
  return { code: 'Retrying', message, since: new Date(sinceMs).toISOString(), remedy: null };
}

const waitsForEnds: readonly string[] = [watchTask, 'awaitRowEnds'];

function codeOf(one: Pending): ProblemCode | undefined {
  if (one.paused === true) return 'Paused';
  const hasFailed = (one.attempt ?? 1) > 1 && one.lastFailure != null && !handedOver.includes(failureType(one));
  // One that another worker took over goes on, and one that waits for an end says so by its heartbeats.
  const isTakenOver =
    one.lastFailure?.timeoutFailureInfo != null || waitsForEnds.includes(one.activityType?.name ?? '');
  if (!hasFailed || (one.state === started && isTakenOver)) return undefined;
  return failureType(one) === waitsForTurn ? 'HeldBack' : 'Retrying';
}

/** Of its last attempt; empty where that did not fail. */
async function failureWords(client: Client, one: Pending): Promise<string> {
  return handedOver.includes(failureType(one)) ? '' : await decodedFailureMessage(client, one.lastFailure ?? {});
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
    const waits = codeOf(one) === 'Retrying' && one.state !== started;
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
