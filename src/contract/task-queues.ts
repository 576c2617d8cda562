/** The task queue of workflows and short activities. */
export const workflowTaskQueue = 'longhaul';

/**
 * The queue of uploads that belongs to a workflow queue (`longhaul` → `longhaul-transfer`): transfers are long and few at
 * a time, and must not take the slots of creates and polls.
 */
export function transferTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-transfer`;
}

/**
 * The queue of archives that belongs to a workflow queue (`longhaul` → `longhaul-archive`): what is fetched is paid and
 * expires, and must not wait for a slot that a slow input holds.
 */
export function archiveTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-archive`;
}

/** The queue of watches that belongs to a workflow queue (`longhaul` → `longhaul-watch`): long and many at a time. */
export function watchTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-watch`;
}
