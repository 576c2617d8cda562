import { activityInfo } from '@temporalio/activity';

/** The id of the workflow that runs this activity. */
export function ownWorkflowId(): string {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution === undefined) throw new Error(`${activityType} runs only in a workflow.`);
  return workflowExecution.workflowId;
}
