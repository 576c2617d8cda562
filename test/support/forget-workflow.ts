import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { eventually } from './eventually';

/** How long a test may take whose workflows Temporal forgets: it removes them at leisure. */
export const forgettingMs = 240_000;

/** Makes Temporal forget a workflow, as it does by itself when its retention is over. */
export async function forgetWorkflow(client: Client, workflowId: string): Promise<void> {
  const { workflowService, options } = client;
  await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution: { workflowId } });
  await eventually(
    () =>
      client.workflow
        .getHandle(workflowId)
        .describe()
        .then(
          () => false,
          (error: unknown) => error instanceof WorkflowNotFoundError,
        ),
    { withinMs: 90_000, what: 'Temporal to forget the workflow' },
  );
}
