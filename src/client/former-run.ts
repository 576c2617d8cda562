import { type Client, WorkflowFailedError, type WorkflowExecutionStatusName } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TaskEnding } from '../contract/batch-rows';
import { searchAttributes } from '../contract/search-attributes';
import { isRecord } from '../domain/json';
import { isTaskResult } from './replies';
import { isUndecodable } from './temporal-access';
import type { DescribedWorkflow } from './workflow-info';

/** What Temporal knows of the latest run under a workflow id. */
export interface KnownRun {
  readonly runId: string;
  readonly execution: WorkflowExecutionStatusName;
  readonly isClosed: boolean;
  /** Of the input it was started with; null when it was not started by this client. */
  readonly inputDigest: string | null;
  /** Tells the start that made it from one that attached to it. */
  readonly startId: string | null;
  readonly createNumber: number;
  readonly requestId: string | null;
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601; null while it is open. */
  readonly endedAt: string | null;
}

/** The names of what `start` leaves in a workflow's memo. They are read for as long as the workflow is kept. */
export interface TaskMemo extends Record<string, unknown> {
  readonly inputDigest: string;
  readonly createNumber: number;
  readonly startId: string;
  /** Of a row whose own key cannot stand in a workflow id. */
  readonly originalKey?: string;
}

/** A workflow that ended so had no chance to say anything. */
const cutOffWords: Partial<Record<WorkflowExecutionStatusName, string>> = {
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
  return {
    runId,
    execution,
    isClosed: isClosed(execution),
    inputDigest: typeof inputDigest === 'string' ? inputDigest : null,
    startId: typeof startId === 'string' ? startId : null,
    createNumber: isCount(createNumber) ? createNumber : 1,
    requestId: attributes.get(searchAttributes.requestId.name) ?? null,
    startedAt: startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
  };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** Of a workflow that another program ended. */
const unreadable: TaskEnding = {
  kind: 'failure',
  type: '',
  message: 'The result of the workflow cannot be read: another program ended it.',
  details: null,
};

/** The details of a failure without a result that is none. */
function checkedDetails(details: unknown): unknown {
  if (!isRecord(details) || !Object.hasOwn(details, 'result') || isTaskResult(details['result']))
    return details ?? null;
  return { ...details, result: null };
}

/** Reads how a closed run ended; one more question to Temporal, answered at once. */
export async function readEnding(client: Client, workflowId: string, run: KnownRun): Promise<TaskEnding> {
  const cutOff = cutOffWords[run.execution];
  if (cutOff !== undefined) return { kind: 'cutOff', message: cutOff };
  if (run.execution === 'CANCELLED') return { kind: 'canceled' };
  try {
    const result: unknown = await client.workflow.result(workflowId, run.runId, { followRuns: false });
    return isTaskResult(result) ? { kind: 'result', result } : unreadable;
  } catch (error) {
    if (isUndecodable(error)) return unreadable;
    if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) {
      const { type, message, details } = error.cause;
      return { kind: 'failure', type: type ?? '', message, details: checkedDetails(details?.[0]) };
    }
    if (error instanceof WorkflowFailedError) {
      return { kind: 'failure', type: '', message: error.cause?.message ?? error.message, details: null };
    }
    throw error;
  }
}
