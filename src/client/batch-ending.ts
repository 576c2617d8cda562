import type { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { BatchProgress, BatchResult } from '../contract/batch-messages';
import { NoWorkerError, TaskFailedError } from './errors';
import { endingOf } from './task-ending';

const unfollowedRows =
  'so nobody starts or records its rows: those that ran go on by themselves. Run the batch again: it finds them.';

/**
 * What a failed batch means: one that was stopped has its figures in what it last said of itself, which takes a worker
 * to answer; everything else is thrown as {@link TaskFailedError}.
 */
export async function stoppedResultOrThrow(
  error: WorkflowFailedError,
  workflowId: string,
  askProgress: () => Promise<BatchProgress | undefined>,
): Promise<BatchResult> {
  if (error.cause instanceof CancelledFailure) {
    const progress = await askProgress();
    if (progress === undefined) throw new NoWorkerError(workflowId, { cause: error });
    const { batchId, rows, badRows, report } = progress;
    if (report !== null) return { batchId, rows, badRows, ending: 'stopped', ...report };
  }
  const ending = endingOf(error.cause, unfollowedRows);
  throw new TaskFailedError({ workflowId, requestId: null, ...ending }, { cause: error });
}
