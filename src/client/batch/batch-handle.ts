import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  type BatchProgress,
  type BatchResult,
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  setBudgetUpdate,
  setConcurrencyUpdate,
} from '../../contract/batch/batch-messages';
import {
  type BatchInput,
  budgetRemedy,
  isConcurrency,
  maxConcurrency,
  parseBudget,
  type RowChoice,
} from '../../contract/batch/batch-input';
import { unpaidRefusals } from '../../contract/failure-types';
import { batchWorkflowId } from '../../contract/workflow-ids';
import { redact } from '../../core/redact';
import { showValue } from '../../core/text';
import { BaseHandle, type WaitOptions } from '../base-handle';
import { DecisionRefusedError, InputInvalidError, LonghaulError, ReplyInvalidError, TaskOverError } from '../errors';
import { isBatchProgress, isBatchResult } from '../replies';
import { batchProblem, type BatchView, RowCounter } from './batch-view';
import { isBatchInput, readFiles, readPreviousRunId, isRefused, startBatch, type StartedBatch } from './start-batch';
import { findDescription, type TemporalAccess, translating } from '../temporal-access';
import { stoppedResultOrThrow } from '../existing-run';
import { type DescribedWorkflow, isClosed, readStartArgument } from '../workflow-info';

type BatchWorkflow = () => Promise<BatchResult>;

/** Made by `Longhaul`; holds no connection of its own and nothing to close. */
export class BatchHandle extends BaseHandle {
  readonly id: string;
  /** What `startBatch` led to; null for a handle that `batch` made. */
  readonly started: Omit<StartedBatch, 'id'> | null;
  readonly #access: TemporalAccess;
  readonly #workflow: WorkflowHandle<BatchWorkflow>;
  readonly #counts: RowCounter;

  /** @internal */
  constructor(access: TemporalAccess, id: string, started: BatchHandle['started'] = null) {
    super(access, batchWorkflowId(id));
    this.id = id;
    this.started = started;
    this.#access = access;
    this.#workflow = access.client.workflow.getHandle<BatchWorkflow>(this.workflowId);
    this.#counts = new RowCounter(access, id);
  }

  /** As it stands, also when no worker answers, and after its end. */
  status(options: WaitOptions = {}): Promise<BatchView> {
    return this.abortable(options, () => this.#readStatus());
  }

  async #readStatus(): Promise<BatchView> {
    const { description, refused } = await this.#latest();
    const { execution, startedAt, closedAt, memo, taskQueue } = description;
    const progress = (await this.#askProgress(refused === null ? undefined : description.runId)) ?? null;
    const source = memo.get('source');
    const rows = await this.#counts.read();
    const { needPerson, uploading } = rows;
    return {
      workflowId: this.workflowId,
      batchId: this.id,
      execution,
      isOver: isClosed(execution),
      // That of the first run: a long batch continues as new.
      startedAt: progress?.startedAt ?? startedAt.toISOString(),
      endedAt: closedAt?.toISOString() ?? null,
      source: typeof source === 'string' ? source : null,
      files: readFiles(memo.get('files')),
      taskQueue,
      progress,
      problem: await batchProblem(this.#access, description, { ...rows, batchId: this.id, progress }),
      needPerson,
      uploading,
      url: this.url,
      refused: refused && {
        runId: refused.runId,
        at: refused.closedAt?.toISOString() ?? null,
        reason: (await this.#readFailure(refused.runId)).message,
      },
      failure: execution === 'FAILED' ? await this.#readFailure(description.runId) : null,
    };
  }

  /** The latest run, or the one before if that was refused; a handle that `startBatch` made always has the latest. */
  async #latest(): Promise<{ readonly description: DescribedWorkflow; readonly refused: DescribedWorkflow | null }> {
    const latest = await this.describe();
    const previousRunId = this.started === null && isRefused(latest) ? readPreviousRunId(latest) : undefined;
    const previous = previousRunId && (await findDescription(this.#access, this.workflowId, previousRunId));
    return previous ? { description: previous, refused: latest } : { description: latest, refused: null };
  }

  async #readFailure(runId: string): Promise<NonNullable<BatchView['failure']>> {
    try {
      await this.ask(() => this.#run(runId).result());
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { cause } = error;
      const type = cause instanceof ApplicationFailure ? cause.type : null;
      return { type: type ?? 'Unknown', message: redact(cause?.message ?? error.message) };
    }
    return { type: 'Unknown', message: '' };
  }

  #run(runId: string): WorkflowHandle<BatchWorkflow> {
    return this.#access.client.workflow.getHandle<BatchWorkflow>(this.workflowId, runId, { followRuns: false });
  }

  /** Of the latest run; null if another program started it. Throws `ConfigError` without the key that encrypted it. */
  input(options: WaitOptions = {}): Promise<BatchInput | null> {
    return this.abortable(options, async () => this.#inputOf((await this.describe()).runId));
  }

  async #inputOf(runId: string): Promise<BatchInput | null> {
    const input = await this.ask(() => readStartArgument(this.#access.client, this.workflowId, runId));
    return isBatchInput(input) ? input : null;
  }

  /**
   * Waits for the end. Also resolves when rows failed or the batch was stopped; throws `TaskFailedError` when the batch
   * itself could not go on (`RowsChanged`, `BatchFailed`, …). Aborting the wait does not affect the batch.
   */
  result(options: WaitOptions = {}): Promise<BatchResult> {
    return this.abortable(options, () => this.#readResult());
  }

  async #readResult(): Promise<BatchResult> {
    const { description, refused } = await this.#latest();
    const previousRunId = refused === null ? undefined : description.runId;
    const workflow = previousRunId === undefined ? this.#workflow : this.#run(previousRunId);
    try {
      const result: unknown = await translating(this.#access, this.workflowId, () => workflow.result());
      if (isBatchResult(result)) return result;
      throw new ReplyInvalidError(this.workflowId, 'The result');
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return stoppedResultOrThrow(error, description, () => this.#askProgress(previousRunId));
    }
  }

  /** Starts no more rows until `resume`; those that run go on. Resolves with the workflow's answer. */
  pause(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(pauseUpdate), options);
  }

  /** Starts rows again, after `pause` or `drain`. */
  resume(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(resumeUpdate), options);
  }

  /** Starts no more rows; the batch ends when those that run have ended. */
  drain(options: WaitOptions = {}): Promise<string> {
    return this.update(() => this.#workflow.executeUpdate(drainUpdate), options);
  }

  /**
   * Starts rows again that did not succeed, after all rows were started once; a batch that is over is started again,
   * with the rows and options it had. May be paid anew.
   */
  retryFailed(options: WaitOptions = {}): Promise<string> {
    return this.abortable(options, () => this.#retryFailed());
  }

  async #retryFailed(): Promise<string> {
    try {
      return await this.update(() => this.#workflow.executeUpdate(retryFailedUpdate), {});
    } catch (error) {
      if (!(error instanceof TaskOverError)) throw error;
      const which = { retryFailed: true, retryUnpaid: false };
      return await this.#startAgain(which, 'rows that did not succeed may be paid anew');
    }
  }

  /** Starts a batch that is over again, as it was, but only rows that were refused before anything was paid. */
  retryUnpaid(options: WaitOptions = {}): Promise<string> {
    return this.abortable(options, () => this.#retryUnpaid());
  }

  async #retryUnpaid(): Promise<string> {
    const { execution } = await this.describe();
    if (!isClosed(execution)) {
      const words =
        'It still runs: retry its unpaid rows once it is over (result(), or batch status --follow, waits for that). retryFailed (batch retry without --unpaid) is taken at once, and may pay other failed rows anew.';
      throw new DecisionRefusedError(this.workflowId, words);
    }
    const failures = await this.#knownFailures();
    if (failures !== null && !unpaidRefusals.some((type) => type in failures)) {
      const words =
        'None of its rows was refused before anything was paid. retryFailed (batch retry without --unpaid) runs all that did not succeed, and may pay them anew.';
      throw new DecisionRefusedError(this.workflowId, words);
    }
    const which = { retryFailed: false, retryUnpaid: true };
    return await this.#startAgain(which, 'only rows that were refused unpaid are tried again');
  }

  /** By type; null where the last run has no result, or too many types to name all. */
  async #knownFailures(): Promise<BatchResult['failures'] | null> {
    try {
      const { failures, onRecord } = await this.result();
      // `failures` may lack the types of rows that an earlier run had ended.
      return 'Other' in failures || (onRecord?.failed ?? 0) > 0 ? null : failures;
    } catch (error) {
      if (error instanceof LonghaulError) return null;
      throw error;
    }
  }

  /** On the task queue it had. A later run that was refused has other rows, so the run before it is started again. */
  async #startAgain(which: RowChoice, payment: string): Promise<string> {
    const { description } = await this.#latest();
    const { runId, taskQueue } = description;
    const input = await this.#inputOf(runId);
    if (input === null) {
      const words =
        'What it was started with cannot be read, so it cannot be started again by itself; run its row file again with the options it had, and retryFailed (--retry-failed).';
      throw new DecisionRefusedError(this.workflowId, words);
    }
    const { origin } = await startBatch({ ...this.#access, taskQueue }, { ...input, ...which });
    if (origin === 'attached') {
      const words =
        'It was started again in the meantime, with other options; ask once more when it is over (result(), or batch status --follow, waits for that).';
      throw new DecisionRefusedError(this.workflowId, words);
    }
    // A run that reached its budget would start no row again.
    const budgetWords =
      input.budget == null
        ? ''
        : ` It has the budget that it was started with, ${input.budget}, of which what was paid before is spent: raise it with "longhaul batch set-budget ${this.id} AMOUNT", or run the file again with --retry-failed and another --budget.`;
    return `it was over and is started again, with the rows and options it had; ${payment}.${budgetWords} Follow it with "longhaul batch status ${this.id} --follow"`;
  }

  /** How many rows run at the same time from now on: 1 to 500. Throws `InputInvalidError` before anything is sent. */
  async setConcurrency(rows: number, options: WaitOptions = {}): Promise<string> {
    if (!isConcurrency(rows)) throw wrongSetting('rows', rows, `a whole number from 1 to ${maxConcurrency}`);
    return await this.update(() => this.#workflow.executeUpdate(setConcurrencyUpdate, { args: [{ rows }] }), options);
  }

  /** From now on, such as `30EUR`; null: no limit. Throws `InputInvalidError` before anything is sent. */
  async setBudget(budget: string | null, options: WaitOptions = {}): Promise<string> {
    if (budget !== null && parseBudget(budget) === undefined) {
      throw wrongSetting('budget', budget, `${budgetRemedy(budget)}, or null for no limit`);
    }
    return await this.update(() => this.#workflow.executeUpdate(setBudgetUpdate, { args: [{ budget }] }), options);
  }

  #askProgress(runId?: string): Promise<BatchProgress | undefined> {
    const workflow = runId === undefined ? this.#workflow : this.#run(runId);
    return this.query(() => workflow.query(progressQuery), isBatchProgress);
  }
}

function wrongSetting(name: string, value: unknown, remedy: string): InputInvalidError {
  return new InputInvalidError([`${name} is ${showValue(value)}; give ${remedy}.`], 'arguments');
}
