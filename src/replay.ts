import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { DeterminismViolationError } from '@temporalio/workflow';
import { Worker } from '@temporalio/worker';
import { listWorkflows, type WorkflowInfo } from './client/workflow-info';
import { workerDataConverter } from './client/codec/data-converter';
import type { CodecKeys } from './config/codec-keys';
import { ConfigError } from './config/config-error';
import { safeText } from './core/text';
import { openWorkflowBundle } from './workflow-sources';

export interface ReplayExecutionsOptions {
  readonly client: Client;
  /** Narrows them, in Temporal's list filter language. */
  readonly query?: string;
  /** How many of those that are over, newest first; all that are open are replayed. */
  readonly closed: number;
  /** What the histories are encrypted with. */
  readonly codecKeys: CodecKeys | null;
}

export interface ReplayedExecution {
  readonly workflowId: string;
  readonly runId: string;
  readonly isOpen: boolean;
  /** Null: this build does the same again. */
  readonly failure: string | null;
}

const types = 'WorkflowType IN ("task", "batch", "accountDay", "sweep")';
const pageSize = 100;

/**
 * Replays, one after the other, all that are open, then the newest that are over; deleted ones are left out. Changes
 * nothing. Throws `ConfigError` at the first one encrypted with a key not given: that says nothing of the build.
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
  const converter = workerDataConverter(options.codecKeys);
  const complaints: ConfigError[] = [];
  const codecs = (converter.payloadCodecs ?? []).map((codec) => complaining(codec, (error) => complaints.push(error)));
  const dataConverter = { ...converter, payloadCodecs: codecs };
  const sinks = { longhaulReplays: { ended: { fn: () => undefined } } };
  const worker = { workflowBundle, replayName: 'replay', dataConverter, sinks };
  for await (const { error } of Worker.runReplayHistories(worker, histories())) {
    if (current === undefined) continue;
    const { workflowId, runId, execution } = current;
    const [complaint] = complaints;
    if (error !== undefined && complaint !== undefined) {
      const which = `It is one of ${safeText(workflowId)}, which cannot be replayed without it.`;
      throw new ConfigError([`${complaint.problems.join(' ')} ${which}`]);
    }
    let failure: string | null = null;
    if (error !== undefined) {
      failure = error instanceof DeterminismViolationError ? error.message : `${error.name}: ${error.message}`;
    }
    yield { workflowId, runId, isOpen: execution === 'RUNNING', failure };
  }
}

async function* inTurn(
  open: AsyncIterable<WorkflowInfo>,
  over: AsyncIterable<WorkflowInfo>,
  maxOver: number,
): AsyncGenerator<WorkflowInfo> {
  yield* open;
  let left = maxOver;
  for await (const execution of over) {
    if (left === 0) return;
    left -= 1;
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

/** Tells `onComplaint` of a missing key, for the SDK gives back a text of its native part. */
function complaining(codec: PayloadCodec, onComplaint: (error: ConfigError) => void): PayloadCodec {
  return {
    encode: async (payloads, context) => await codec.encode(payloads, context),
    decode: async (payloads, context) => {
      try {
        return await codec.decode(payloads, context);
      } catch (error) {
        if (error instanceof ConfigError) onComplaint(error);
        throw error;
      }
    },
  };
}
