import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { HeldUpRows } from '../../contract/batch/batch-activities';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { rowWorkflowId } from '../../contract/workflow-ids';
import { countTasks, listTasks } from '../task/list-tasks';
import { readHeldUp, type RetryingActivity } from '../task/pending-work';
import { findDescription, type TemporalAccess } from '../temporal-access';
import type { StuckWorkflow } from '../workflow-info';

/** A batch as it stands. */
export interface BatchView extends RowCounts {
  readonly workflowId: string;
  readonly batchId: string;
  /** Temporal's state of the workflow. */
  readonly execution: WorkflowExecutionStatusName;
  readonly isOver: boolean;
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601; null while it runs. */
  readonly endedAt: string | null;
  /** The row file as it was named; null: not known. */
  readonly source: string | null;
  /** Where a worker is missing when `progress` is null. */
  readonly taskQueue: string;
  /** Null when no worker answers. */
  readonly progress: BatchProgress | null;
  /** Why it makes no progress; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** Its workflow tasks time out: the workers have more to replay than they can. */
  readonly isOverloaded: boolean;
  /** Steps of the batch that failed and are tried again. */
  readonly retrying: readonly RetryingActivity[];
  /** Its page; null when the Web UI's address is not configured. */
  readonly url: string | null;
  /** Of the `longhaul batch run` that started it, absolute; null when that is not known. */
  readonly files: readonly string[] | null;
  /** A later run that was refused before it started a row: this view is of the run before it. Null: none. */
  readonly refused: { readonly runId: string; readonly at: string | null; readonly reason: string } | null;
  /** `RowsChanged`, say; null when the run that is shown did not fail. */
  readonly failure: { readonly type: string; readonly message: string } | null;
}

/** Rows by Temporal's visibility, seconds old at most. */
export interface RowCounts {
  /** Rows whose tasks wait for a person's decision. */
  readonly needPerson: number;
  /** Rows whose tasks upload their input files. */
  readonly uploading: number;
  /** Rows that wait for their create, and why one of them does; null: nothing is known to be wrong. */
  readonly createsHeldUp: HeldUpRows | null;
}

/** Servers limit such queries per second for a whole namespace. */
const countEveryMs = 2_000;
/** What holds up one create of an account holds up all of them. */
const sampledCreates = 3;

/** At most once every few seconds. */
export class RowCounter {
  readonly #access: TemporalAccess;
  readonly #batch: string;
  #last: { readonly counts: RowCounts; readonly atMs: number } | undefined;

  constructor(access: TemporalAccess, batch: string) {
    this.#access = access;
    this.#batch = batch;
  }

  async read(): Promise<RowCounts> {
    if (this.#last !== undefined && Date.now() - this.#last.atMs < countEveryMs) return this.#last.counts;
    const batch = this.#batch;
    const counts = {
      needPerson: await countTasks(this.#access, { batch, needsPerson: true }),
      uploading: await countTasks(this.#access, { batch, status: 'PreparingInputs', running: true }),
      createsHeldUp: await this.#sampleCreates(),
    };
    this.#last = { counts, atMs: Date.now() };
    return counts;
  }

  /** The batch's workflow polls its rows once a minute: too late to stop what refuses all of them. */
  async #sampleCreates(): Promise<HeldUpRows | null> {
    const [access, batch] = [this.#access, this.#batch];
    const creating = { batch, status: 'Creating', running: true } as const;
    for await (const { workflowId } of listTasks(access, { ...creating, limit: sampledCreates })) {
      const described = await findDescription(access, workflowId);
      const heldUp = described && (await readHeldUp(access.client, described.pendingActivities));
      if (heldUp === undefined) continue;
      const key = workflowId.slice(rowWorkflowId(batch, '').length);
      return { ...heldUp, key, rows: Math.max(1, await countTasks(access, creating)) };
    }
    return null;
  }
}
