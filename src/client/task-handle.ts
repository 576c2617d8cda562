import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import {
  abandonUpdate,
  adoptUpdate,
  cancelSignal,
  type DecisionTaken,
  interruptSignal,
  rearchiveUpdate,
  recreateUpdate,
  statusQuery,
  type TaskStatus,
} from '../contract/task-messages';
import { searchAttributes } from '../contract/search-attributes';
import type { TaskResult } from '../contract/task-result';
import { isRequestId } from '../domain/create-outcome';
import { showValue } from '../domain/text';
import { answerOf, decide, type DecideOptions } from './ask-worker';
import { InputInvalidError, ReplyInvalidError, TaskOverError } from './errors';
import { isClosed } from './former-run';
import { pendingWork } from './pending-work';
import { isTaskResult, isTaskStatus } from './replies';
import type { TaskOrigin } from './start-task';
import { canceledResultOrThrow } from './task-ending';
import { type TaskView, taskView } from './task-view';
import { abortable, askTemporal, type TemporalAccess, translating } from './temporal-access';
import { type DescribedWorkflow, describeWorkflow } from './workflow-info';
import { workflowUrl } from './workflow-url';

/** Options of what may take a while. */
export interface WaitOptions {
  /** Ends the wait: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

type TaskWorkflow = () => Promise<TaskResult>;

/** One task. Made by `Longhaul`; holds no connection of its own and nothing to close. */
export class TaskHandle {
  readonly workflowId: string;
  /** Whether `start` made this task or found it; null for a handle that `task` made. */
  readonly origin: TaskOrigin | null;
  private readonly access: TemporalAccess;
  private readonly workflow: WorkflowHandle<TaskWorkflow>;

  /** @internal */
  constructor(access: TemporalAccess, workflowId: string, origin: TaskOrigin | null) {
    this.access = access;
    this.workflowId = workflowId;
    this.origin = origin;
    this.workflow = access.client.workflow.getHandle<TaskWorkflow>(workflowId);
  }

  /** Its page in Temporal's Web UI; null when the address of the Web UI is not configured. */
  get url(): string | null {
    return workflowUrl(this.access, this.workflowId);
  }

  /** The task as it stands, transfers and retries included; also when no worker answers, and after its end. */
  status(options: WaitOptions = {}): Promise<TaskView> {
    return abortable(this.access, options.signal, () => this.readStatus());
  }

  private async readStatus(): Promise<TaskView> {
    const description = await this.describe();
    const [reported, pending] = await Promise.all([
      this.reportedStatus(),
      pendingWork(this.access.client, description.pendingActivities),
    ]);
    return taskView({ description, reported, pending, url: this.url });
  }

  /**
   * Waits for the end. Resolves with status `Success`, or `Canceled` when the task was stopped; throws
   * `TaskFailedError` otherwise. Ending the wait does nothing to the task.
   */
  result(options: WaitOptions = {}): Promise<TaskResult> {
    return abortable(this.access, options.signal, () => this.readResult());
  }

  private async readResult(): Promise<TaskResult> {
    try {
      const result: unknown = await translating(this.access, this.workflowId, () => this.workflow.result());
      if (isTaskResult(result)) return result;
      throw new ReplyInvalidError(this.workflowId, 'The result');
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { attributes, memo } = await this.describe();
      const requestId = attributes.get(searchAttributes.requestId.name) ?? null;
      return canceledResultOrThrow(error, { workflowId: this.workflowId, requestId, memo: Object.fromEntries(memo) });
    }
  }

  /**
   * The service's own cancel: applies before the create and while the task queues, and never becomes an interrupt.
   * What became of it stands in `status().stopRequests`.
   */
  async cancel(): Promise<void> {
    await this.ask(() => this.workflow.signal(cancelSignal));
  }

  /** The service's own interrupt: applies while the task runs, and is kept for then when it comes earlier. */
  async interrupt(): Promise<void> {
    await this.ask(() => this.workflow.signal(interruptSignal));
  }

  /** Ends the task, whichever of the service's verbs applies: Temporal's cancellation of the workflow. */
  async stop(): Promise<void> {
    // Temporal takes a cancellation of a workflow that is over without a word.
    const { execution } = await this.describe();
    if (isClosed(execution)) throw new TaskOverError(this.workflowId);
    await this.ask(() => this.workflow.cancel());
  }

  /** Answers `CreateUncertain`: the task exists under this request id. Resolves with what happens now, in words. */
  async adopt(requestId: string): Promise<string> {
    if (!isRequestId(requestId)) {
      const shown = showValue(requestId);
      throw new InputInvalidError([`The request id ${shown} is not 1 to 200 printable characters without spaces.`]);
    }
    return this.decide(() => this.workflow.executeUpdate(adoptUpdate, { args: [{ requestId }] }));
  }

  /** Answers `CreateUncertain`: create it again, and accept that it may be paid twice. */
  async recreate(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(recreateUpdate), { isRepeatable: false });
  }

  /** Answers `CreateUncertain` or `ArchiveIncomplete`: give up. */
  async abandon(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(abandonUpdate));
  }

  /** Answers `ArchiveIncomplete`: fetch again what is missing. */
  async rearchive(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(rearchiveUpdate));
  }

  private decide(update: () => Promise<DecisionTaken>, options?: DecideOptions): Promise<string> {
    return decide(this.access, this.workflowId, update, options);
  }

  private describe(): Promise<DescribedWorkflow> {
    return this.ask(() => describeWorkflow(this.access.client, this.workflowId));
  }

  /** The workflow's own answer; undefined when there is no worker to give it, or it has none to give. */
  private reportedStatus(): Promise<TaskStatus | undefined> {
    return answerOf(this.access, () => this.workflow.query(statusQuery), isTaskStatus);
  }

  private ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return askTemporal(this.access, this.workflowId, ask);
  }
}
