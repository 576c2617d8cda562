/** The task queue of workflows and short activities. */
export const workflowTaskQueue = 'longhaul';

/**
 * The queue of uploads and archives that belongs to a workflow queue (`longhaul` → `longhaul-transfer`): transfers are
 * long and few at a time, and must not take the slots of creates and polls.
 */
export function transferTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-transfer`;
}

/** The queue of watches that belongs to a workflow queue (`longhaul` → `longhaul-watch`): long and many at a time. */
export function watchTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-watch`;
}
