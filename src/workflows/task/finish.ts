import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ContinueAsNew,
  metricMeter,
  upsertMemo,
} from '@temporalio/workflow';
import type { ArchiveOutputsResult } from '../../contract/activities';
import { noUploads } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { count, metrics } from '../../contract/metrics';
import { afterFailure } from '../../contract/task-advice';
import { canceledMemo, type TaskFacts, type TaskResult } from '../../contract/task-result';
import { isRecord } from '../../core/json';
import { failureMessage, getFinalFailure, taskFailure } from '../failures';
import { showEnd } from './display';
import { awaitDecision, type TaskEnd, type TaskRun } from './task-run';

export function finishTask(run: TaskRun, end: TaskEnd, archived: ArchiveOutputsResult | null): TaskResult {
  const result = resultOf(run, end, archived);
  const { stopRequests, breachedDeadline, isCancellationRequested } = run.state;
  if (archived !== null) run.archived = result;
  if (end.status === 'Success') {
    const { requestId, outputCount, failedOutputs, failedOutputCount } = result;
    if (outputCount === 0 && failedOutputCount > 0) {
      const reasons = new Set(failedOutputs.map(({ errorType, message }) => message ?? errorType));
      throw taskFailure(
        'SuccessNoOutputs',
        `The task ${requestId ?? ''} succeeded, but all of its outputs (${failedOutputCount}) failed at the service: ${[...reasons].slice(0, 3).join('; ')}`,
        { result },
      );
    }
    showEnd(run, 'Success', 'done');
    return result;
  }
  const isStopped = stopRequests.some(({ verb, outcome }) => verb === 'stop' && outcome === 'confirmed');
  if (isStopped && breachedDeadline !== null) {
    throw taskFailure('DeadlineExceeded', `${breachedDeadline} It was stopped and ended as ${end.status}.`, { result });
  }
  if (end.status === 'Failed' && !(isStopped && isCancellationRequested)) {
    const words = end.errorMessage ?? 'it gave no reason';
    throw taskFailure('TaskFailed', `The task failed at the service: ${words}`, { result });
  }
  return endCanceled(run, result);
}

function resultOf(run: TaskRun, end: TaskEnd, archived: ArchiveOutputsResult | null): TaskResult {
  const { outputs = [], manifest = null, failedOutputs = [], failedOutputCount = 0 } = archived ?? {};
  return {
    workflowId: run.workflowId,
    requestId: run.state.requestId,
    status: end.status,
    outputs,
    outputCount: archived?.outputCount ?? outputs.length,
    outputBytes: archived?.outputBytes ?? outputs.reduce((sum, { bytes }) => sum + bytes, 0),
    failedOutputs,
    failedOutputCount,
    manifest,
    costTimes: end.costTimes,
    cost: end.cost,
    timestamps: end.timestamps,
    ...taskFacts(run),
  };
}

/** A success without outputs is paid as any other: its failure has the result, too. */
export function archiveFailure(run: TaskRun, end: TaskEnd, error: unknown): unknown {
  const { type, message } = getFinalFailure(error) ?? {};
  if (type !== failureTypes.SuccessNoOutputs || message === undefined) return error;
  return taskFailure(type, message, { result: resultOf(run, end, null) });
}

export function finishUncreated(run: TaskRun): TaskResult {
  run.state.stopRequests = run.state.stopRequests.map((request) => {
    if (request.outcome !== 'waiting') return request;
    return { ...request, outcome: 'confirmed', words: 'Nothing was created at the service.' };
  });
  const end: TaskEnd = { status: 'Canceled', timestamps: {}, costTimes: {}, cost: null, errorMessage: null };
  return endCanceled(run, resultOf(run, end, null));
}

function taskFacts({ state }: TaskRun): Required<TaskFacts> {
  const { requestedAtMs, createNumber, uploads = noUploads } = state;
  return { startedAt: new Date(requestedAtMs).toISOString(), createNumber, uploads };
}

/** A cancellation request ends the workflow as canceled, the service's verbs complete it. */
function endCanceled(run: TaskRun, result: TaskResult): TaskResult {
  showEnd(run, 'Canceled', 'done');
  if (!run.state.isCancellationRequested) return result;
  if (!run.canEndAsCanceled) return { ...result, status: 'Canceled' };
  // Temporal keeps no result of a canceled workflow, so the memo has the cost.
  upsertMemo(canceledMemo(result));
  throw new CancelledFailure('The task was stopped, and the stop is confirmed.', [{ result }]);
}

/** Shows the failure, of a durable type. A bug passes through: it must not end the task. */
export function endingFailure(run: TaskRun, error: unknown): unknown {
  if (error instanceof ContinueAsNew || error instanceof CancelledFailure) return error;
  awaitDecision(run, []);
  let failure = error;
  if (error instanceof ActivityFailure) {
    const words = `${error.activityType} did not succeed in time: ${failureMessage(error)}`;
    failure = getFinalFailure(error) ?? taskFailure('DeadlineExceeded', words);
  }
  if (!(failure instanceof ApplicationFailure)) return error;
  const { message, nonRetryable, cause, details } = failure;
  const { workflowId, plan, state } = run;
  state.problem = message;
  const type = Object.values(failureTypes).find((one) => one === failure.type);
  const nextStep = afterFailure({
    workflowId,
    isAdopted: plan.adoptRequestId !== null,
    batchId: plan.batch?.id ?? null,
    requestId: state.requestId,
    createNumber: state.createNumber,
    type,
  });
  showEnd(run, type === 'CreateUncertain' || type === 'ArchiveIncomplete' ? type : 'Failed', nextStep, type);
  // A batch reads the facts of its rows there; a result in the details has them already.
  const [first, ...rest] = details ?? [];
  if (first != null && !isRecord(first)) return failure;
  return new ApplicationFailure(message, failure.type, nonRetryable, [{ ...taskFacts(run), ...first }, ...rest], cause);
}

/** A run that continues as new has not ended. */
export function countEnd({ plan, state }: TaskRun, result: TaskResult | null, error?: unknown): void {
  let end: string = result?.status ?? 'Canceled';
  if (error instanceof ApplicationFailure) end = error.type ?? 'Failed';
  else if (result === null && !(error instanceof CancelledFailure)) return;
  // Clients choose account names; one becomes a label only once the service has answered for it.
  const account = state.serviceStatus === null ? 'unknown' : plan.account;
  count(metricMeter, metrics.taskEnds, { account, end });
  const status = end === 'Success' || end === 'Canceled' ? end : 'Failed';
  if (plan.batch !== null) count(metricMeter, metrics.rowEnds, { status });
  const { cost } = state;
  if (cost !== null) count(metricMeter, metrics.cost, { account, currency: cost.currency, end: status }, cost.micros);
}
