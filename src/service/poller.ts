import { Heap } from 'heap-js';
import { nextPollDelayMs, type PollBounds, type PollSituation } from '../domain/poll-cadence';
import type { ServiceClient } from './service-client';
import type { TaskDetail } from './task-detail';

/** A task that is asked about again and again. Its callbacks must not throw. */
export interface PolledTask {
  readonly requestId: string;
  readonly bounds: PollBounds;
  /** What the next delay depends on. */
  situation(): Omit<PollSituation, 'dice'>;
  onDetail(detail: TaskDetail): void;
  /** A query that failed; the task is asked about again all the same. */
  onFailure(error: unknown): void;
}

/** What a {@link Poller} is made of. */
export interface PollerOptions {
  /** How long one query may take. */
  readonly timeoutMs: number;
  /** Sends each query: the place of an account's limits, which may hold it back and heed its answer. @default at once */
  readonly send?: (query: () => Promise<TaskDetail>) => Promise<TaskDetail>;
  /** Queries at the same time; further ones that are due wait. @default 48 */
  readonly maxInFlight?: number;
}

/** Below the connections of the client, so that stops and archives always find a free one. */
const defaultMaxInFlight = 48;

/** When a task is asked about next. */
interface Turn {
  readonly task: PolledTask;
  dueAtMs: number;
  /** Nobody wants to know any more; what a query on its way brings is thrown away. */
  isDropped: boolean;
}

/**
 * Asks one account's service about any number of tasks, each at its own cadence: one queue by due time and one timer
 * for all of them. It knows neither why a task is followed nor when that is over.
 */
export class Poller {
  readonly #service: Pick<ServiceClient, 'getTask'>;
  readonly #options: PollerOptions;
  readonly #maxInFlight: number;
  readonly #turns = new Heap<Turn>((one, other) => one.dueAtMs - other.dueAtMs);
  #inFlight = 0;
  #timer: NodeJS.Timeout | undefined;
  #timerDueAtMs = Number.POSITIVE_INFINITY;

  constructor(service: Pick<ServiceClient, 'getTask'>, options: PollerOptions) {
    this.#service = service;
    this.#options = options;
    this.#maxInFlight = options.maxInFlight ?? defaultMaxInFlight;
  }

  /** Asks about a task, first after `firstDelayMs`, until the returned function is called. */
  follow(task: PolledTask, firstDelayMs: number): () => void {
    const turn: Turn = { task, dueAtMs: 0, isDropped: false };
    this.#enqueue(turn, firstDelayMs);
    return () => {
      turn.isDropped = true;
      this.#turns.remove(turn);
      if (this.#turns.isEmpty()) this.#disarm();
    };
  }

  /** Lets go of every task. Queries on their way are heard out by the client. */
  close(): void {
    for (const turn of this.#turns.toArray()) turn.isDropped = true;
    this.#turns.clear();
    this.#disarm();
  }

  #enqueue(turn: Turn, delayMs: number): void {
    turn.dueAtMs = performance.now() + delayMs;
    this.#turns.push(turn);
    this.#askWhatIsDue();
  }

  #askWhatIsDue(): void {
    while (this.#inFlight < this.#maxInFlight) {
      const next = this.#turns.peek();
      if (next === undefined) return;
      if (next.dueAtMs > performance.now()) {
        this.#arm(next.dueAtMs);
        return;
      }
      this.#turns.pop();
      void this.#ask(next);
    }
  }

  async #ask(turn: Turn): Promise<void> {
    this.#inFlight += 1;
    await this.#query(turn);
    this.#inFlight -= 1;
    const { task } = turn;
    if (turn.isDropped) this.#askWhatIsDue();
    else this.#enqueue(turn, nextPollDelayMs({ ...task.situation(), dice: Math.random() }, task.bounds));
  }

  async #query(turn: Turn): Promise<void> {
    const { timeoutMs, send } = this.#options;
    const { task } = turn;
    const query = (): Promise<TaskDetail> => this.#service.getTask(task.requestId, { timeoutMs });
    let detail: TaskDetail;
    try {
      detail = await (send === undefined ? query() : send(query));
    } catch (error) {
      if (!turn.isDropped) task.onFailure(error);
      return;
    }
    if (!turn.isDropped) task.onDetail(detail);
  }

  #arm(dueAtMs: number): void {
    if (this.#timerDueAtMs <= dueAtMs) return;
    this.#disarm();
    this.#timerDueAtMs = dueAtMs;
    this.#timer = setTimeout(
      () => {
        this.#timerDueAtMs = Number.POSITIVE_INFINITY;
        this.#askWhatIsDue();
      },
      Math.max(0, dueAtMs - performance.now()),
    );
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timerDueAtMs = Number.POSITIVE_INFINITY;
  }
}
