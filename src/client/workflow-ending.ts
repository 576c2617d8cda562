import type { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import type { BatchProgress, BatchResult } from '../contract/batch/batch-messages';
import { failureTypes } from '../contract/failure-types';
import { unfollowedTask } from '../contract/task-advice';
import { readCanceledMemo, type TaskResult } from '../contract/task-result';
import { redact, redactJson } from '../core/redact';
import { NoWorkerError, TaskFailedError, type UntypedEnding } from './errors';
import type { WorkflowInfo } from './workflow-info';

/** The task that ended. */
interface EndedTask {
  readonly workflowId: string;
  readonly requestId: string | null;
  readonly memo: Readonly<Record<string, unknown>> | undefined;
}

/**
 * What a failed workflow means: a confirmed stop is a result with status `Canceled`; everything else is thrown as
 * {@link TaskFailedError}.
 */
export function canceledResultOrThrow(error: WorkflowFailedError, { memo, ...task }: EndedTask): TaskResult {
  const { cause } = error;
  if (cause instanceof CancelledFailure) {
    const nothing = { outputs: [], outputCount: 0, outputBytes: 0, failedOutputs: [], failedOutputCount: 0 };
    return { ...task, status: 'Canceled', ...nothing, ...readCanceledMemo(memo) };
  }
  throw new TaskFailedError({ ...task, ...describeFailure(cause, unfollowedTask) }, { cause: error });
}

/**
 * How a workflow ended that neither completed nor was stopped; `cutOffWords` complete the message of one that was
 * terminated or timed out.
 *
 * @internal exported for tests
 */
export function describeFailure(
  cause: unknown,
  cutOffWords: string,
): Pick<TaskFailedError, 'failureType' | 'message' | 'details'> {
  if (cause instanceof ApplicationFailure) {
    const { type, message, details } = cause;
    // It may quote the service, and another version may have written the history.
    return {
      failureType: Object.values(failureTypes).find((known) => known === type) ?? 'Unknown',
      message: redact(message),
      details: redactJson(details?.[0] ?? null),
    };
  }
  const [failureType, how] = cutOff(cause);
  const message = `The workflow ${how}, ${cutOffWords}`;
  return { failureType, message, details: null };
}

function cutOff(cause: unknown): [UntypedEnding, string] {
  if (cause instanceof TerminatedFailure) return ['WorkflowTerminated', 'was terminated'];
  if (cause instanceof TimeoutFailure) return ['WorkflowTimedOut', 'was timed out by Temporal'];
  return ['Unknown', 'ended without a failure'];
}

const unfollowedRows =
  'so its rows are no longer started or recorded; those that ran go on. Run the batch again: it finds them.';

/**
 * What a failed batch means: one that was stopped has its counts in its last progress, which a worker has to answer;
 * everything else is thrown as {@link TaskFailedError}.
 */
export async function stoppedResultOrThrow(
  error: WorkflowFailedError,
  { workflowId, taskQueue }: Pick<WorkflowInfo, 'workflowId' | 'taskQueue'>,
  askProgress: () => Promise<BatchProgress | undefined>,
): Promise<BatchResult> {
  if (error.cause instanceof CancelledFailure) {
    const progress = await askProgress();
    if (progress === undefined) throw new NoWorkerError(workflowId, { cause: error, taskQueue });
    const { batchId, rows, badRows, report, onRecord } = progress;
    if (report !== null) {
      return { batchId, rows, badRows, ending: 'stopped', ...(onRecord !== undefined && { onRecord }), ...report };
    }
  }
  const ending = describeFailure(error.cause, unfollowedRows);
  throw new TaskFailedError({ workflowId, requestId: null, ...ending }, { cause: error });
}
