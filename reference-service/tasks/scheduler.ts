import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../refusal';
import { findScenario } from '../scenarios/scenario';
import type { Task } from './task';
import { WaitingLine } from './waiting-line';

/** Runs the graph of one task; rejects when a node fails or the task's abort signal fires. */
export type ExecuteTask = (task: Task) => Promise<void>;

/** How many tasks run at once, how many may wait, and how long each phase lasts at least. */
export interface SchedulerSettings {
  readonly slots: number;
  readonly queueLimit: number;
  readonly timings: { readonly queueDelayMs: number; readonly preparingMs: number; readonly minimumRunningMs: number };
}

/** Takes tasks from Queuing to their end: first come first served, `slots` at a time. */
export class Scheduler {
  readonly #settings: SchedulerSettings;
  readonly #execute: ExecuteTask;
  readonly #line = new WaitingLine<Task>();
  readonly #held = new Set<Task>();
  readonly #running = new Set<Promise<void>>();
  readonly #started = new Set<Task>();
  #wakeUp: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(settings: SchedulerSettings, execute: ExecuteTask) {
    this.#settings = settings;
    this.#execute = execute;
  }

  /** Tasks that wait, held ones included. */
  get queueLength(): number {
    return this.#line.length + this.#held.size;
  }

  /** Throws a {@link Refusal} when the queue has no room for one more task. */
  checkRoom(): void {
    if (this.queueLength >= this.#settings.queueLimit) {
      throw new Refusal('queueFull', `the queue is full (${this.#settings.queueLimit} tasks wait)`, 1);
    }
  }

  /** Puts a new task in the queue; one with the scenario `hold` stays there until {@link release}. */
  add(task: Task): void {
    const hold = findScenario(task.request.scenarios, 'hold');
    if (hold === undefined) this.#line.join(task);
    else this.#held.add(task);
    if (hold?.ms !== undefined) {
      setTimeout(() => {
        this.release(task);
      }, hold.ms).unref();
    }
    this.#startNext();
  }

  /** Lets a held task join the end of the line; no effect on another. */
  release(task: Task): void {
    if (!this.#held.delete(task)) return;
    this.#line.join(task);
    this.#startNext();
  }

  /** Ends a task as Failed, wherever it is; no effect on one that has ended. */
  fail(task: Task, message: string): void {
    if (task.isEnded) return;
    this.#line.leave(task);
    this.#held.delete(task);
    task.fail(message);
  }

  /** Number of tasks ahead in the queue; -1 when the place is not known, as for a held task. */
  countAhead(task: Task): number {
    return this.#line.countAhead(task);
  }

  /** Cancels a queued task; repeating it has no effect (specification section 4.4). */
  cancel(task: Task): void {
    if (task.status === 'Canceled') return;
    if (task.status !== 'Queuing') {
      throw new Refusal('taskNotQueued', `only a queued task can be canceled; this one is ${task.status}`);
    }
    this.#line.leave(task);
    this.#held.delete(task);
    task.stop('Canceled');
  }

  /** Forces a running task to stop in the state `endsAs` (specification section 4.5). */
  interrupt(task: Task, endsAs: 'Canceled' | 'Failed'): void {
    if (task.status !== 'Running') {
      throw new Refusal('taskNotRunning', `only a running task can be interrupted; this one is ${task.status}`);
    }
    task.stop(endsAs);
  }

  /** Starts nothing more, aborts what runs, and waits for it to end. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#wakeUp);
    for (const task of this.#started) task.abort.abort();
    await Promise.all(this.#running);
  }

  #startNext(): void {
    clearTimeout(this.#wakeUp);
    while (!this.#isStopped && this.#running.size < this.#settings.slots) {
      const task = this.#line.first();
      if (task === undefined) return;
      const waitMs = task.createdAtMs + this.#settings.timings.queueDelayMs - Date.now();
      if (waitMs > 0) {
        this.#wakeUp = setTimeout(() => {
          this.#startNext();
        }, waitMs);
        return;
      }
      this.#line.leave(task);
      this.#start(task);
    }
  }

  #start(task: Task): void {
    this.#started.add(task);
    const run = this.#run(task).finally(() => {
      this.#started.delete(task);
      this.#running.delete(run);
      this.#startNext();
    });
    this.#running.add(run);
  }

  async #run(task: Task): Promise<void> {
    const { preparingMs, minimumRunningMs } = this.#settings.timings;
    const { signal } = task.abort;
    try {
      task.moveTo('Preparing');
      if (preparingMs > 0) await delay(preparingMs, undefined, { signal });
      task.moveTo('Running');
      task.inferenceStartedAtMs = Date.now();
      const failure = await this.#execute(task).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : 'unknown error'),
      );
      task.inferenceEndedAtMs = Date.now();
      const restMs = minimumRunningMs - task.inferenceMs;
      if (restMs > 0) await delay(restMs, undefined, { signal });
      if (task.isEnded || signal.aborted) return;
      if (failure === undefined) task.moveTo('Success');
      else task.fail(failure);
    } catch (error) {
      if (!signal.aborted) task.fail(error instanceof Error ? error.message : 'unknown error');
    }
  }
}
