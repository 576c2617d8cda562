import type { Client } from '@temporalio/client';
import { listWorkflows } from '../list-workflows';
import type { WorkflowInfo } from '../workflow-info';

/** So many ids are asked for at a time: Temporal bounds the length of a filter. */
const idsAtOnce = 50;
const pageSize = 200;
/** An id that can stand in a filter; any client may start a task with another. */
const plainId = /^[A-Za-z0-9._:-]{1,300}$/;

/**
 * The run ids of those workflows that were cut off and have a later run under the same id, as after a reset or a start with
 * `retry`: the status that they reported last says nothing of the task any more. One request for each fifty of them, and
 * none where nothing was cut off. Throws errors of gRPC.
 */
export async function findReplacedRuns(client: Client, listed: readonly WorkflowInfo[]): Promise<ReadonlySet<string>> {
  const cutOff = listed.filter(({ workflowId, execution }) => {
    return (execution === 'TERMINATED' || execution === 'TIMED_OUT') && plainId.test(workflowId);
  });
  const ids = [...new Set(cutOff.map(({ workflowId }) => workflowId))];
  const latest = new Map<string, WorkflowInfo>();
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    const names = ids.slice(start, start + idsAtOnce).map((id) => `"${id}"`);
    const query = `WorkflowType = "task" AND ExecutionStatus != "ContinuedAsNew" AND WorkflowId IN (${names.join(', ')})`;
    for await (const run of listWorkflows(client, query, pageSize)) {
      const known = latest.get(run.workflowId);
      if (known === undefined || endMs(run) > endMs(known)) latest.set(run.workflowId, run);
    }
  }
  const isReplaced = (run: WorkflowInfo): boolean => {
    const last = latest.get(run.workflowId);
    return last !== undefined && last.runId !== run.runId && endMs(last) >= endMs(run);
  };
  return new Set(cutOff.filter(isReplaced).map(({ runId }) => runId));
}

/** One that runs is later than all that are over. */
function endMs({ closedAt }: WorkflowInfo): number {
  return closedAt?.getTime() ?? Infinity;
}
