import type { Client } from '@temporalio/client';
import { eventually } from './eventually';

/**
 * How many events each run of a workflow has that is over, by Temporal's list; of a long chain nobody wants to fetch
 * the histories. Waits until the list knows of the end.
 */
export async function historyLengthsOf(client: Client, workflowId: string): Promise<number[]> {
  const found = await eventually(
    async () => {
      const lengths: number[] = [];
      let hasEnd = false;
      for await (const run of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
        lengths.push(run.historyLength);
        hasEnd ||= run.status.name === 'COMPLETED';
      }
      return hasEnd ? lengths : undefined;
    },
    { withinMs: 30_000, what: `${workflowId} to be listed as completed` },
  );
  return found ?? [];
}
