import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import type { TaskInput } from '../../contract/task-input';
import {
  abandonUpdate,
  adoptUpdate,
  cancelSignal,
  interruptSignal,
  isTaskStatus,
  rearchiveUpdate,
  recreateUpdate,
  statusQuery,
} from '../../contract/task-messages';
import { isTaskResult, type TaskResult } from '../../contract/task-result';
import { keyOf } from '../../contract/workflow-ids';
import { isRequestId } from '../../core/create-outcome';
import { BaseHandle, checkWaitOptions, type WaitOptions } from '../base-handle';
import { checkOptions, InputInvalidError, ReplyInvalidError, TaskOverError, UnknownTaskError } from '../errors';
import { abortSignal, type OptionRules, milliseconds } from '../../core/option-rules';
import { requestIdProblem } from '../start-check';
import { inputInHistory, retryTask, type StartedTask, type TaskOrigin, type TaskSetting } from './start-task';
import { type TaskEvent, taskEvents, type TaskEventsOptions } from './task-events';
import type { TaskOutput } from './task-files';
import { listedTask } from './list-tasks';
import { findAdopter, findOtherUncertain } from './related-tasks';
import type { Problem } from '../../contract/problem';
import { pendingProblem, pendingWork, retryNow } from './pending-work';
import { knownRequestId, type TaskView, taskView } from './task-view';
import { type TemporalAccess, translating } from '../temporal-access';
import { isClosed } from '../workflow-info';
import { canceledResultOrThrow } from '../existing-run';

const eventsRules: OptionRules<TaskEventsOptions> = {
  signal: abortSignal,
  everyMs: milliseconds,
  quietEveryMs: milliseconds,
};

type TaskWorkflow = () => Promise<TaskResult>;

/** Options of a task's own `adopt`. */
export interface TaskAdoptOptions extends WaitOptions {
  readonly force?: boolean;
}

/** Made by `Longhaul`; holds no connection of its own and nothing to close. */
export class TaskHandle extends BaseHandle {
  /** What it was started with, also of a row of a batch; null for a workflow id of another form. */
  readonly key: string | null;
  /** Whether `start` made this task or found it; null for a handle that `task` made. */
  readonly origin: TaskOrigin | null;
  /** Given options that the task lacks because it was started before. */
  readonly withoutEffect: readonly TaskSetting[];
  readonly #access: TemporalAccess;
  readonly #workflow: WorkflowHandle<TaskWorkflow>;

  /** @internal */
  constructor(access: TemporalAccess, workflowId: string, started?: StartedTask) {
    super(access, workflowId);
    this.key = keyOf(workflowId) ?? null;
    this.origin = started?.origin ?? null;
    this.withoutEffect = started?.withoutEffect ?? [];
    this.#access = access;
    this.#workflow = access.client.workflow.getHandle<TaskWorkflow>(workflowId);
  }

  /** As it stands, also when no worker answers, and after its end. */
  status(options: WaitOptions = {}): Promise<TaskView> {
    return this.abortable(options, () => this.#readStatus());
  }

  async #readStatus(): Promise<TaskView> {
    const description = await this.describe();
    const { client } = this.#access;
    const [reported, pending, otherUncertain] = await Promise.all([
      this.query(() => this.#workflow.query(statusQuery), isTaskStatus),
      pendingWork(client, description),
      findOtherUncertain(client, description),
    ]);
    const adoptedBy = await findAdopter(client, description, knownRequestId(description, reported));
    return taskView({ description, reported, pending, adoptedBy, otherUncertain, url: this.url });
  }

  /** As `status` has it, but asks Temporal alone, so no worker: cheaper, and without what only the workflow knows. */
  async problem(options: WaitOptions = {}): Promise<Problem | null> {
    return await this.abortable(options, async () => {
      const description = await this.describe();
      const { problem } = listedTask(description);
      // A list names a paused step, and not since when.
      if (problem !== null && (problem.code !== 'Paused' || description.execution === 'PAUSED')) return problem;
      const { pendingActivities } = description;
      return (await pendingProblem(this.#access.client, pendingActivities, this.workflowId)) ?? problem;
    });
  }

  /** Starts it again, with its own input, once it is over without success (`longhaul retry`). */
  async retry(): Promise<TaskHandle> {
    const started = await retryTask(this.#access, this.workflowId);
    return new TaskHandle(this.#access, this.workflowId, started);
  }

  /** Tries at once what waits or is paused; resolves with the names of these steps (`longhaul retry-now`). */
  async retryNow(): Promise<readonly string[]> {
    const description = await this.describe();
    if (isClosed(description.execution)) throw new TaskOverError(this.workflowId);
    return await this.ask(() => retryNow(this.#access.client, description));
  }

  /** What started it; null if another program did. Throws `ConfigError` without the key that encrypted it. */
  input(options: WaitOptions = {}): Promise<TaskInput | null> {
    return this.abortable(options, async () => {
      const { runId } = await this.describe();
      return await this.ask(() => inputInHistory(this.#access, this.workflowId, runId));
    });
  }

  /** Waits: `Success`, or `Canceled` when stopped; else throws `TaskFailedError`. Aborting the wait stops nothing. */
  result(options: WaitOptions = {}): Promise<TaskResult> {
    return this.abortable(options, () => this.#readResult());
  }

  async #readResult(): Promise<TaskResult> {
    try {
      const result: unknown = await translating(this.#access, this.workflowId, () => this.#workflow.result());
      if (isTaskResult(result)) return result;
      throw new ReplyInvalidError(this.workflowId, 'The result');
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return canceledResultOrThrow(error, await this.describe());
    }
  }

  /**
   * Waits as `result` does; all archived outputs, also of a task that Temporal has forgotten, unless its input named a
   * folder (`archive`). Throws `InputInvalidError` without `archive`, and its errors.
   */
  async outputs(options: WaitOptions = {}): Promise<readonly TaskOutput[]> {
    checkWaitOptions(options);
    const { archive } = this.#access;
    if (archive === undefined) {
      const problem =
        'This client has no archive: give Longhaul.connect { archive: openArchive() } of @longhaul/client/files (longhaul/files).';
      throw new InputInvalidError([problem], 'arguments');
    }
    try {
      return await archive.outputs(await this.result(options));
    } catch (error) {
      const kept = error instanceof UnknownTaskError ? await archive.outputsOf?.(this.workflowId) : undefined;
      if (kept === undefined) throw error;
      return kept;
    }
  }

  /**
   * States, place in the queue and transfers, until the task ends, however it does. Asks every second at first and
   * seldom while nothing happens; costs no event of the history. Ending the iteration does not affect the task.
   */
  events(options: TaskEventsOptions = {}): AsyncGenerator<TaskEvent, void, undefined> {
    checkOptions(options, eventsRules);
    return taskEvents(this, options);
  }

  /** The service's cancel: before the create or while queued, never an interrupt. Outcome: `status().stopRequests`. */
  cancel(options: WaitOptions = {}): Promise<void> {
    return this.abortable(options, () => this.ask(() => this.#workflow.signal(cancelSignal)));
  }

  /** The service's own interrupt: applies while the task runs, and is kept for then when it comes earlier. */
  interrupt(options: WaitOptions = {}): Promise<void> {
    return this.abortable(options, () => this.ask(() => this.#workflow.signal(interruptSignal)));
  }

  /**
   * Answers `CreateUncertain`: the task exists under this request id. Resolves with the workflow's answer. Throws
   * `DecisionRefusedError`, unless forced, for a task that was created before this create was sent, or that another
   * create made or may have made.
   */
  async adopt(requestId: string, { force = false, ...options }: TaskAdoptOptions = {}): Promise<string> {
    if (!isRequestId(requestId)) throw new InputInvalidError([requestIdProblem(requestId)], 'arguments');
    return this.update(() => this.#workflow.executeUpdate(adoptUpdate, { args: [{ requestId, force }] }), options);
  }

  /** Answers `CreateUncertain`: create it again, and accept that it may be paid twice. */
  recreate(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(recreateUpdate), options, false);
  }

  /** Answers `CreateUncertain` or `ArchiveIncomplete`: give up. */
  abandon(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(abandonUpdate), options);
  }

  /** Answers `ArchiveIncomplete`: fetch again what is missing. */
  rearchive(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(rearchiveUpdate), options);
  }
}
