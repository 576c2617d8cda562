import { setTimeout as delay } from 'node:timers/promises';
import type { TransferProgress } from '../../contract/activities';
import type { LonghaulStatus, ServiceStatus } from '../../core/task-state';
import { ClientClosedError, TemporalBusyError, TemporalUnreachableError } from '../connection-errors';
import type { RetryingActivity } from './pending-work';
import type { TaskView } from './task-view';

/** Options of `events`. */
export interface TaskEventsOptions {
  /** Ends the iteration at once, also during an outage: it throws the signal's reason. The task goes on. */
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
  /** The task as it stands then. */
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
  /** What is wrong at the moment, also that a step fails and is tried again, or that no worker answers; null: nothing any longer. */
  | { readonly kind: 'problem'; readonly problem: string | null }
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

/**
 * What changed from one poll to the next. Pure.
 *
 * @internal exported for tests
 */
export function changes(before: TaskView | undefined, { status, serviceStatus, ...view }: TaskView): TaskChange[] {
  const problem = problemOf(view);
  const problemBefore = before === undefined ? null : problemOf(before);
  const known = new Map(before?.transfers.map((transfer) => [transferName(transfer), transfer.bytes]));
  return [
    ...(status !== before?.status || serviceStatus !== before.serviceStatus
      ? [{ kind: 'state', status, serviceStatus } as const]
      : []),
    ...(view.queuePosition === (before?.queuePosition ?? null)
      ? []
      : [{ kind: 'queue', position: view.queuePosition } as const]),
    ...view.transfers
      .filter((transfer) => known.get(transferName(transfer)) !== transfer.bytes)
      .map((transfer) => ({ kind: 'transfer', transfer }) as const),
    ...(problem === problemBefore ? [] : [{ kind: 'problem', problem } as const]),
    ...(view.isOver ? [{ kind: 'end', status } as const] : []),
  ];
}

/**
 * Also that a step is tried again, or that no worker answers: nothing else would say why the task stands still. Of one
 * that is over, its result says more.
 */
function problemOf({
  stuck,
  problem,
  retrying,
  note,
  isOver,
}: Omit<TaskView, 'status' | 'serviceStatus'>): string | null {
  const [retry] = retrying;
  // Without the number of the attempt, so that an hour of attempts is one problem.
  const retried = retry === undefined ? null : formatRetry(retry);
  return stuck?.message ?? problem ?? (isOver ? null : (retried ?? note));
}

function formatRetry({ activity, isPaused, waitsForTurn, lastFailure }: RetryingActivity): string {
  if (waitsForTurn && !isPaused) return lastFailure;
  const how = isPaused ? 'paused by an operator' : 'tried again';
  return lastFailure === '' ? `${activity} is ${how}` : `${activity} failed and is ${how}: ${lastFailure}`;
}

function transferName({ transfer, name }: TransferProgress): string {
  return `${transfer} ${name}`;
}

/** Temporal may be away for so long without ending an iteration. */
const patienceMs = 300_000;
/** Temporal describes a workflow as running for a moment after its result is there. */
const endedPauseMs = 100;
/** The pause before the result is waited for once more. */
const waitAgainMs = 1_000;
/** After so long without a change, the pauses begin to grow. */
const livelyMs = 10_000;

/**
 * The task as it stands, again and again until it is over, which is noticed at once. Each poll costs Temporal a
 * description and, while it can answer, a query of the workflow: no event of its history.
 *
 * @throws what `status` throws, at once when the client is closed; an outage of Temporal only after five minutes.
 */
export async function* eachView(
  task: FollowedTask,
  { signal, everyMs = 1_000, quietEveryMs = 5_000 }: TaskEventsOptions = {},
): AsyncGenerator<TaskView, void, undefined> {
  const over = new AbortController();
  const end = new EndWatch(task, over.signal);
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
      await end.pause(quietMs < livelyMs ? everyMs : Math.min(longestMs, (everyMs * quietMs) / livelyMs), signal);
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

/** Pauses that the end of the task cuts short. */
class EndWatch {
  #hasEnded = false;
  #cut: AbortController | undefined;

  constructor(task: FollowedTask, signal: AbortSignal) {
    void this.#wait(task, signal);
  }

  /** Never throws. An outage that ends the wait for the result is no end of the task: it is waited for once more. */
  async #wait(task: FollowedTask, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await task.result({ signal });
        break;
      } catch (error) {
        if (!isOutage(error)) break;
        await delay(waitAgainMs, undefined, { signal }).catch(() => undefined);
      }
    }
    this.#hasEnded = true;
    this.#cut?.abort();
  }

  /** After the end it is short: Temporal shows it in a moment. */
  async pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    // Aborted by the caller, between two events: that is not announced again.
    if (signal?.aborted === true) return;
    const cut = new AbortController();
    const onAbort = (): void => {
      cut.abort();
    };
    if (!this.#hasEnded) this.#cut = cut;
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await delay(this.#hasEnded ? Math.min(ms, endedPauseMs) : ms, undefined, { signal: cut.signal });
    } catch {
      // Cut short; an abort is thrown by the caller.
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }
}
