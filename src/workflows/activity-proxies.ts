import { type ActivityOptions, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../contract/activities';
import type { BatchActivities } from '../contract/batch/batch-activities';
import type { BatchPlan } from '../contract/batch/parse-batch-input';
import type { TaskPlan } from '../contract/parse-task-input';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import { withCheckedResults } from './activity-results';

type Tuning = TaskPlan['tuning'];

/** How long one `detail` query may take; it occupies the workflow task. */
const pollTimeout = '4 seconds';
/** A transfer heartbeats every few seconds; this long without one means that its worker is gone. */
const transferHeartbeatTimeout = '10 seconds';
const transferTimeout = '12 hours';

const firstRetryMs = 1_000;

/** Uploads: on their own queue, heartbeating, retried until `withinMs` is over. */
export function transferOptions({ retryMaxMs }: Tuning, summary: string, withinMs: number): ActivityOptions {
  return {
    summary,
    taskQueue: transferTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: transferTimeout,
    heartbeatTimeout: transferHeartbeatTimeout,
    scheduleToCloseTimeout: withinMs,
    // Once the transfer is asked to stop there is nothing to wait for: go on at once.
    cancellationType: 'TRY_CANCEL',
    // Temporal is the single retry engine: doubling pauses, without end, until the call's own time is over.
    retry: { initialInterval: Math.min(firstRetryMs, retryMaxMs), maximumInterval: retryMaxMs },
  };
}

/** Archives: as uploads, on a queue of their own. Without a `priorityKey` they have that of their task. */
export function archiveOptions(tuning: Tuning, withinMs: number, priorityKey: 1 | 2 | undefined): ActivityOptions {
  return {
    ...transferOptions(tuning, 'Archive the outputs', withinMs),
    taskQueue: archiveTaskQueue(workflowInfo().taskQueue),
    priority: priorityKey && { priorityKey },
  };
}

/** Watches of hours, by whichever worker is there: a dead or stopping one is replaced, until the task's time is over. */
export function watchOptions({ watchHeartbeatMs, retryMaxMs }: Tuning, untilDeadlineMs: number): ActivityOptions {
  // The watch itself checks the deadlines; this is for when no worker watches.
  const withinMs = untilDeadlineMs + 2 * watchHeartbeatMs;
  return {
    summary: 'Watch the task; the heartbeat tells its state',
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    heartbeatTimeout: watchHeartbeatMs,
    startToCloseTimeout: withinMs,
    scheduleToCloseTimeout: withinMs,
    // The workflow goes on at once; the worker learns it from the answer to its next heartbeat.
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: Math.min(firstRetryMs, retryMaxMs), backoffCoefficient: 1 },
  };
}

/** A create. A lost attempt is not retried: what its worker did, the workflow finds out first. */
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

/** One attempt; the watch reads the task's state again before it acts again. */
export function verbOptions(summary: string): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: '15 seconds',
    scheduleToCloseTimeout: '1 minute',
    retry: { maximumAttempts: 1 },
  };
}

/** Every activity that runs on a worker's slots; each call brings its own options. */
export const activities = withCheckedResults(
  proxyActivities<Omit<Activities, 'pollTask'>>({ startToCloseTimeout: '30 seconds' }),
);

/** The poll: a local activity costs 6 history events where a plain one costs 11. A failed poll is data, never retried here. */
export const { pollTask } = withCheckedResults(
  proxyLocalActivities<{ pollTask: Activities['pollTask'] }>({
    startToCloseTimeout: pollTimeout,
    summary: 'How is the task?',
    retry: { maximumAttempts: 1 },
  }),
);

/** Long ones heartbeat; this long without one means that the worker is gone. */
const heartbeatTimeout = '30 seconds';
/** Longest single attempt: the record of 100,000 rows is read in a fraction of it. */
const attemptTimeout = '1 hour';

export const batchActivities = withCheckedResults(
  proxyActivities<BatchActivities>({ startToCloseTimeout: attemptTimeout }),
);

export function awaitRowEndsOptions(tuning: BatchPlan['tuning']): ActivityOptions {
  return {
    ...batchOptions(tuning, 'Wait for rows to end'),
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    heartbeatTimeout: transferHeartbeatTimeout,
    startToCloseTimeout: '30 days',
    cancellationType: 'ABANDON',
  };
}

/** Tried again without end: nothing here costs money twice, and the rows that run go on meanwhile. */
export function batchOptions({ retryMaxMs }: BatchPlan['tuning'], summary: string): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: attemptTimeout,
    heartbeatTimeout,
    // What follows a step that was broken off relies on its being over.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: Math.min(firstRetryMs, retryMaxMs), maximumInterval: retryMaxMs },
  };
}
