import type { ObjectStore } from '../storage/object-store';
import type { TaskBook } from './task-book';
import type { Task } from './task';
import { outputsView, resultView, type OutputItemView, type ViewPlace } from './task-view';

/** What a task is shown with: its links are signed and its expiry is looked up when it is asked about. */
export interface TaskShow {
  /** The output items, with links that are valid from now, or expired ones on command. */
  outputs(task: Task, place: ViewPlace, options?: { readonly expired?: boolean }): Promise<OutputItemView[]>;
  /** The body of a callback, and of a synchronous answer. */
  result(task: Task, place: ViewPlace): Promise<Record<string, unknown>>;
}

/** Far enough in the past for any clock. */
const LONG_AGO_MS = 3_600_000;

/** Shows tasks with links into `store` that last `linkLifetimeMs`. */
export function createTaskShow(store: ObjectStore, tasks: TaskBook, linkLifetimeMs: number): TaskShow {
  const outputs: TaskShow['outputs'] = (task, place, { expired = false } = {}) => {
    const signedAt = new Date(Date.now() - (expired ? linkLifetimeMs + LONG_AGO_MS : 0));
    return outputsView(task, place, ({ objectKey }) => store.link(objectKey, linkLifetimeMs, signedAt));
  };
  return {
    outputs,
    async result(task, place) {
      return resultView(task, place, { expiresAtMs: tasks.expiresAtMs(task), outputs: await outputs(task, place) });
    },
  };
}
