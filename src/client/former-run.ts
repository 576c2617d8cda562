import {
  type Client,
  WorkflowFailedError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionStatusName,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { searchAttributes } from '../contract/search-attributes';
import type { TaskResult } from '../contract/task-result';

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
}

/** How a closed run ended. */
export type RunEnding =
  | { readonly kind: 'result'; readonly result: TaskResult }
  | { readonly kind: 'failure'; readonly type: string; readonly details: unknown }
  | { readonly kind: 'canceled' }
  /** Terminated or timed out by Temporal: it had no chance to say anything. */
  | { readonly kind: 'cutOff' };

/** The names of what `start` leaves in a workflow's memo. They are read for as long as the workflow is kept. */
export interface TaskMemo extends Record<string, unknown> {
  readonly inputDigest: string;
  readonly createNumber: number;
  readonly startId: string;
}

/** Whether a workflow in this state of Temporal's is over. */
export function isClosed(execution: WorkflowExecutionStatusName): boolean {
  return execution !== 'RUNNING' && execution !== 'PAUSED';
}

/** Reads a run from its description. */
export function knownRun(description: WorkflowExecutionDescription): KnownRun {
  const { runId, status, memo = {}, typedSearchAttributes } = description;
  const { inputDigest, startId, createNumber } = memo;
  return {
    runId,
    execution: status.name,
    isClosed: isClosed(status.name),
    inputDigest: typeof inputDigest === 'string' ? inputDigest : null,
    startId: typeof startId === 'string' ? startId : null,
    createNumber: typeof createNumber === 'number' ? createNumber : 1,
    requestId: typedSearchAttributes.get(searchAttributes.requestId) ?? null,
  };
}

/** Reads how a closed run ended; one more question to Temporal, answered at once. */
export async function readEnding(client: Client, workflowId: string, run: KnownRun): Promise<RunEnding> {
  if (run.execution === 'TERMINATED' || run.execution === 'TIMED_OUT') return { kind: 'cutOff' };
  if (run.execution === 'CANCELLED') return { kind: 'canceled' };
  try {
    const result = await client.workflow.result<() => Promise<TaskResult>>(workflowId, run.runId, {
      followRuns: false,
    });
    return { kind: 'result', result };
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) {
      const { type, details } = error.cause;
      return { kind: 'failure', type: type ?? '', details: details?.[0] ?? null };
    }
    if (error instanceof WorkflowFailedError) return { kind: 'failure', type: '', details: null };
    throw error;
  }
}
