import { ApplicationFailure, CancelledFailure, getExternalWorkflowHandle, log } from '@temporalio/workflow';
import { rowEndedSignal } from '../contract/batch-messages';
import { noUploads } from '../contract/batch-rows';
import { rowEndOf, type TaskEnding } from '../contract/row-end';
import type { TaskResult } from '../contract/task-result';
import { batchWorkflowId } from '../contract/workflow-ids';
import { errorMessage } from '../domain/unknown-error';
import type { TaskRun } from './task-run';

/** Tells the batch that this task is a row of that it ends now, and how. The batch may be over itself: no matter. */
export async function tellBatch(run: TaskRun, ending: TaskEnding | undefined): Promise<void> {
  const { batch } = run.plan;
  if (batch === null || ending === undefined) return;
  const { requestId, createNumber, startedAtMs, uploads = noUploads } = run.state;
  const times = { startedAt: new Date(startedAtMs).toISOString(), endedAt: new Date().toISOString() };
  const end = rowEndOf({ key: batch.key, requestId, createNumber, uploads, ...times }, ending);
  try {
    await getExternalWorkflowHandle(batchWorkflowId(batch.id)).signal(rowEndedSignal, end);
  } catch (error) {
    log.info('batch not told', { batch: batch.id, error: errorMessage(error) });
  }
}

export function endingByResult(result: TaskResult): TaskEnding {
  return { kind: 'result', result };
}

/** `undefined` for what does not end the task: it goes on as a new run, or a bug holds it back. */
export function endingByError(error: unknown): TaskEnding | undefined {
  if (error instanceof CancelledFailure) return { kind: 'canceled' };
  if (!(error instanceof ApplicationFailure)) return undefined;
  const { type, message, details } = error;
  return { kind: 'failure', type: type ?? '', message, details: details?.[0] ?? null };
}
