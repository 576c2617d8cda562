import { type Client, type WorkflowExecutionStatusName, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import { resultIn, type TaskEnding } from '../contract/batch/batch-rows';
import { searchAttributes } from '../contract/search-attributes';
import type { AdoptedTaskInput, NewTaskInput, TaskInput } from '../contract/task-input';
import { type CanceledMemo, readCanceledMemo, type TaskResult } from '../contract/task-result';
import { isRecord } from '../core/json';
import { isTaskResult } from './replies';
import { isUndecodable } from './temporal-access';
import type { DescribedWorkflow } from './workflow-info';

/** What Temporal knows of the latest run under a workflow id. */
export interface KnownRun {
  readonly runId: string;
  readonly execution: WorkflowExecutionStatusName;
  readonly isClosed: boolean;
  /** The digest of the input it was started with; null when it was not started by this client. */
  readonly inputDigest: string | null;
  /** Distinguishes the start that made it from one that attached to it. */
  readonly startId: string | null;
  readonly createNumber: number;
  readonly requestId: string | null;
  /** `LonghaulStatus` as it is listed; null before the first. */
  readonly status: string | null;
  /** What its memo keeps of a result, when a stop ended it. */
  readonly canceledResult: CanceledMemo['canceledResult'];
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601; null while it is open. */
  readonly endedAt: string | null;
}

/** The names of what `start` leaves in a workflow's memo. They are durable. */
export interface TaskMemo extends Record<string, unknown> {
  readonly inputDigest: string;
  readonly createNumber: number;
  readonly startId: string;
  /** The key that the row gave, when that cannot be part of a workflow id. */
  readonly originalKey?: string;
}

/** Messages for workflows that the server closed, which have no failure of their own. */
const closedByServerMessages: Partial<Record<WorkflowExecutionStatusName, string>> = {
  TERMINATED: 'The workflow was terminated; its task may still run at the service, and be paid.',
  TIMED_OUT: 'The workflow was timed out by Temporal; its task may still run at the service, and be paid.',
};

/** Whether a workflow in this state of Temporal's is over. */
export function isClosed(execution: WorkflowExecutionStatusName): boolean {
  return execution !== 'RUNNING' && execution !== 'PAUSED';
}

/** Reads a run from its description. */
export function knownRun({ runId, execution, memo, attributes, startedAt, closedAt }: DescribedWorkflow): KnownRun {
  const [inputDigest, startId, createNumber] = ['inputDigest', 'startId', 'createNumber'].map((name) => memo.get(name));
  const isCount = typeof createNumber === 'number' && Number.isSafeInteger(createNumber) && createNumber > 0;
  return {
    runId,
    execution,
    isClosed: isClosed(execution),
    inputDigest: typeof inputDigest === 'string' ? inputDigest : null,
    startId: typeof startId === 'string' ? startId : null,
    createNumber: isCount ? createNumber : 1,
    requestId: attributes.get(searchAttributes.requestId.name) ?? null,
    status: attributes.get(searchAttributes.status.name) ?? null,
    canceledResult: readCanceledMemo({ canceledResult: memo.get('canceledResult') }),
    startedAt: startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
  };
}

/** Of a workflow that another program ended. */
const unreadable: TaskEnding = {
  kind: 'failure',
  type: '',
  message: 'The result of the workflow cannot be read: another program ended it.',
  details: null,
};

/** Reads how a closed run ended, with one more request to Temporal. */
export async function readEnding(client: Client, workflowId: string, run: KnownRun): Promise<TaskEnding> {
  const cutOff = closedByServerMessages[run.execution];
  if (cutOff !== undefined) return { kind: 'cutOff', message: cutOff };
  if (run.execution === 'CANCELLED') return { kind: 'canceled', details: { result: run.canceledResult } };
  try {
    const result: unknown = await client.workflow.result(workflowId, run.runId, { followRuns: false });
    return isTaskResult(result) ? { kind: 'result', result } : unreadable;
  } catch (error) {
    if (isUndecodable(error)) return unreadable;
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    if (!(cause instanceof ApplicationFailure)) {
      return { kind: 'failure', type: '', message: cause?.message ?? error.message, details: null };
    }
    const { type, message } = cause;
    let details: unknown = cause.details?.[0] ?? null;
    // A `result` without the shape of one is none.
    if (isRecord(details) && Object.hasOwn(details, 'result') && !isTaskResult(details['result'])) {
      details = { ...details, result: null };
    }
    return { kind: 'failure', type: type ?? '', message, details };
  }
}

/** The previous create of a task that is retried, from Temporal or from a batch's record. */
export type PreviousCreate = Pick<KnownRun, 'createNumber' | 'requestId'>;

/** What `retry` does about a closed run: leave it as it is, or start another with this input. */
export type RetryPlan =
  { readonly action: 'keep' } | { readonly action: 'start'; readonly input: TaskInput; readonly createNumber: number };

/** Failures after which the task is over at the service, and its outputs are not available any more. */
const lostAtTheService: readonly string[] = [failureTypes.ResultLost, failureTypes.SuccessNoOutputs];

/**
 * Decides what a retry may do, so that no task is paid twice and none is orphaned. Pure.
 *
 * - A success is kept: there is nothing to retry.
 * - No request id, or one that the service does not know: the same create again, under the same number. If the previous
 * one was sent after all, its create record stops the second.
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
  if (requestId === null || isUnknown) return startAgain(input, createNumber);
  if (isOverAtTheService(ending, result)) return startAgain(input, createNumber + 1);
  return { action: 'start', input: takeOver(input, requestId, createNumber), createNumber };
}

function startAgain(input: NewTaskInput, createNumber: number): RetryPlan {
  return { action: 'start', input: { ...input, createNumber }, createNumber };
}

function isOverAtTheService(ending: TaskEnding, result: Partial<TaskResult> | undefined): boolean {
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

function takeOver(input: NewTaskInput, requestId: string, createNumber: number): AdoptedTaskInput {
  const { account, archive, watch, deadlines, webhook, batch, tuning } = input;
  return { adopt: { requestId }, createNumber, account, archive, watch, deadlines, webhook, batch, tuning };
}
