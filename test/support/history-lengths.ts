import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { eventually } from './eventually';

/**
 * How many events each run of a workflow has that is over, by Temporal's list; of a long chain nobody wants to fetch
 * the histories. Waits until the list knows of the end.
 */
export async function historyLengthsOf(
  client: Client,
  workflowId: string,
  ending: WorkflowExecutionStatusName = 'COMPLETED',
): Promise<number[]> {
  const found = await eventually(
    async () => {
      const lengths: number[] = [];
      let hasEnd = false;
      for await (const run of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
        lengths.push(run.historyLength);
        hasEnd ||= run.status.name === ending;
      }
      return hasEnd ? lengths : undefined;
    },
    { what: `${workflowId} to be listed as ${ending}` },
  );
  return found ?? [];
}
