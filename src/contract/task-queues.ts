/** The task queue of workflows and short activities. */
export const workflowTaskQueue = 'longhaul';

/** Of uploads: they are long and few at a time, and must not take the slots of creates and polls. */
export function transferTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-transfer`;
}

/** Of archives: what is fetched is paid and expires, and must not wait for a slot that a slow input holds. */
export function archiveTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-archive`;
}

/** Of watches: long and many at a time. */
export function watchTaskQueue(taskQueue: string = workflowTaskQueue): string {
  return `${taskQueue}-watch`;
}

export function shortArchiveId(archiveId: string): string {
  return archiveId.slice(0, 8);
}

/** The identity of a worker that keeps this archive: `<process>/archive-<first digits of its id>`. */
export function withArchive(processIdentity: string, archiveId: string): string {
  return `${processIdentity}/archive-${shortArchiveId(archiveId)}`;
}

export function archiveOf(identity: string): string | undefined {
  return /\/archive-([0-9a-f]{8})$/.exec(identity)?.[1];
}
