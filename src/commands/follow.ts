import { setTimeout as delay } from 'node:timers/promises';
import { LonghaulError } from '../client/errors';
import type { TaskHandle } from '../client/task-handle';
import type { TaskView } from '../client/task-view';
import type { TaskResult } from '../contract/task-result';
import type { CommandContext } from './command-context';
import { openProgress, type Progress } from './progress';

/** How following a task ended. */
export type Followed =
  | { readonly kind: 'ended'; readonly result: TaskResult }
  /** Ctrl-C: the task goes on. */
  | { readonly kind: 'detached' }
  /** The task waits for a person, or is stuck, and will be for as long as it takes. */
  | { readonly kind: 'parked'; readonly view: TaskView };

const lookEveryMs = 1_000;
/** A policy or a callback may settle an uncertain create by itself; what stands longer waits for a person. */
const parkedAfterMs = 5_000;
const parkedStatuses: readonly string[] = ['CreateUncertain', 'ArchiveIncomplete'];

/**
 * Follows a task to its end and shows its progress meanwhile. A task that fails is thrown, as `result` throws it. What
 * fails to be *shown* is no reason to stop waiting.
 */
export async function follow(context: CommandContext, task: TaskHandle): Promise<Followed> {
  const progress = openProgress(context.display);
  const watching = new AbortController();
  let stopListening: () => void = () => undefined;
  const detached = new Promise<Followed>((resolve) => {
    stopListening = context.onInterrupt(() => {
      resolve({ kind: 'detached' });
    });
  });
  const ended = task.result({ signal: watching.signal }).then((result): Followed => ({ kind: 'ended', result }));
  try {
    return await Promise.race([ended, detached, showUntilParked(task, progress, watching.signal)]);
  } finally {
    watching.abort();
    stopListening();
    progress.stop();
    // Of a task that is left alone nobody wants to hear, not even that the wait was ended.
    ended.catch(() => undefined);
  }
}

/** Shows the task until it has been waiting for a person for a while; never resolves otherwise. */
async function showUntilParked(task: TaskHandle, progress: Progress, signal: AbortSignal): Promise<Followed> {
  let parkedSinceMs: number | undefined;
  for (;;) {
    const view = await viewOf(task, signal);
    // Nobody waits for this any more.
    if (signal.aborted) return new Promise(() => undefined);
    if (view !== undefined) {
      progress.show(view);
      const isParked = view.stuck !== null || parkedStatuses.includes(view.status);
      parkedSinceMs = !view.isOver && isParked ? (parkedSinceMs ?? Date.now()) : undefined;
      if (parkedSinceMs !== undefined && Date.now() - parkedSinceMs >= parkedAfterMs) return { kind: 'parked', view };
    }
    await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function viewOf(task: TaskHandle, signal: AbortSignal): Promise<TaskView | undefined> {
  try {
    return await task.status({ signal });
  } catch (error) {
    if (error instanceof LonghaulError || signal.aborted) return undefined;
    throw error;
  }
}
