/* Workflow code that is broken: a bundle of it fails every workflow task, as one of a wrong version does. */

/** A task whose worker is broken. */
export function task(): Promise<never> {
  throw new Error('this worker is broken');
}

/** The same of a batch. */
export const batch = task;
