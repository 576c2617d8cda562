import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { Problem } from '../../contract/problem';
import { searchAttributes } from '../../contract/search-attributes';
import type { BatchState } from '../../contract/batch/batch-messages';
import { batchIdOf } from '../../contract/workflow-ids';
import { checkOptions } from '../errors';
import { count, onlyTrue, type OptionRules } from '../../core/option-rules';
import { askTemporal, listTemporal, type TemporalAccess } from '../temporal-access';
import { isClosed } from '../workflow-info';
import { isRefused } from './start-batch';

/** Which batches to list. */
export interface ListBatchesOptions {
  /** Only those that are not over. */
  readonly running?: true;
  /** At most this many. @default all */
  readonly limit?: number;
}

/** A batch in a list: what Temporal's visibility knows of its latest run, seconds old at most. */
export interface ListedBatch {
  readonly workflowId: string;
  readonly batchId: string;
  /** As last reported; null: not yet. `Refused`: failed before it started a row, `BatchHandle.status` says why. */
  readonly state: BatchState | 'Refused' | (string & {}) | null;
  readonly execution: WorkflowExecutionStatusName;
  readonly isOver: boolean;
  /** ISO-8601: when this run of its workflow started. */
  readonly startedAt: string;
  /** ISO-8601; null while it runs. */
  readonly endedAt: string | null;
  /** `Stuck` or `Overloaded`, of which Temporal's list knows; `BatchHandle.status` knows more. */
  readonly problem: Problem | null;
}

const listBatchesRules: OptionRules<ListBatchesOptions> = { running: onlyTrue, limit: count };

const pageSize = 200;

/** Those in one of these states that are not over. */
export async function countBatches(access: TemporalAccess, states: readonly BatchState[]): Promise<number> {
  const names = states.map((state) => `"${state}"`).join(', ');
  const query = `WorkflowType = "batch" AND ${searchAttributes.status.name} IN (${names}) AND ExecutionStatus = "Running"`;
  return (await askTemporal(access, '', () => access.client.workflow.count(query))).count;
}

/** Those that run first, then those that ended last, each once; fetches further pages as they are read. */
export async function* listBatches(
  access: TemporalAccess,
  options: ListBatchesOptions = {},
): AsyncGenerator<ListedBatch> {
  checkOptions(options, listBatchesRules);
  const { running, limit = Infinity } = options;
  if (limit <= 0) return;
  const query = `WorkflowType = "batch" AND ExecutionStatus ${running ? '= "Running"' : '!= "ContinuedAsNew"'}`;
  const listed = new Set<string>();
  for await (const workflow of listTemporal(access, query, pageSize)) {
    const { workflowId, execution, attributes, startedAt, closedAt, problem } = workflow;
    const batchId = batchIdOf(workflowId);
    if (batchId === undefined || listed.has(workflowId)) continue;
    listed.add(workflowId);
    yield {
      workflowId,
      batchId,
      state: isRefused(workflow) ? 'Refused' : (attributes.get(searchAttributes.status.name) ?? null),
      execution,
      isOver: isClosed(execution),
      startedAt: startedAt.toISOString(),
      endedAt: closedAt?.toISOString() ?? null,
      problem,
    };
    if (listed.size >= limit) return;
  }
}
