import { randomUUID } from 'node:crypto';
import type { App } from '../apps/app-catalog';
import type { Graph } from '../apps/graph';
import type { Scenario } from '../scenarios/scenario';

/** States of a task (specification section 3). */
export type TaskStatus = 'Queuing' | 'Preparing' | 'Running' | 'Success' | 'Failed' | 'Canceled';

/** A result file that is kept in the storage. */
export interface StoredOutput {
  readonly objectKey: string;
  /** Extension with its leading dot. */
  readonly ext: string;
  /** Milliseconds from the start of execution. */
  readonly costTimeMs: number;
  readonly isPreview: boolean;
}

/** What a task is created from; its graph holds the request's input values. */
export interface TaskRequest {
  readonly accountId: string;
  readonly app: App;
  readonly graph: Graph;
  readonly suppressesPreviews: boolean;
  /** Who gets the callback at the end; only in callback mode. */
  readonly callback?: CallbackOrder;
  /** How this task misbehaves. */
  readonly scenarios: readonly Scenario[];
}

/** Where and how a task's end is reported (specification section 6). */
export interface CallbackOrder {
  readonly url: URL;
  /** Value of the `Authorization` header, as the create request gave it. */
  readonly authorization: string | undefined;
  /** Headers of the create request named `X-Svc-Task-…`: name, value, name, value, as they came, repeated ones too. */
  readonly echoedHeaders: readonly string[];
}

/** What became of one attempt to call back: the status answered, or why there is none. */
export interface CallbackAttempt {
  readonly atMs: number;
  readonly outcome: number | 'timeout' | 'unreachable' | 'lost';
}

const NEXT: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  Queuing: ['Preparing', 'Canceled', 'Failed'],
  Preparing: ['Running', 'Failed', 'Canceled'],
  Running: ['Success', 'Failed', 'Canceled'],
  Success: [],
  Failed: [],
  Canceled: [],
};

let lastGroupId = 1000;

/** One run of an app, from its acceptance to the end of its results. All times are milliseconds since the epoch. */
export class Task {
  readonly requestId = randomUUID();
  readonly request: TaskRequest;
  readonly groupId: number;
  readonly createdAtMs = Date.now();
  /** Aborted when the task must stop before its end. */
  readonly abort = new AbortController();
  /** Fulfilled when the task has reached a terminal state. */
  readonly whenEnded: Promise<void>;
  readonly outputs: StoredOutput[] = [];
  readonly callbackAttempts: CallbackAttempt[] = [];
  updatedAtMs = this.createdAtMs;
  executedAtMs: number | undefined;
  runningAtMs: number | undefined;
  endedAtMs: number | undefined;
  errorMessage: string | undefined;
  /** When the nodes of the graph began and ended to compute. */
  inferenceStartedAtMs: number | undefined;
  inferenceEndedAtMs: number | undefined;
  #status: TaskStatus = 'Queuing';
  #reportEnd: () => void = () => undefined;

  constructor(request: TaskRequest) {
    this.request = request;
    lastGroupId += 1;
    this.groupId = lastGroupId;
    this.whenEnded = new Promise((resolve) => {
      this.#reportEnd = resolve;
    });
  }

  get status(): TaskStatus {
    return this.#status;
  }

  get isEnded(): boolean {
    return NEXT[this.#status].length === 0;
  }

  /** Time spent in the nodes of the graph, until now while they compute. */
  get inferenceMs(): number {
    if (this.inferenceStartedAtMs === undefined) return 0;
    const untilMs = Math.min(this.inferenceEndedAtMs ?? Date.now(), this.endedAtMs ?? Number.POSITIVE_INFINITY);
    return untilMs - this.inferenceStartedAtMs;
  }

  /** Moves on to `status`. Throws when the specification's table has no such move. */
  moveTo(status: TaskStatus): void {
    if (!NEXT[this.#status].includes(status)) throw new Error(`a task cannot move from ${this.#status} to ${status}`);
    this.#status = status;
    this.updatedAtMs = Date.now();
    if (status === 'Preparing') this.executedAtMs = this.updatedAtMs;
    if (status === 'Running') this.runningAtMs = this.updatedAtMs;
    if (this.isEnded) {
      this.endedAtMs = this.updatedAtMs;
      this.#reportEnd();
    }
  }

  /** Ends the task as Failed, with the message that the caller is shown. */
  fail(message: string): void {
    this.errorMessage = message;
    this.moveTo('Failed');
    this.abort.abort();
  }

  /** Ends the task from outside, as Canceled or, by option, Failed. */
  stop(status: 'Canceled' | 'Failed'): void {
    if (status === 'Failed') {
      this.fail('the task was interrupted');
      return;
    }
    this.moveTo(status);
    this.abort.abort();
  }
}
