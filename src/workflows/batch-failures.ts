import { ActivityFailure, CancelledFailure, ContinueAsNew } from '@temporalio/workflow';
import type { BatchRun } from './batch-run';
import { finalFailureOf, lastWordsOf, taskFailure } from './failures';

/** The failure a batch ends with, shown as well. Its tasks are workflows of their own and go on. */
export function endingBatchFailure(run: BatchRun, error: unknown): unknown {
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure) return error;
  if (!(error instanceof ActivityFailure)) return error;
  const words = lastWordsOf(error);
  run.show('Ended', words);
  return finalFailureOf(error) ?? taskFailure('BatchFailed', `${error.activityType} failed: ${words}`);
}
