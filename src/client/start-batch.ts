import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { type BatchInput, type BatchPlan, parseBatchInput } from '../contract/batch-input';
import { searchAttributes } from '../contract/search-attributes';
import { batchWorkflowId } from '../contract/workflow-ids';
import { batchPriority } from '../domain/priority';
import { markdownText } from '../domain/text';
import { InputInvalidError } from './errors';
import { startingWithin } from './client-traces';
import { checkedTraceparent, type TaskOrigin, type TraceOptions } from './start-task';
import { askTemporal, type TemporalAccess } from './temporal-access';
import { type DescribedWorkflow, describeWorkflow, type WorkflowInfo } from './workflow-info';

/** The names of what a start leaves in a batch's memo. They are durable. */
export interface BatchMemo extends Record<string, unknown> {
  readonly startId: string;
  readonly rowsDigest: string;
  /** The row file as it was named. */
  readonly source: string | null;
  /** The latest run before this one that was not refused. */
  readonly previousRunId?: string;
}

/** What a start led to. */
export interface StartedBatch {
  readonly id: string;
  readonly origin: TaskOrigin;
  /** Whether the running batch has these rows; a batch that was attached to may have others. */
  readonly hasTheseRows: boolean;
}

/** The name of the workflow; durable. */
const batchWorkflow = 'batch';
const maxShownSourceLength = 1_000;

/**
 * Starts a batch, or attaches to the one of this id that runs. One that is over is run again: rows on record are left
 * as they are.
 *
 * Throws {@link InputInvalidError} before anything is sent, and the errors of `askTemporal`.
 */
export async function startBatch(
  access: TemporalAccess,
  input: BatchInput,
  { traceparent }: TraceOptions = {},
): Promise<StartedBatch> {
  const parent = checkedTraceparent(traceparent);
  const { problems, plan } = parseBatchInput(input);
  if (problems !== undefined) throw new InputInvalidError(problems, 'batch');
  const { client } = access;
  const { id, rows } = plan;
  const workflowId = batchWorkflowId(id);
  const startId = randomUUID();
  const starting = parent === undefined ? client.workflow : startingWithin(client.workflow, parent);
  const previousRunId = await askTemporal(access, workflowId, () => latestRunId(access, workflowId));
  const { memo } = await askTemporal(access, workflowId, async () => {
    try {
      await starting.start(batchWorkflow, {
        ...startOptions(access, plan, { startId, ...(previousRunId !== undefined && { previousRunId }) }),
        args: [input],
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    return await describeWorkflow(client, workflowId);
  });
  const origin = memo.get('startId') === startId ? 'started' : 'attached';
  return { id, origin, hasTheseRows: memo.get('rowsDigest') === rows.digest };
}

/** The latest run that was not refused; undefined when this id was never run. */
async function latestRunId({ client }: TemporalAccess, workflowId: string): Promise<string | undefined> {
  try {
    const latest = await describeWorkflow(client, workflowId);
    return isRefused(latest) ? readPreviousRunId(latest) : latest.runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Whether a run of a batch failed before it compared its rows with the record: it has started none of them. */
export function isRefused({ execution, attributes }: WorkflowInfo): boolean {
  const state = attributes.get(searchAttributes.status.name);
  return execution === 'FAILED' && (state === undefined || state === 'Opening');
}

/** The run before a refused one, as its start left it in the memo. */
export function readPreviousRunId({ memo }: DescribedWorkflow): string | undefined {
  const runId = memo.get('previousRunId');
  return typeof runId === 'string' ? runId : undefined;
}

function startOptions(
  { taskQueue }: TemporalAccess,
  plan: BatchPlan,
  start: Pick<BatchMemo, 'startId' | 'previousRunId'>,
): WorkflowStartOptions {
  const { id, rows, badRows, source, concurrency } = plan;
  const memo: BatchMemo = { ...start, rowsDigest: rows.digest, source };
  const skipped = badRows === 0 ? '' : `, ${badRows} bad ones left out`;
  return {
    workflowId: batchWorkflowId(id),
    taskQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    priority: batchPriority(id),
    staticSummary: `Batch ${id}, ${rows.rows} rows${skipped}, ${concurrency} at a time`,
    ...(source !== null && { staticDetails: `**Row file** ${markdownText(source, maxShownSourceLength)}` }),
  };
}
