import type { Client, WorkflowExecutionStatusName } from '@temporalio/client';
import { eventually } from './eventually';

/** Waits until Temporal's list, which is behind by a moment, has every run of the workflow over, and one of them so. */
export async function whenListedAsEnded(
  client: Client,
  workflowId: string,
  ending: WorkflowExecutionStatusName,
): Promise<void> {
  await eventually(
    async () => {
      const endings: string[] = [];
      for await (const { status } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
        endings.push(status.name);
      return !endings.includes('RUNNING') && endings.includes(ending);
    },
    { what: `${workflowId} to be listed as ${ending}` },
  );
}
