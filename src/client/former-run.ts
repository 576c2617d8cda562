import { type Client, WorkflowFailedError, type WorkflowExecutionStatusName } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TaskEnding } from '../contract/row-end';
import { searchAttributes } from '../contract/search-attributes';
import type { TaskResult } from '../contract/task-result';
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

/** Reads how a closed run ended; one more question to Temporal, answered at once. */
export async function readEnding(client: Client, workflowId: string, run: KnownRun): Promise<TaskEnding> {
  const cutOff = cutOffWords[run.execution];
  if (cutOff !== undefined) return { kind: 'cutOff', message: cutOff };
  if (run.execution === 'CANCELLED') return { kind: 'canceled' };
  try {
    const result = await client.workflow.result<() => Promise<TaskResult>>(workflowId, run.runId, {
      followRuns: false,
    });
    return { kind: 'result', result };
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) {
      const { type, message, details } = error.cause;
      return { kind: 'failure', type: type ?? '', message, details: details?.[0] ?? null };
    }
    if (error instanceof WorkflowFailedError) {
      return { kind: 'failure', type: '', message: error.cause?.message ?? error.message, details: null };
    }
    throw error;
  }
}
