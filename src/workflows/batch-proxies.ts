import { proxyActivities, type ActivityOptions } from '@temporalio/workflow';
import type { BatchActivities } from '../contract/batch-activities';
import type { BatchRun } from './batch-run';

/** Long ones heartbeat; this long without one means that the worker is gone. */
const heartbeatTimeout = '30 seconds';
/** Longest single attempt: the record of 100,000 rows is read in a fraction of it. */
const attemptTimeout = '1 hour';

/** Each call brings its own options. */
export const batchActivities = proxyActivities<BatchActivities>({ startToCloseTimeout: attemptTimeout });

/** Tried again without end: nothing here costs money twice, and the rows that run go on meanwhile. */
export function batchOptions({ plan: { tuning } }: BatchRun, summary: string): ActivityOptions {
  return {
    summary,
    startToCloseTimeout: attemptTimeout,
    heartbeatTimeout,
    // What follows a step that was broken off relies on its being over.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: Math.min(1_000, tuning.retryMaxMs), maximumInterval: tuning.retryMaxMs },
  };
}
