import { WorkflowFailedError, type WorkflowExecutionStatusName, type WorkflowHandle } from '@temporalio/client';
import {
  type BatchProgress,
  type BatchResult,
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  setConcurrencyUpdate,
} from '../contract/batch-messages';
import type { DecisionTaken } from '../contract/task-messages';
import { batchWorkflowId } from '../contract/workflow-ids';
import { answerOf, decide } from './ask-worker';
import { stoppedResultOrThrow } from './batch-ending';
import { ReplyInvalidError, TaskOverError, UnknownTaskError } from './errors';
import { isClosed } from './former-run';
import { type RetryingActivity, retryingActivities } from './pending-work';
import { isBatchProgress, isBatchResult } from './replies';
import { RowCounter, type RowCounts } from './row-counts';
import { formerRunIdOf, isRefused, type StartedBatch } from './start-batch';
import type { StuckWorkflow } from './stuck-workflow';
import type { WaitOptions } from './task-handle';
import { abortable, askTemporal, type TemporalAccess, translating } from './temporal-access';
import { type DescribedWorkflow, describeWorkflow } from './workflow-info';
import { workflowUrl } from './workflow-url';

/** A batch as it stands. */
export interface BatchView extends RowCounts {
  readonly workflowId: string;
  readonly batchId: string;
  /** The workflow's state, in Temporal's words. */
  readonly execution: WorkflowExecutionStatusName;
  readonly isOver: boolean;
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601; null while it runs. */
  readonly endedAt: string | null;
  /** The row file as it was named; null when it is not known. */
  readonly source: string | null;
  /** Null when no worker answers. */
  readonly progress: BatchProgress | null;
  /** Why it makes no progress and what to do; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** Steps of the batch that failed and are tried again. */
  readonly retrying: readonly RetryingActivity[];
  /** Its page in the Web UI; null when the address of the Web UI is not configured. */
  readonly url: string | null;
  /** A later run that was refused before it started a row, so that this one is still the one to tell of; null: none. */
  readonly refused: { readonly runId: string; readonly at: string | null; readonly reason: string } | null;
}

type BatchWorkflow = () => Promise<BatchResult>;

/** One batch. Made by `Longhaul`; holds no connection of its own and nothing to close. */
export class BatchHandle {
  readonly id: string;
  readonly workflowId: string;
  /** What `startBatch` led to; null for a handle that `batch` made. */
  readonly started: Pick<StartedBatch, 'origin' | 'hasTheseRows'> | null;
  private readonly access: TemporalAccess;
  private readonly workflow: WorkflowHandle<BatchWorkflow>;
  private readonly counts: RowCounter;

  /** @internal */
  constructor(access: TemporalAccess, id: string, started: BatchHandle['started'] = null) {
    this.access = access;
    this.id = id;
    this.workflowId = batchWorkflowId(id);
    this.started = started;
    this.workflow = access.client.workflow.getHandle<BatchWorkflow>(this.workflowId);
    this.counts = new RowCounter(access, id);
  }

  /** Its page in Temporal's Web UI; null when the address of the Web UI is not configured. */
  get url(): string | null {
    return workflowUrl(this.access, this.workflowId);
  }

  /** The batch as it stands; also when no worker answers, and after its end. */
  status(options: WaitOptions = {}): Promise<BatchView> {
    return abortable(this.access, options.signal, () => this.readStatus());
  }

  private async readStatus(): Promise<BatchView> {
    const { description, refused } = await this.latest();
    const { execution, startedAt, closedAt, memo, stuck } = description;
    const progress = (await this.askProgress(refused === null ? undefined : description.runId)) ?? null;
    const source = memo.get('source');
    return {
      workflowId: this.workflowId,
      batchId: this.id,
      execution,
      isOver: isClosed(execution),
      // That of the first run: a long batch hands over from run to run.
      startedAt: progress?.startedAt ?? startedAt.toISOString(),
      endedAt: closedAt?.toISOString() ?? null,
      source: typeof source === 'string' ? source : null,
      progress,
      stuck,
      retrying: retryingActivities(description.pendingActivities),
      ...(await this.counts.read()),
      url: this.url,
      refused: refused && {
        runId: refused.runId,
        at: refused.closedAt?.toISOString() ?? null,
        reason: await this.reasonOf(refused.runId),
      },
    };
  }

  /**
   * The run to tell of: the latest, unless that was refused before it started a row and an earlier one is there. Who has
   * started a run is told of that one.
   */
  private async latest(): Promise<{
    readonly description: DescribedWorkflow;
    readonly refused: DescribedWorkflow | null;
  }> {
    const latest = await this.describe();
    const formerRunId = this.started === null && isRefused(latest) ? formerRunIdOf(latest) : undefined;
    if (formerRunId === undefined) return { description: latest, refused: null };
    try {
      return { description: await this.describe(formerRunId), refused: latest };
    } catch (error) {
      if (!(error instanceof UnknownTaskError)) throw error;
      // Temporal has forgotten it.
      return { description: latest, refused: null };
    }
  }

  private async reasonOf(runId: string): Promise<string> {
    try {
      await this.ask(() => this.run(runId).result());
    } catch (error) {
      if (error instanceof WorkflowFailedError) return error.cause?.message ?? error.message;
      throw error;
    }
    return '';
  }

  /** One run of it, and not those after it. */
  private run(runId: string): WorkflowHandle<BatchWorkflow> {
    return this.access.client.workflow.getHandle<BatchWorkflow>(this.workflowId, runId, { followRuns: false });
  }

  /**
   * Waits for the end. Resolves with the figures also when rows failed, and when the batch was stopped; throws
   * `TaskFailedError` when the batch itself could not go on (`RowsChanged`, `BatchFailed`, …). Ending the wait does
   * nothing to the batch.
   */
  result(options: WaitOptions = {}): Promise<BatchResult> {
    return abortable(this.access, options.signal, () => this.readResult());
  }

  private async readResult(): Promise<BatchResult> {
    const { description, refused } = await this.latest();
    const former = refused === null ? undefined : description.runId;
    const workflow = former === undefined ? this.workflow : this.run(former);
    try {
      const result: unknown = await translating(this.access, this.workflowId, () => workflow.result());
      if (isBatchResult(result)) return result;
      throw new ReplyInvalidError(this.workflowId, 'The result');
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return stoppedResultOrThrow(error, this.workflowId, () => this.askProgress(former));
    }
  }

  /** Starts no more rows until `resume`; those that run go on. Resolves with what happens now, in words. */
  pause(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(pauseUpdate));
  }

  /** Starts rows again, after `pause` or `drain`. */
  resume(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(resumeUpdate));
  }

  /** Starts no more rows; the batch ends when those that run have ended. */
  drain(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(drainUpdate));
  }

  /** Starts rows again that did not succeed, once every row had its turn. May be paid anew. */
  retryFailed(): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(retryFailedUpdate));
  }

  /** How many rows run at the same time from now on: 1 to 500. */
  setConcurrency(rows: number): Promise<string> {
    return this.decide(() => this.workflow.executeUpdate(setConcurrencyUpdate, { args: [{ rows }] }));
  }

  /** Stops every row that runs and starts no more: Temporal's cancellation of the workflow. `result` waits for it. */
  async stop(): Promise<void> {
    // Temporal takes a cancellation of a workflow that is over without a word.
    const { execution } = await this.describe();
    if (isClosed(execution)) throw new TaskOverError(this.workflowId);
    await this.ask(() => this.workflow.cancel());
  }

  private askProgress(runId?: string): Promise<BatchProgress | undefined> {
    const workflow = runId === undefined ? this.workflow : this.run(runId);
    return answerOf(this.access, () => workflow.query(progressQuery), isBatchProgress);
  }

  private decide(update: () => Promise<DecisionTaken>): Promise<string> {
    return decide(this.access, this.workflowId, update);
  }

  private describe(runId?: string): Promise<DescribedWorkflow> {
    return this.ask(() => describeWorkflow(this.access.client, this.workflowId, runId));
  }

  private ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    return askTemporal(this.access, this.workflowId, ask);
  }
}
