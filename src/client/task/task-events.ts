import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { TransferProgress } from '../../contract/activities';
import type { Problem } from '../../contract/problem';
import type { LonghaulStatus, ServiceStatus } from '../../core/task-state';
import { ClientClosedError, TemporalBusyError, TemporalUnreachableError } from '../connection-errors';
import type { TaskView } from './task-view';

/** Options of `events`. */
export interface TaskEventsOptions {
  /** Ends the iteration at once, also during an outage, with the signal's reason. The task goes on. */
  readonly signal?: AbortSignal;
  /** How often Temporal and a worker are asked while something happens, in milliseconds. @default 1000 */
  readonly everyMs?: number;
  /** The same after a while in which nothing did; at least `everyMs`. @default 5000 */
  readonly quietEveryMs?: number;
}

/** Something that a task did, or that was noticed about it. */
export type TaskEvent = TaskChange & {
  /** ISO-8601: when it was noticed. */
  readonly at: string;
  /** The task as it stood then. */
  readonly view: TaskView;
};

/** What changed. The first poll tells the state, the place in the queue and the transfers as they are. */
export type TaskChange =
  /** Its `LonghaulStatus`, or the service's own word, is another one. */
  | {
      readonly kind: 'state';
      readonly status: LonghaulStatus | (string & {});
      readonly serviceStatus: ServiceStatus | (string & {}) | null;
    }
  /** The number of tasks ahead in the service's queue; null: it is not known any longer. */
  | { readonly kind: 'queue'; readonly position: number | null }
  /** An upload or an output is so far. */
  | { readonly kind: 'transfer'; readonly transfer: TransferProgress }
  /** What is wrong now; null: nothing any longer. */
  | { readonly kind: 'problem'; readonly problem: Problem | null }
  /** The last one: the task is over. `result` says how. */
  | { readonly kind: 'end'; readonly status: LonghaulStatus | (string & {}) };

/** What is followed; a `TaskHandle` is one. */
export interface FollowedTask {
  status(options: { readonly signal?: AbortSignal }): Promise<TaskView>;
  result(options: { readonly signal?: AbortSignal }): Promise<unknown>;
}

/** See `TaskHandle.events`. */
export async function* taskEvents(
  task: FollowedTask,
  options: TaskEventsOptions = {},
): AsyncGenerator<TaskEvent, void, undefined> {
  let before: TaskView | undefined;
  for await (const view of eachView(task, options)) {
    const at = new Date().toISOString();
    for (const change of changes(before, view)) yield { ...change, at, view };
    before = view;
  }
}

/** @internal exported for tests: what changed from one poll to the next */
export function changes(before: TaskView | undefined, view: TaskView): TaskChange[] {
  const { status, serviceStatus, queuePosition: position } = view;
  const changed: TaskChange[] = [];
  if (status !== before?.status || serviceStatus !== before.serviceStatus) {
    changed.push({ kind: 'state', status, serviceStatus });
  }
  if (position !== (before?.queuePosition ?? null)) changed.push({ kind: 'queue', position });
  for (const transfer of view.transfers) {
    const same = before?.transfers.find((one) => one.transfer === transfer.transfer && one.name === transfer.name);
    if (same?.bytes !== transfer.bytes) changed.push({ kind: 'transfer', transfer });
  }
  const { problem } = view;
  if (!isDeepStrictEqual(lasting(problem), lasting(before?.problem))) changed.push({ kind: 'problem', problem });
  if (view.isOver) changed.push({ kind: 'end', status });
  return changed;
}

/** Without what each attempt changes. */
function lasting(problem: Problem | null = null): Problem | null {
  return problem && { ...problem, nextAttemptAt: undefined };
}

/** Temporal may be away for so long without ending an iteration. */
const patienceMs = 300_000;
/** Temporal describes a workflow as running for a moment after its result is there. */
const endedPauseMs = 100;
const waitAgainMs = 1_000;
/** After so long without a change, the pauses begin to grow. */
const livelyMs = 10_000;

/**
 * Until the task is over, noticed at once. A poll costs a description and, if it can be answered, a query: no event.
 * @throws what `status` throws, at once when the client is closed; an outage of Temporal only after five minutes.
 */
export async function* eachView(
  task: FollowedTask,
  { signal, everyMs = 1_000, quietEveryMs = 5_000 }: TaskEventsOptions = {},
): AsyncGenerator<TaskView, void, undefined> {
  const over = new AbortController();
  const ended = new AbortController();
  void waitForEnd(task, over.signal).then(() => {
    ended.abort();
  });
  let answeredMs = Date.now();
  let changedMs = Date.now();
  let last = '';
  try {
    for (;;) {
      signal?.throwIfAborted();
      let view: TaskView | undefined;
      try {
        view = await task.status({ signal });
      } catch (error) {
        if (!isOutage(error) || Date.now() - answeredMs >= patienceMs) throw error;
      }
      if (view !== undefined) {
        answeredMs = Date.now();
        // How often the service was asked is no change.
        const state = JSON.stringify({ ...view, polls: null, failedPolls: null });
        if (state !== last) changedMs = answeredMs;
        last = state;
        yield view;
        if (view.isOver) return;
      }
      const quietMs = Date.now() - changedMs;
      const longestMs = Math.max(everyMs, quietEveryMs);
      const pauseMs = quietMs < livelyMs ? everyMs : Math.min(longestMs, (everyMs * quietMs) / livelyMs);
      // The end of the task cuts a pause short; after it pauses are short.
      if (ended.signal.aborted) await pause(Math.min(pauseMs, endedPauseMs), [signal]);
      else await pause(pauseMs, [signal, ended.signal]);
    }
  } finally {
    over.abort();
  }
}

/** Whether Temporal may answer again soon: a client that was closed does not. */
function isOutage(error: unknown): boolean {
  if (error instanceof ClientClosedError) return false;
  return error instanceof TemporalUnreachableError || error instanceof TemporalBusyError;
}

/** Never rejects. An outage that ends the wait for the result is no end of the task: it is waited for once more. */
async function waitForEnd(task: FollowedTask, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await task.result({ signal });
      return;
    } catch (error) {
      if (!isOutage(error)) return;
      await pause(waitAgainMs, [signal]);
    }
  }
}

/** Ends early, and never rejects, when one of the signals aborts. It leaves no listener on them. */
async function pause(ms: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  const cut = new AbortController();
  const onAbort = (): void => {
    cut.abort();
  };
  // One that was aborted between two events is not announced again.
  if (signals.some((signal) => signal?.aborted)) return;
  for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true });
  await delay(ms, undefined, { signal: cut.signal }).catch(() => undefined);
  for (const signal of signals) signal?.removeEventListener('abort', onAbort);
}
