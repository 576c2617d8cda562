import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { problemOfRows } from '../../contract/batch/batch-activities';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { listWaiting } from '../../contract/batch/batch-repairs';
import type { Problem } from '../../contract/problem';
import { isCutOff, taskCommands } from '../../contract/task-advice';
import { rowWorkflowId } from '../../contract/workflow-ids';
import { formatCount } from '../../core/text';
import { silenceProblem } from '../errors';
import { countTasks, listTasks } from '../task/list-tasks';
import { pendingProblem } from '../task/pending-work';
import { cutOffWords } from '../task/task-view';
import { findDescription, type TemporalAccess } from '../temporal-access';
import { type DescribedWorkflow, isClosed } from '../workflow-info';

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
  /** What keeps it or its rows from going on; also of one that was cut off. One that failed has its `failure`. */
  readonly problem: Problem | null;
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
}

interface KnownRows extends RowCounts {
  /** Of rows that wait for their create; null: nothing is known to be wrong. */
  readonly creates: Problem | null;
}

/** Servers limit such queries per second for a whole namespace. */
const countEveryMs = 2_000;
/** What holds up one create of an account holds up all of them. */
const sampledCreates = 3;

/** At most once every few seconds. */
export class RowCounter {
  readonly #access: TemporalAccess;
  readonly #batch: string;
  #last: { readonly rows: KnownRows; readonly atMs: number } | undefined;

  constructor(access: TemporalAccess, batch: string) {
    this.#access = access;
    this.#batch = batch;
  }

  async read(): Promise<KnownRows> {
    if (this.#last !== undefined && Date.now() - this.#last.atMs < countEveryMs) return this.#last.rows;
    const batch = this.#batch;
    const rows = {
      needPerson: await countTasks(this.#access, { batch, problem: 'NeedsPerson' }),
      uploading: await countTasks(this.#access, { batch, status: 'PreparingInputs', running: true }),
      creates: await this.#sampleCreates(),
    };
    this.#last = { rows, atMs: Date.now() };
    return rows;
  }

  /** The batch's workflow polls its rows once a minute: too late to stop what refuses all of them. */
  async #sampleCreates(): Promise<Problem | null> {
    const [access, batch] = [this.#access, this.#batch];
    const creating = { batch, status: 'Creating', running: true } as const;
    for await (const { workflowId } of listTasks(access, { ...creating, limit: sampledCreates })) {
      const described = await findDescription(access, workflowId);
      const problem = described && (await pendingProblem(access.client, described.pendingActivities, workflowId));
      if (problem == null || problem.code === 'HeldBack') continue;
      const key = workflowId.slice(rowWorkflowId(batch, '').length);
      return problemOfRows(batch, { problem, key, rows: Math.max(1, await countTasks(access, creating)) });
    }
    return null;
  }
}

/** One of the batch itself before one of its rows, and one that Temporal has now before that of the last poll. */
export async function batchProblem(
  { client }: Pick<TemporalAccess, 'client'>,
  description: DescribedWorkflow,
  { batchId, progress, needPerson, creates }: KnownRows & Pick<BatchView, 'batchId' | 'progress'>,
): Promise<Problem | null> {
  const { workflowId, execution, closedAt, problem, pendingActivities } = description;
  if (isCutOff(execution)) {
    return {
      code: 'CutOff',
      message: `${cutOffWords(execution)}: rows that ran go on, and are paid.`,
      since: closedAt?.toISOString() ?? null,
      remedy: `${taskCommands.retryBatch(batchId)} takes it up again: it follows rows that run, starts the others, and creates those that failed anew. To end them instead: longhaul list --batch ${batchId}, then longhaul stop ${workflowId}:KEY of each`,
    };
  }
  if (isClosed(execution)) return null;
  const own = problem ?? (progress === null ? silenceProblem(description) : null);
  const rows =
    own ?? (await pendingProblem(client, pendingActivities, workflowId)) ?? creates ?? progress?.problem ?? null;
  if (rows !== null || needPerson === 0) return rows;
  return {
    code: 'NeedsPerson',
    message: `Rows that wait for a decision: ${formatCount(needPerson)}.`,
    since: null,
    remedy: listWaiting(batchId),
  };
}
