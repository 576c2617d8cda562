import { Refusal } from '../refusal';
import type { Task } from './task';

/** Ids of expired tasks that are still told apart from ids that never existed. */
const REMEMBERED_EXPIRED_IDS = 10_000;

/** How the book gets rid of what has expired. */
export interface TaskBookSettings {
  /** How long a task and its results last after its end. */
  readonly resultLifetimeMs: number;
  /** Ended tasks that are remembered; the oldest of more expire before their time, so that memory is bounded. */
  readonly keptTasks: number;
  /** Called for each task that has expired, to remove its files. */
  readonly onExpired: (task: Task) => void;
}

/** All tasks by request id; forgets each when its results have expired. */
export class TaskBook {
  readonly #settings: TaskBookSettings;
  readonly #tasks = new Map<string, Task>();
  /** Ended tasks in the order they end, which is the order they expire. */
  readonly #ended = new Set<Task>();
  readonly #expiredIds = new Set<string>();
  readonly #sweep: NodeJS.Timeout;

  constructor(settings: TaskBookSettings) {
    this.#settings = settings;
    const everyMs = Math.min(60_000, Math.max(50, settings.resultLifetimeMs / 10));
    this.#sweep = setInterval(() => {
      this.#forgetExpired();
    }, everyMs).unref();
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** All tasks that are not expired, oldest first. */
  all(): IterableIterator<Task> {
    return this.#tasks.values();
  }

  /** Enters a task. */
  add(task: Task): void {
    this.#tasks.set(task.requestId, task);
    void task.whenEnded.then(() => {
      this.#ended.add(task);
      for (const oldest of this.#ended) {
        if (this.#ended.size <= this.#settings.keptTasks) break;
        this.#forget(oldest);
      }
    });
  }

  /** The task of that id, of any account. */
  find(requestId: string): Task | undefined {
    return this.#tasks.get(requestId);
  }

  /** The task of that id. Throws a {@link Refusal} when it is not there, not this account's, or expired. */
  get(requestId: string, accountId: string): Task {
    const task = this.#tasks.get(requestId);
    if (task === undefined && this.#expiredIds.has(requestId)) {
      throw new Refusal('outputGone', 'the task and its results have expired');
    }
    if (task?.request.accountId !== accountId)
      throw new Refusal('taskNotFound', 'there is no task with this requestId');
    if (task.isEnded && this.expiresAtMs(task) <= Date.now())
      throw new Refusal('outputGone', 'the task and its results have expired');
    return task;
  }

  /** When a task and its results expire: a fixed time after its end, reckoned from its creation until then. */
  expiresAtMs(task: Task): number {
    return (task.endedAtMs ?? task.createdAtMs) + this.#settings.resultLifetimeMs;
  }

  /** Stops sweeping. */
  close(): void {
    clearInterval(this.#sweep);
  }

  #forgetExpired(): void {
    const nowMs = Date.now();
    for (const task of this.#ended) {
      if (this.expiresAtMs(task) > nowMs) break;
      this.#forget(task);
    }
  }

  #forget(task: Task): void {
    this.#ended.delete(task);
    this.#tasks.delete(task.requestId);
    this.#rememberExpired(task.requestId);
    this.#settings.onExpired(task);
  }

  #rememberExpired(requestId: string): void {
    this.#expiredIds.add(requestId);
    if (this.#expiredIds.size <= REMEMBERED_EXPIRED_IDS) return;
    for (const oldest of this.#expiredIds) {
      this.#expiredIds.delete(oldest);
      return;
    }
  }
}
