import { type WorkflowExecutionStatusName, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import * as v from 'valibot';
import type { BatchProgress, BatchResult } from '../contract/batch/batch-messages';
import { resultIn, type TaskEnding } from '../contract/batch/batch-rows';
import { failureTypes } from '../contract/failure-types';
import { wholeNumber } from '../contract/schema';
import { searchAttributes } from '../contract/search-attributes';
import { isCutOff, unfollowedTask } from '../contract/task-advice';
import type { TaskInput } from '../contract/task-input';
import { type CanceledMemo, isTaskResult, readCanceledMemo, type TaskResult } from '../contract/task-result';
import { isRecord } from '../core/json';
import { redact, redactJson } from '../core/redact';
import { NoWorkerError, TaskFailedError, type UntypedEnding } from './errors';
import { cutOffWords } from './task/task-view';
import { askTemporal, isUndecodable, type TemporalAccess } from './temporal-access';
import { type DescribedWorkflow, isClosed } from './workflow-info';

/** What Temporal knows of the latest run under a workflow id. */
export interface KnownRun {
  readonly runId: string;
  readonly execution: WorkflowExecutionStatusName;
  readonly isClosed: boolean;
  /** Null when this client did not start it. */
  readonly inputDigest: string | null;
  /** Distinguishes the start that made it from one that attached to it. */
  readonly startId: string | null;
  readonly createNumber: number;
  readonly requestId: string | null;
  /** As it is listed; null before the first. */
  readonly status: string | null;
  /** What its memo keeps of a result, when a stop ended it. */
  readonly canceledResult: CanceledMemo['canceledResult'];
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601; null while it is open. */
  readonly endedAt: string | null;
}

/** What `start` leaves in a workflow's memo. The names are durable. */
export interface TaskMemo extends Record<string, unknown> {
  readonly inputDigest: string;
  readonly createNumber: number;
  readonly startId: string;
  /** The key that the row gave, when that cannot be part of a workflow id. */
  readonly originalKey?: string;
}

const memoSchema = v.object({
  inputDigest: v.fallback(v.nullable(v.string()), null),
  startId: v.fallback(v.nullable(v.string()), null),
  createNumber: v.fallback(wholeNumber(1), 1),
});

export function knownRun({ runId, execution, memo, attributes, startedAt, closedAt }: DescribedWorkflow): KnownRun {
  const items = Object.fromEntries(memo);
  return {
    ...v.parse(memoSchema, items),
    runId,
    execution,
    isClosed: isClosed(execution),
    requestId: attributes.get(searchAttributes.requestId.name) ?? null,
    status: attributes.get(searchAttributes.status.name) ?? null,
    canceledResult: readCanceledMemo(items),
    startedAt: startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
  };
}

export function newRun(start: Pick<KnownRun, 'runId' | 'inputDigest' | 'startId' | 'createNumber'>): KnownRun {
  return {
    ...start,
    execution: 'RUNNING',
    isClosed: false,
    requestId: null,
    status: null,
    canceledResult: readCanceledMemo(undefined),
    startedAt: new Date().toISOString(),
    endedAt: null,
  };
}

const failed = (type: string, message: string, details: unknown = null): TaskEnding => {
  return { kind: 'failure', type, message, details };
};

const unreadable = failed('', 'The result of the workflow cannot be read: another program ended it.');

/** With one more request to Temporal. Throws the errors of `askTemporal`. */
export async function readEnding(access: TemporalAccess, workflowId: string, run: KnownRun): Promise<TaskEnding> {
  const { runId, execution, canceledResult } = run;
  if (isCutOff(execution)) {
    return {
      kind: 'cutOff',
      message: `${cutOffWords(execution)}; its task may still run at the service, and be paid.`,
    };
  }
  if (execution === 'CANCELLED') return { kind: 'canceled', details: { result: canceledResult } };
  return await askTemporal(access, workflowId, async () => {
    try {
      const result: unknown = await access.client.workflow.result(workflowId, runId, { followRuns: false });
      return isTaskResult(result) ? { kind: 'result', result } : unreadable;
    } catch (error) {
      if (isUndecodable(error)) return unreadable;
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause } = error;
      if (!(cause instanceof ApplicationFailure)) return failed('', cause?.message ?? error.message);
      const { type, message } = cause;
      const details: unknown = cause.details?.[0] ?? null;
      const isBroken = isRecord(details) && Object.hasOwn(details, 'result') && !isTaskResult(details['result']);
      return failed(type ?? '', message, isBroken ? { ...details, result: null } : details);
    }
  });
}

/** From Temporal, or from a batch's record. */
export type PreviousCreate = Pick<KnownRun, 'createNumber' | 'requestId'>;

export type RetryPlan =
  { readonly action: 'keep' } | { readonly action: 'start'; readonly input: TaskInput; readonly createNumber: number };

/** The task is over at the service, and its outputs are not available any more. */
const lostAtTheService: readonly string[] = [failureTypes.ResultLost, failureTypes.SuccessNoOutputs];

/**
 * Decides what a retry may do, so that no task is paid twice and none is orphaned.
 * - A success is kept.
 * - No request id, or one unknown to the service: the same create, which its record stops if it was sent after all.
 * - The task is over at the service: a new create, which is paid anew, as `retry` asks for.
 * - Otherwise the task may still run, or its outputs may still be there: the new run takes it over.
 */
export function planRetry(input: TaskInput, previous: PreviousCreate, ending: TaskEnding): RetryPlan {
  const { createNumber } = previous;
  const result = resultIn(ending);
  if (ending.kind === 'result' && ending.result.status === 'Success') return { action: 'keep' };
  if ('adopt' in input) return { action: 'start', input, createNumber };
  const requestId = previous.requestId ?? result?.requestId ?? null;
  // A person may have mistyped the id; the create record has the one that the service returned.
  const isUnknown = ending.kind === 'failure' && ending.type === failureTypes.TaskNotFound;
  const again = (number: number): RetryPlan => {
    return { action: 'start', input: { ...input, createNumber: number }, createNumber: number };
  };
  if (requestId === null || isUnknown) return again(createNumber);
  if (isOverAtTheService(ending)) return again(createNumber + 1);
  const { account, archive, watch, deadlines, webhook, batch, tuning } = input;
  const how = { account, archive, watch, deadlines, webhook, batch, tuning };
  return { action: 'start', input: { ...how, adopt: { requestId }, createNumber }, createNumber };
}

/** So that another create is a task of its own. */
export function isOverAtTheService(ending: TaskEnding): boolean {
  const result = resultIn(ending);
  switch (ending.kind) {
    case 'result':
    case 'canceled':
      // A workflow ends as canceled only after the service confirmed the stop.
      return true;
    case 'failure': {
      const isEnded = result?.status === 'Failed' || result?.status === 'Canceled';
      return ending.type === failureTypes.TaskFailed || isEnded || lostAtTheService.includes(ending.type);
    }
    case 'cutOff':
      return false;
  }
}

/** A confirmed stop is a result with status `Canceled`; all else is thrown as {@link TaskFailedError}. */
export function canceledResultOrThrow(
  error: WorkflowFailedError,
  { workflowId, attributes, memo }: DescribedWorkflow,
): TaskResult {
  const { cause } = error;
  const task = { workflowId, requestId: attributes.get(searchAttributes.requestId.name) ?? null };
  if (cause instanceof CancelledFailure) {
    const nothing = { outputs: [], outputCount: 0, outputBytes: 0, failedOutputs: [], failedOutputCount: 0 };
    return { ...task, status: 'Canceled', ...nothing, ...readCanceledMemo(Object.fromEntries(memo)) };
  }
  throw new TaskFailedError({ ...task, ...describeFailure(cause, unfollowedTask) }, { cause: error });
}

/** @internal exported for tests; `cutOffWords` are for one that was terminated or timed out */
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
  const ended = (failureType: UntypedEnding, how: string) => {
    return { failureType, message: `The workflow ${how}, ${cutOffWords}`, details: null };
  };
  if (cause instanceof TerminatedFailure) return ended('WorkflowTerminated', 'was terminated');
  if (cause instanceof TimeoutFailure) return ended('WorkflowTimedOut', 'was timed out by Temporal');
  return ended('Unknown', 'ended without a failure');
}

const unfollowedRows =
  'so its rows are no longer started or recorded; those that ran go on. Run the batch again: it finds them.';

/** Of a batch: one that was stopped has its counts in its last progress, which a worker has to answer. */
export async function stoppedResultOrThrow(
  error: WorkflowFailedError,
  { workflowId, taskQueue }: Pick<DescribedWorkflow, 'workflowId' | 'taskQueue'>,
  askProgress: () => Promise<BatchProgress | undefined>,
): Promise<BatchResult> {
  if (error.cause instanceof CancelledFailure) {
    const progress = await askProgress();
    if (progress === undefined) throw new NoWorkerError(workflowId, { cause: error, taskQueue });
    const { batchId, rows, badRows, report, onRecord } = progress;
    if (report !== null) return { batchId, rows, badRows, ending: 'stopped', onRecord, ...report };
  }
  const ending = describeFailure(error.cause, unfollowedRows);
  throw new TaskFailedError({ workflowId, requestId: null, ...ending }, { cause: error });
}
