import {
  type ActivityOptions,
  ApplicationFailure,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import * as v from 'valibot';
import type { Activities } from '../contract/activities';
import type { BatchActivities } from '../contract/batch/batch-activities';
import type { BatchPlan } from '../contract/batch/parse-batch-input';
import type { TaskPlan } from '../contract/parse-task-input';
import type { SweepActivities } from '../contract/sweep';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import type { WebhookActivities } from '../contract/webhook';
import { isRequestId } from '../core/create-outcome';
import { isRecord } from '../core/json';

type Tuning = TaskPlan['tuning'];

/** After so long without a heartbeat the worker counts as gone. */
const transferHeartbeatTimeout = '10 seconds';

/** Temporal alone retries, with doubling pauses, until the call's own time is over. */
function endlessRetry({ retryMaxMs }: { readonly retryMaxMs: number }): {
  initialInterval: number;
  maximumInterval: number;
} {
  return { initialInterval: Math.min(1_000, retryMaxMs), maximumInterval: retryMaxMs };
}

export function transferOptions(tuning: Tuning, summary: string, withinMs: number): ActivityOptions {
  return {
    summary,
    taskQueue: transferTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '12 hours',
    heartbeatTimeout: transferHeartbeatTimeout,
    scheduleToCloseTimeout: withinMs,
    cancellationType: 'TRY_CANCEL',
    retry: endlessRetry(tuning),
  };
}

/** Without a `priorityKey` archives have that of their task. */
export function archiveOptions(tuning: Tuning, withinMs: number, priorityKey: 1 | 2 | undefined): ActivityOptions {
  return {
    ...transferOptions(tuning, 'Archive the outputs', withinMs),
    taskQueue: archiveTaskQueue(workflowInfo().taskQueue),
    priority: priorityKey && { priorityKey },
  };
}

/** Watches last for hours; a dead or stopping worker is replaced until the task's time is over. */
export function watchOptions(tuning: Tuning, heartbeatTimeout: number, untilDeadlineMs: number): ActivityOptions {
  const { watchHeartbeatMs, retryMaxMs } = tuning;
  // For when no worker watches: the watch itself checks the deadlines.
  const withinMs = untilDeadlineMs + 2 * watchHeartbeatMs;
  return {
    summary: 'Watch the task; the heartbeat tells its state',
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    heartbeatTimeout,
    startToCloseTimeout: withinMs,
    scheduleToCloseTimeout: withinMs,
    // The worker learns of the cancellation from the answer to its next heartbeat.
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: Math.min(1_000, retryMaxMs), backoffCoefficient: 1 },
  };
}

/** A lost attempt is not retried: the workflow first finds out what it did. */
export function createOptions(tuning: Tuning, summary: string, withinMs: number): ActivityOptions {
  const { createRetryMs, createRetryMaxMs, createTimeoutMs } = tuning;
  return {
    summary,
    startToCloseTimeout: createTimeoutMs,
    // An attempt that begins at the last moment still has time to end.
    scheduleToCloseTimeout: withinMs + createTimeoutMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: {
      initialInterval: createRetryMs,
      maximumInterval: Math.max(createRetryMs, createRetryMaxMs),
      nonRetryableErrorTypes: ['TemporalTimeout:StartToClose'],
    },
  };
}

/** One attempt, which answers while the person who asked still waits. */
export const adoptionCheckOptions: ActivityOptions = {
  summary: 'Does the service know this task?',
  startToCloseTimeout: '4500 milliseconds',
  scheduleToCloseTimeout: '4500 milliseconds',
  retry: { maximumAttempts: 1 },
};

export function verbOptions(summary: string): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: '15 seconds',
    scheduleToCloseTimeout: '1 minute',
    retry: { maximumAttempts: 1 },
  };
}

export function awaitRowEndsOptions(tuning: BatchPlan['tuning']): ActivityOptions {
  return {
    ...batchOptions(tuning, 'Wait for rows to end'),
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    heartbeatTimeout: transferHeartbeatTimeout,
    startToCloseTimeout: '30 days',
    cancellationType: 'ABANDON',
  };
}

/** Retried without end: nothing here costs money twice, and running rows go on meanwhile. */
export function batchOptions(tuning: BatchPlan['tuning'], summary: string): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: '1 hour',
    heartbeatTimeout: '30 seconds',
    // Steps after a stopped one rely on its being over.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: endlessRetry(tuning),
  };
}

/** On the queue of watches: a stopping worker gives it up at once, and it takes no slot of a create. Low priority. */
function sideOptions(summary: string, withinMs: number): ActivityOptions {
  return {
    summary,
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    scheduleToCloseTimeout: withinMs,
    cancellationType: 'TRY_CANCEL',
    priority: { priorityKey: 5 },
  };
}

const sweepMs = 6 * 3_600_000;

/** A Schedule does not start the next sweep meanwhile. */
export function sweepActivities(): SweepActivities {
  return proxyActivities<SweepActivities>({
    ...sideOptions('Compare Temporal, the archive and the service', sweepMs),
    startToCloseTimeout: sweepMs,
    heartbeatTimeout: '30 seconds',
    retry: { initialInterval: '10 seconds', maximumInterval: '5 minutes' },
  });
}

/** After so long it takes a reset; docs/guides/webhooks.md. */
const deliveryMs = 3 * 86_400_000;

export function webhookActivities(webhook: string): WebhookActivities {
  return proxyActivities<WebhookActivities>({
    ...sideOptions(`Send it to the webhook ${webhook}`, deliveryMs),
    startToCloseTimeout: '30 seconds',
    retry: { initialInterval: '5 seconds', maximumInterval: '1 hour' },
  });
}

const text = v.string();
const count = v.pipe(v.number(), v.finite(), v.minValue(0));
const record = v.looseObject({});
const records = v.array(record);
const poll = v.variant('seen', [
  v.object({ seen: v.literal('notFound') }),
  v.object({ seen: v.picklist(['gone', 'nothing']), problem: text, turnInMs: v.optional(count) }),
  v.object({
    seen: v.literal('task'),
    status: text,
    callbacksCome: v.optional(v.boolean()),
    timestamps: v.optional(record),
    costTimes: v.optional(record),
  }),
]);
const archived = v.object({
  manifest: text,
  outputs: v.array(v.object({ path: text, sha256: text, bytes: count })),
});
const verbAnswer = v.variant('taken', [
  v.object({ taken: v.literal(true) }),
  v.object({ taken: v.literal(false), refused: v.boolean(), words: text }),
]);

/** Checked, because a person may complete an activity with anything. */
const results: Readonly<Record<string, v.GenericSchema>> = {
  inspectInputs: v.object({ files: v.array(v.object({ file: text, sha256: text, bytes: count })) }),
  storeInput: v.object({
    name: text,
    sha256: text,
    bytes: count,
    resource: v.object({ objectKey: text, name: text, resourceId: v.nonOptional(v.unknown()) }),
  }),
  createTask: v.variant('outcome', [
    v.object({
      outcome: v.literal('accepted'),
      requestId: v.custom(isRequestId),
      callbackAsked: v.optional(v.boolean()),
    }),
    v.object({ outcome: v.picklist(['notSent', 'uncertain']), reason: text }),
    v.object({ outcome: v.literal('rejected'), message: text, retryable: v.boolean(), httpStatus: v.number() }),
  ]),
  pollTask: poll,
  checkAdoption: v.object({ poll, follower: v.nullable(text) }),
  watchTask: v.object({
    known: v.object({
      polls: count,
      failedPolls: count,
      unknownInARow: count,
      serviceStatusSinceMs: count,
      serviceStatus: v.nullable(text),
    }),
    pollResult: poll,
    archived: v.optional(archived),
  }),
  cancelTask: verbAnswer,
  interruptTask: verbAnswer,
  archiveOutputs: archived,
  openBatch: v.object({ gone: v.optional(count), succeeded: v.optional(count) }),
  startRows: v.object({ running: records, ended: records, onRecord: record, next: v.nullable(record) }),
  awaitRowEnds: v.object({ ended: records, next: record }),
  pollRows: v.object({ ended: records, polled: v.optional(count) }),
  reportBatch: v.object({ jsonl: text, csv: text, success: count, failed: count, canceled: count }),
};

const resultInvalid = 'ActivityResultInvalid';

export function isResultInvalid(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === resultInvalid;
}

interface Runner {
  (...args: readonly unknown[]): Promise<unknown>;
  readonly executeWithOptions: (...args: readonly unknown[]) => Promise<unknown>;
}

function withCheckedResults<A extends object>(proxies: A): A {
  return new Proxy(proxies, {
    get: (target, name) => {
      const run = Reflect.get(target, name) as Runner;
      const schema = results[String(name)];
      if (schema === undefined) return run;
      const check = (result: unknown): unknown => {
        if (isRecord(result) && v.is(schema, result)) return result;
        throw ApplicationFailure.create({
          type: resultInvalid,
          message: `The result of the activity ${String(name)} has another form than this workflow reads; it may have been given by hand.`,
        });
      };
      const checked = (...args: readonly unknown[]): Promise<unknown> => run(...args).then(check);
      return Object.assign(checked, {
        executeWithOptions: (...args: readonly unknown[]) => run.executeWithOptions(...args).then(check),
      });
    },
  });
}

export const activities = withCheckedResults(
  proxyActivities<Omit<Activities, 'pollTask'>>({ startToCloseTimeout: '30 seconds' }),
);

/** A local activity costs 6 history events instead of 11. A failed poll is data, never retried here. */
export const { pollTask } = withCheckedResults(
  proxyLocalActivities<{ pollTask: Activities['pollTask'] }>({
    // It occupies the workflow task.
    startToCloseTimeout: '4 seconds',
    summary: 'How is the task?',
    retry: { maximumAttempts: 1 },
  }),
);

export const batchActivities = withCheckedResults(proxyActivities<BatchActivities>({ startToCloseTimeout: '1 hour' }));
