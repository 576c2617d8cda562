import { ActivityFailure, ApplicationFailure, CancelledFailure, ContinueAsNew, upsertMemo } from '@temporalio/workflow';
import type { ArchiveOutputsResult } from '../../contract/activities';
import { noUploads } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { canceledMemo, type TaskFacts, type TaskResult } from '../../contract/task-result';
import { isRecord } from '../../domain/json';
import type { LonghaulStatus } from '../../domain/task-state';
import { getFinalFailure, failureMessage, taskFailure } from '../failures';
import { afterFailure, durableType } from './failure-advice';
import type { TaskEnd } from './continue-as-new-state';
import type { TaskRun } from './task-run';

/** What the end of a task is made of. */
type Ending = Pick<
  TaskRun,
  'workflowId' | 'requestId' | 'state' | 'stops' | 'display' | 'isCancellationRequested' | 'canEndAsCanceled'
>;

/** Step 5: the result, or the failure that says what happened. */
export function finishTask(run: Ending, end: TaskEnd, archived: ArchiveOutputsResult | null): TaskResult {
  const result = resultOf(run, end, archived);
  if (archived !== null) run.display.setArchived(result);
  if (end.status === 'Success') {
    if (result.outputCount === 0 && result.failedOutputCount > 0) throw allFailed(result);
    run.display.end('Success', 'done');
    return result;
  }
  const isStopped = run.stops.isStopConfirmed;
  if (isStopped && run.state.breachedDeadline !== null) {
    throw taskFailure('DeadlineExceeded', `${run.state.breachedDeadline} It was stopped and ended as ${end.status}.`, {
      result,
    });
  }
  if (end.status === 'Failed' && !(isStopped && run.isCancellationRequested)) {
    const words = end.errorMessage ?? 'it gave no reason';
    throw taskFailure('TaskFailed', `The task failed at the service: ${words}`, { result });
  }
  return endCanceled(run, result);
}

function resultOf(run: Ending, end: TaskEnd, archived: ArchiveOutputsResult | null): TaskResult {
  return {
    workflowId: run.workflowId,
    requestId: run.requestId,
    status: end.status,
    ...archivedFields(archived),
    costTimes: end.costTimes,
    cost: end.cost,
    timestamps: end.timestamps,
    ...taskFacts(run),
  };
}

/** What an archive failed with. A success that lists no output is paid as any other: its failure has the result, too. */
export function archiveFailure(run: Ending, end: TaskEnd, error: unknown): unknown {
  const { type, message } = getFinalFailure(error) ?? {};
  if (type !== failureTypes.SuccessNoOutputs || message === undefined) return error;
  return taskFailure(type, message, { result: resultOf(run, end, null) });
}

/** A stop or a cancel came before the create: nothing exists at the service, nothing is paid. */
export function finishUncreated(run: Ending): TaskResult {
  run.stops.confirmUncreated();
  return endCanceled(run, {
    workflowId: run.workflowId,
    requestId: null,
    status: 'Canceled',
    ...archivedFields(null),
    costTimes: {},
    cost: null,
    timestamps: {},
    ...taskFacts(run),
  });
}

/** What a result says of the archive. An activity of an earlier version tells no counts. */
function archivedFields(
  archived: ArchiveOutputsResult | null,
): Omit<TaskResult, 'workflowId' | 'requestId' | 'status' | 'costTimes' | 'cost' | 'timestamps' | keyof TaskFacts> {
  const { outputs = [], manifest = null, failedOutputs = [], failedOutputCount = 0 } = archived ?? {};
  const { outputCount = outputs.length, outputBytes = outputs.reduce((sum, { bytes }) => sum + bytes, 0) } =
    archived ?? {};
  return { outputs, outputCount, outputBytes, failedOutputs, failedOutputCount, manifest };
}

function taskFacts({ state }: Pick<TaskRun, 'state'>): Required<TaskFacts> {
  const { startedAtMs, requestedAtMs = startedAtMs, createNumber, uploads = noUploads } = state;
  return { startedAt: new Date(requestedAtMs).toISOString(), createNumber, uploads };
}

/** A success without any output is a failure for the caller. */
function allFailed(result: TaskResult): ApplicationFailure {
  const { requestId, failedOutputs, failedOutputCount } = result;
  const reasons = new Set(failedOutputs.map(({ errorType, message }) => message ?? errorType));
  const words = [...reasons].slice(0, 3).join('; ');
  return taskFailure(
    failureTypes.SuccessNoOutputs,
    `The task ${requestId ?? ''} succeeded, but all of its outputs (${failedOutputCount}) failed at the service: ${words}`,
    { result },
  );
}

/** Ends as Temporal asked for it: a cancellation request ends the workflow as canceled, the service's verbs complete it. */
function endCanceled(run: Ending, result: TaskResult): TaskResult {
  run.display.end('Canceled', 'done');
  if (!run.isCancellationRequested) return result;
  if (!run.canEndAsCanceled) return { ...result, status: 'Canceled' };
  // Temporal keeps nothing of what a canceled workflow returns, so what the task cost stands in the memo.
  upsertMemo(canceledMemo(result));
  throw new CancelledFailure('The task was stopped, and the stop is confirmed.', [{ result }]);
}

/**
 * The failure a workflow ends with: always one of the durable types. Shows it as well. Continue-as-new and a confirmed
 * cancellation pass through, and so does an error that is a bug: it must not end the task.
 */
export function endingFailure(
  run: Pick<TaskRun, 'workflowId' | 'plan' | 'state' | 'display'>,
  error: unknown,
): unknown {
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure) return error;
  const failure = error instanceof ActivityFailure ? activityFailure(error) : error;
  if (!(failure instanceof ApplicationFailure)) return error;
  run.state.problem = failure.message;
  const { workflowId, plan, state } = run;
  const { requestId, createNumber } = state;
  const type = durableType(failure.type);
  const nextStep = afterFailure({ workflowId, plan, requestId, createNumber, type });
  run.display.end(lastStatus(failure), nextStep, type);
  return withFacts(failure, taskFacts(run));
}

/** Its batch, if it is a row of one, reads them there; a result in the details has them already. */
function withFacts(failure: ApplicationFailure, facts: TaskFacts): ApplicationFailure {
  const [first, ...rest] = failure.details ?? [];
  if (first != null && !isRecord(first)) return failure;
  const { message, type, nonRetryable } = failure;
  return new ApplicationFailure(message, type, nonRetryable, [{ ...facts, ...first }, ...rest], failure.cause);
}

/** An operator still has something to do where a task was given up half-way: it keeps the status that says so. */
function lastStatus({ type }: ApplicationFailure): LonghaulStatus {
  return type === failureTypes.CreateUncertain || type === failureTypes.ArchiveIncomplete ? type : 'Failed';
}

function activityFailure(error: ActivityFailure): ApplicationFailure {
  const final = getFinalFailure(error);
  if (final !== undefined) return final;
  return taskFailure('DeadlineExceeded', `${error.activityType} did not succeed in time: ${failureMessage(error)}`);
}
