import {
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
  type ActivityOptions,
  type RetryPolicy,
} from '@temporalio/workflow';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import type { Activities } from '../contract/activities';
import { uploadPriority, type PriorityKey } from '../domain/transfer-priority';
import { untilTotalDeadlineMs } from './deadlines';
import type { TaskRun } from './task-run';

/** How long one `detail` query may take; it occupies the workflow task. */
const pollTimeout = '4 seconds';
/** A transfer heartbeats every few seconds; this long without one means that its worker is gone. */
const transferHeartbeatTimeout = '10 seconds';
/** Longest transfer of one file. */
const transferTimeout = '12 hours';

const firstRetryMs = 1_000;

/** Temporal is the single retry engine: doubling pauses, without end, until the call's own time is over. */
function retryPolicy({ plan: { tuning } }: TaskRun): RetryPolicy {
  return { initialInterval: Math.min(firstRetryMs, tuning.retryMaxMs), maximumInterval: tuning.retryMaxMs };
}

/** Short calls that may be repeated: Temporal retries them until `withinMs` is over. */
export function callOptions(run: TaskRun, summary: string, withinMs: number): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: withinMs,
    retry: retryPolicy(run),
  };
}

/** Uploads: on their own queue, heartbeating, retried until `withinMs` is over. */
export function transferOptions(run: TaskRun, summary: string, withinMs: number): ActivityOptions {
  return {
    summary,
    taskQueue: transferTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: transferTimeout,
    heartbeatTimeout: transferHeartbeatTimeout,
    scheduleToCloseTimeout: withinMs,
    // Once the service or the storage was told to stop there is nothing to wait for: go on at once.
    cancellationType: 'TRY_CANCEL',
    priority: { priorityKey: uploadPriority },
    retry: retryPolicy(run),
  };
}

/** Archives: as uploads, on a queue of their own; those whose results expire first go first. */
export function archiveOptions(run: TaskRun, withinMs: number, priorityKey: PriorityKey): ActivityOptions {
  return {
    ...transferOptions(run, 'Archive the outputs', withinMs),
    taskQueue: archiveTaskQueue(workflowInfo().taskQueue),
    priority: { priorityKey },
  };
}

/** Watches of hours, by whichever worker is there: a dead or stopping one is replaced, until the task's time is over. */
export function watchOptions(run: TaskRun): ActivityOptions {
  const { watchHeartbeatMs, retryMaxMs } = run.plan.tuning;
  // The watch itself minds the deadlines; this is for when no worker watches.
  const withinMs = untilTotalDeadlineMs(run) + 2 * watchHeartbeatMs;
  return {
    summary: 'Watch the task; the heartbeat tells its state',
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    heartbeatTimeout: watchHeartbeatMs,
    startToCloseTimeout: withinMs,
    scheduleToCloseTimeout: withinMs,
    // The workflow goes on at once; the worker hears of it by the answer to its next heartbeat.
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: Math.min(firstRetryMs, retryMaxMs), backoffCoefficient: 1 },
  };
}

/**
 * A create: Temporal retries what was provably not taken until `withinMs` is over, and cancels it between two attempts. A
 * lost attempt is not retried: what its worker did, the workflow finds out first.
 */
export function createOptions(run: TaskRun, summary: string, withinMs: number): ActivityOptions {
  const { createRetryMs, createRetryMaxMs, createTimeoutMs } = run.plan.tuning;
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
export const activities = proxyActivities<Omit<Activities, 'pollTask'>>({
  startToCloseTimeout: '30 seconds',
});

/** The poll: a local activity costs 6 history events where a plain one costs 11. A failed poll is data, never retried here. */
export const { pollTask } = proxyLocalActivities<{ pollTask: Activities['pollTask'] }>({
  startToCloseTimeout: pollTimeout,
  summary: 'How is the task?',
  retry: { maximumAttempts: 1 },
});
