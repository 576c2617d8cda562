import { setTimeout as delay } from 'node:timers/promises';
import {
  QueryNotRegisteredError,
  QueryRejectedError,
  ServiceError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { DecisionTaken } from '../contract/task-messages';
import { isRecord } from '../core/json';
import { checkOptions, DecisionRefusedError, TaskOverError, WorkflowStuckError } from './errors';
import { TemporalBusyError } from './connection-errors';
import { abortSignal, type OptionRules } from '../core/option-rules';
import { areWorkflowsServed } from './workers';
import {
  abortable,
  askDescription,
  askTemporal,
  isUndecodable,
  type TemporalAccess,
  workflowUrl,
} from './temporal-access';
import { type DescribedWorkflow, describeWorkflow, isClosed } from './workflow-info';

/** Options of every request. */
export interface WaitOptions {
  /** Ends the wait at once, also while Temporal or the workers do not answer: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

const waitRules: OptionRules<WaitOptions> = { signal: abortSignal };

/** Throws {@link InputInvalidError} with every problem of the options. */
export function checkWaitOptions(options: WaitOptions): void {
  checkOptions(options, waitRules);
}

/** Longer than the local activity of a poll that a worker may have to wait for. */
const answerTimeoutMs = 6_000;
/** After so long without an answer, it is checked whether there is a worker. */
const lookForWorkersAfterMs = 500;
/** How long an update is repeated that came at the end of a run, or while a workflow task fails. */
const repeatWithinMs = 15_000;
const repeatEveryMs = 300;

/** Common to the handles of tasks and batches. Holds no connection of its own and nothing to close. */
export abstract class BaseHandle {
  readonly workflowId: string;
  /** Its page in Temporal's Web UI; null when the Web UI's address is not configured. */
  readonly url: string | null;
  // Not `private`: the connection holds Temporal's API key, and a handle may be logged. `inspect` reads getters.
  readonly #access: TemporalAccess;

  /** @internal */
  protected constructor(access: TemporalAccess, workflowId: string) {
    this.#access = access;
    this.workflowId = workflowId;
    this.url = workflowUrl(access, workflowId);
  }

  /**
   * Cancels the workflow: a task by whichever of the service's verbs applies; a batch stops every row that runs and
   * starts no more. A task in `CreateUncertain` ends as `StopUnconfirmed`: one that exists runs on and is paid.
   * `result` waits for the end. Resolves with whether it was asked: false when it is over already.
   */
  async stop(options: WaitOptions = {}): Promise<boolean> {
    return await this.abortable(options, async () => {
      // Temporal accepts the cancellation of a closed workflow silently.
      if (await this.isOver()) return false;
      await this.ask(() => this.#access.client.workflow.getHandle(this.workflowId).cancel());
      return true;
    });
  }

  /** Asks Temporal alone, no worker. */
  isOver(options: WaitOptions = {}): Promise<boolean> {
    return this.abortable(options, async () => isClosed((await this.describe()).execution));
  }

  /** @internal */
  protected describe(): Promise<DescribedWorkflow> {
    return askDescription(this.#access, this.workflowId);
  }

  /** @internal */
  protected ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return askTemporal(this.#access, this.workflowId, ask);
  }

  /** @internal */
  protected async abortable<Answer>(options: WaitOptions, ask: () => Promise<Answer>): Promise<Answer> {
    checkWaitOptions(options);
    return await abortable(this.#access, options.signal, ask);
  }

  /** @internal */
  protected query<Answer>(
    query: () => Promise<unknown>,
    isAnswer: (value: unknown) => value is Answer,
  ): Promise<Answer | undefined> {
    return queryWorkflow(this.#access, query, isAnswer, this.workflowId);
  }

  /**
   * @internal Sends a decision, and again to the next run if it came at the end of one; resolves with the workflow's answer.
   * Throws `DecisionRefusedError`, `TaskOverError` when no run follows, and the errors of `askTemporal`.
   * @param isRepeatable - whether it may be sent again when the run accepted it and ended before it answered: it may
   * have taken effect.
   */
  protected update(update: () => Promise<DecisionTaken>, options: WaitOptions, isRepeatable = true): Promise<string> {
    return this.abortable(options, () => this.#update(update, isRepeatable));
  }

  async #update(update: () => Promise<DecisionTaken>, isRepeatable: boolean): Promise<string> {
    const { workflowId } = this;
    const untilMs = Date.now() + repeatWithinMs;
    for (;;) {
      try {
        const taken: unknown = await askTemporal(this.#access, workflowId, update, answerTimeoutMs);
        return isRecord(taken) && typeof taken['words'] === 'string' ? taken['words'] : 'The workflow accepted it.';
      } catch (error) {
        const isFailed = error instanceof WorkflowUpdateFailedError;
        const cause = isFailed ? error.cause : undefined;
        const wasAccepted = cause instanceof ApplicationFailure && cause.type === 'AcceptedUpdateCompletedWorkflow';
        if (isFailed && !wasAccepted) {
          throw new DecisionRefusedError(workflowId, cause?.message ?? error.message, { cause: error });
        }
        const mayRepeat = wasAccepted ? isRepeatable : await this.#isBetweenRuns(error);
        if (!mayRepeat || Date.now() >= untilMs) throw error;
      }
      await delay(repeatEveryMs);
    }
  }

  /** Whether an update did not arrive because a run ended or its workflow task fails: the next one may take it. */
  async #isBetweenRuns(error: unknown): Promise<boolean> {
    // Temporal's server answers with the code of a busy one when a run is closing.
    if (error instanceof TemporalBusyError || error instanceof WorkflowStuckError) return true;
    return error instanceof TaskOverError && !(await this.isOver());
  }
}

/**
 * Undefined when no worker answers, or the answer cannot be read; a task queue without pollers is not waited for. Call
 * it right after Temporal described the workflow, so that a failure is the worker's and not the server's.
 * @param workflowId - whose task queue it is
 */
export async function queryWorkflow<Answer>(
  access: TemporalAccess,
  query: () => Promise<unknown>,
  isAnswer: (value: unknown) => value is Answer,
  workflowId: string,
): Promise<Answer | undefined> {
  const { client } = access;
  const [unserved, settled] = [new AbortController(), new AbortController()];
  const withinMs = Date.now() + answerTimeoutMs;
  // Aborts when no worker serves the workflow's task queue; does nothing where that cannot be told.
  const abortUnserved = async (): Promise<void> => {
    await delay(lookForWorkersAfterMs, undefined, { signal: settled.signal });
    await client.withDeadline(Date.now() + answerTimeoutMs, async () => {
      const { taskQueue } = await describeWorkflow(client, workflowId);
      if (!(await areWorkflowsServed(client, taskQueue))) unserved.abort();
    });
  };
  abortUnserved().catch(() => undefined);
  try {
    const answer = await abortable(access, unserved.signal, () => client.withDeadline(withinMs, query));
    return isAnswer(answer) ? answer : undefined;
  } catch (error) {
    // A workflow that is paused rejects queries.
    const isUnanswered =
      error instanceof ServiceError || error instanceof QueryNotRegisteredError || error instanceof QueryRejectedError;
    if (unserved.signal.aborted || isUnanswered || isUndecodable(error)) return undefined;
    throw error;
  } finally {
    settled.abort();
  }
}
