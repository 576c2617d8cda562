/** The task queue of workflows and short activities. */
export const workflowTaskQueue = 'longhaul';

/**
 * The queue of uploads and archives that belongs to a workflow queue (`longhaul` → `longhaul-transfer`): transfers are
 * long and few at a time, and must not take the slots of creates and polls.
 */
export function transferTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-transfer`;
}
