import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { listWorkflows, type WorkflowInfo } from './client/workflow-info';
import { workerDataConverter } from './codec/data-converter';
import type { CodecKeys } from './config/codec-keys';
import { openWorkflowBundle } from './workflow-sources';

/** Which executions are replayed. */
export interface ReplayExecutionsOptions {
  readonly client: Client;
  /** Narrows them, in Temporal's list filter language. */
  readonly query?: string;
  /** How many of those that are over, newest first; all that are open are replayed. */
  readonly closed: number;
  /** What the histories are encrypted with. */
  readonly codecKeys: CodecKeys | null;
}

/** What this build says to the history of one execution. */
export interface ReplayedExecution {
  readonly workflowId: string;
  readonly runId: string;
  readonly isOpen: boolean;
  /** Why this build would not go on with it; null: it does the same again. */
  readonly failure: string | null;
}

const types = 'WorkflowType IN ("task", "batch", "accountDay", "sweep")';
const pageSize = 100;

/**
 * Replays executions of a namespace against the workflows of this build, one after the other, each fetched when its turn
 * comes: all that are open, then the newest that are over. What is deleted meanwhile is left out. It changes nothing.
 */
export async function* replayExecutions(options: ReplayExecutionsOptions): AsyncGenerator<ReplayedExecution> {
  const { client, query, closed } = options;
  const narrowed = query === undefined ? types : `${types} AND (${query})`;
  let current: WorkflowInfo | undefined;
  async function* histories() {
    const open = listWorkflows(client, `${narrowed} AND ExecutionStatus = "Running"`, pageSize);
    const over = listWorkflows(client, `${narrowed} AND ExecutionStatus != "Running"`, pageSize);
    for await (const execution of inTurn(open, over, closed)) {
      const { workflowId, runId } = execution;
      const history = await fetchHistory(client, workflowId, runId);
      if (history === undefined) continue;
      current = execution;
      yield { workflowId, history };
    }
  }
  const workflowBundle = await openWorkflowBundle();
  const worker = { workflowBundle, replayName: 'replay', dataConverter: workerDataConverter(options.codecKeys) };
  for await (const { error } of Worker.runReplayHistories(worker, histories())) {
    if (current === undefined) continue;
    const { workflowId, runId, execution } = current;
    yield {
      workflowId,
      runId,
      isOpen: execution === 'RUNNING',
      failure: error === undefined ? null : wordsOf(error),
    };
  }
}

async function* inTurn(
  open: AsyncIterable<WorkflowInfo>,
  over: AsyncIterable<WorkflowInfo>,
  maxOver: number,
): AsyncGenerator<WorkflowInfo> {
  yield* open;
  let count = 0;
  for await (const execution of over) {
    if (count >= maxOver) return;
    count += 1;
    yield execution;
  }
}

async function fetchHistory(client: Client, workflowId: string, runId: string) {
  try {
    return await client.workflow.getHandle(workflowId, runId).fetchHistory();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function wordsOf(error: Error): string {
  return error instanceof DeterminismViolationError ? error.message : `${error.name}: ${error.message}`;
}
