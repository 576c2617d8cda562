import type { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { ReportBatchResult } from '../contract/batch-activities';
import type { BatchResult } from '../contract/batch-progress';
import { TaskFailedError } from './errors';
import { endingOf } from './task-ending';

const unfollowedRows =
  'so nobody starts or records its rows: those that ran go on by themselves. Run the batch again: it finds them.';

/**
 * What a failed batch means: one that was stopped has a result all the same; everything else is thrown as
 * {@link TaskFailedError}.
 */
export function stoppedResultOrThrow(
  error: WorkflowFailedError,
  batch: { readonly workflowId: string; readonly batchId: string; readonly badRows: number },
): BatchResult {
  const { workflowId, batchId, badRows } = batch;
  const report: unknown = error.cause instanceof CancelledFailure ? error.cause.details[0] : undefined;
  if (isReport(report)) {
    const rows = report.success + report.failed + report.canceled + report.notStarted;
    return { batchId, rows, badRows, ending: 'stopped', ...report };
  }
  const ending = endingOf(error.cause, unfollowedRows);
  throw new TaskFailedError({ workflowId, requestId: null, ...ending }, { cause: error });
}

function isReport(details: unknown): details is ReportBatchResult {
  return typeof details === 'object' && details !== null && 'notStarted' in details;
}
