import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { workflowTaskQueue } from '../src/contract/task-queues';
import type { WatchWay } from '../src/contract/task-input';
import type { TaskResult } from '../src/contract/task-result';
import { Latencies } from './latencies';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** What the tasks are like. */
export interface WatchedTaskOptions {
  /** How long each runs. */
  readonly seconds: number;
  readonly pollMs: number;
  readonly watch: WatchWay;
}

/** What can be read of the tasks once they are over. */
export interface WatchedTaskFigures {
  /** History events of each. */
  readonly events: Latencies;
  readonly statuses: ReadonlyMap<string, number>;
  /** When Temporal heard of each task's end, by its request id; only of those that an activity watched. */
  readonly noticedAtMs: ReadonlyMap<string, number>;
  /** From when an activity that watches was scheduled until a worker had it; the last attempt counts. */
  readonly begins: Latencies;
  /** Why watches needed more than one attempt, and how many. */
  readonly takenOver: ReadonlyMap<string, number>;
}

const INSTANT_SWATCH = 5;
const AT_ONCE = 16;
const LOOK_EVERY_MS = 2_000;

/** Tasks of one kind, from their starts to what their histories tell. */
export class WatchedTasks {
  readonly #client: Client;
  readonly #options: WatchedTaskOptions;
  #handles: readonly WorkflowHandle[] = [];

  constructor(client: Client, options: WatchedTaskOptions) {
    this.#client = client;
    this.#options = options;
  }

  async start(count: number): Promise<void> {
    const { seconds, pollMs, watch } = this.#options;
    const input = {
      webAppId: INSTANT_SWATCH,
      inputs: { '2:Wait.seconds': seconds },
      watch,
      // A create that Temporal handed to a poll that had just ended is lost, and nothing of it was sent.
      onUncertain: 'recreate',
      tuning: { poll: { minMs: pollMs, maxMs: pollMs } },
    };
    this.#handles = await forAll(Array.from({ length: count }), () =>
      this.#client.workflow.start('task', {
        taskQueue: workflowTaskQueue,
        workflowId: `task:${randomUUID()}`,
        args: [input],
      }),
    );
  }

  /** Asks Temporal for the number of open workflows, seldom, so that the asking costs next to nothing. */
  async whenAllAreOver(): Promise<void> {
    for (;;) {
      const { count } = await this.#client.workflow.count(`WorkflowType = 'task'`);
      const open = await this.#client.workflow.count(`WorkflowType = 'task' AND ExecutionStatus = 'Running'`);
      if (count >= this.#handles.length && open.count === 0) return;
      await delay(LOOK_EVERY_MS);
    }
  }

  async read(): Promise<WatchedTaskFigures> {
    const events = new Latencies();
    const statuses = new Map<string, number>();
    const noticedAtMs = new Map<string, number>();
    const begins = new Latencies();
    const takenOver = new Map<string, number>();
    await forAll(this.#handles, async (handle) => {
      const result: unknown = await handle.result().catch((error: unknown) => String(error));
      const { requestId, status } =
        typeof result === 'string' ? { requestId: null, status: result } : (result as TaskResult);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const history = (await handle.fetchHistory()).events ?? [];
      events.add(history.length);
      const watch = watchOf(history);
      if (requestId === null || watch === undefined) return;
      noticedAtMs.set(requestId, watch.completedAtMs);
      begins.add(watch.startedAtMs - watch.scheduledAtMs);
      const { lastFailure } = watch;
      if (lastFailure !== undefined) takenOver.set(lastFailure, (takenOver.get(lastFailure) ?? 0) + 1);
    });
    return { events, statuses, noticedAtMs, begins, takenOver };
  }
}

interface WatchMoments {
  readonly scheduledAtMs: number;
  readonly startedAtMs: number;
  readonly completedAtMs: number;
  /** Why an attempt before the last one ended. */
  readonly lastFailure: string | undefined;
}

/** The moments of the first activity that watched, if there was one and it came back. */
function watchOf(history: readonly HistoryEvent[]): WatchMoments | undefined {
  const scheduled = history.find(
    ({ activityTaskScheduledEventAttributes: event }) => event?.activityType?.name === 'watchTask',
  );
  if (scheduled === undefined) return undefined;
  const isOfWatch = (event: { scheduledEventId?: unknown } | null | undefined): boolean =>
    event != null && String(event.scheduledEventId) === String(scheduled.eventId);
  const started = history.find((event) => isOfWatch(event.activityTaskStartedEventAttributes));
  const completed = history.find((event) => isOfWatch(event.activityTaskCompletedEventAttributes));
  if (started === undefined || completed === undefined) return undefined;
  return {
    scheduledAtMs: timeOf(scheduled),
    startedAtMs: timeOf(started),
    completedAtMs: timeOf(completed),
    lastFailure: started.activityTaskStartedEventAttributes?.lastFailure?.message ?? undefined,
  };
}

function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1_000_000;
}

/** Does the same for all, a few at a time; the results are in the order of the parts. */
async function forAll<T, R>(parts: readonly T[], work: (part: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < parts.length; index = next++) results[index] = await work(parts[index] as T);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
