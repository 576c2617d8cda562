import {
  type ClosedRow,
  type OpenRow,
  resultIn,
  type RowEnd,
  toRowEnd,
  type RowStart,
  type RowStarted,
  type TaskEnding,
  wasRefusedUnpaid,
} from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { parseTaskInput } from '../../contract/parse-task-input';
import type { TaskInput } from '../../contract/task-input';
import { rowsOfBatch } from '../../contract/search-attributes';
import { taskPlaceProblems } from '../../contract/archive-folder';
import { batchWorkflowId, rowWorkflowId } from '../../contract/workflow-ids';
import { TaskOverError, UnknownTaskError } from '../errors';
import { type KnownRun, knownRun, planRetry, readEnding } from '../existing-run';
import type { StartAttempt } from '../start-check';
import { didNothing, type ExistingRun, startOrAttach } from '../task/start-task';
import { askDescription, askTemporal, type TemporalAccess } from '../temporal-access';
import { pendingProblem } from '../task/pending-work';
import { listWorkflows } from '../workflow-info';

/** More rows than run at the same time, and than end within a few seconds. */
const maxClosedRows = 5_000;
/** Some 150 bytes of the query each. */
const batchesAQuery = 50;

interface PlannedCreate {
  readonly input: TaskInput;
  readonly createNumber: number;
}

/** The tasks of a batch's rows. Every method throws the errors of `askTemporal`, and may be repeated. */
export class TemporalRowTasks {
  readonly #access: TemporalAccess;

  constructor(access: TemporalAccess) {
    this.#access = access;
  }

  /** Starts or finds a row's task; `retry` and `mayReplace` allow another start of one that is over. */
  async start(row: RowStart): Promise<RowStarted> {
    const { plan, problems } = parseTaskInput(row.input);
    const all = problems ?? taskPlaceProblems(plan, rowWorkflowId(row.batchId, row.key));
    if (plan === undefined || all.length > 0) return refused(row, failureTypes.InputInvalid, all.join('\n'));
    const { batchId, key, originalKey, digest, startId } = row;
    const attempt: StartAttempt = {
      ...firstCreate(row),
      key,
      originalKey: originalKey !== null && originalKey !== key ? originalKey : undefined,
      workflowId: rowWorkflowId(batchId, key),
      plan,
      digest,
      reusePolicy: 'REJECT_DUPLICATE',
      startId,
    };
    const met = await startOrAttach(this.#access, attempt);
    const again = await this.#another(row, met);
    if (again === undefined) return await this.#toRowStarted(row, met.run);
    const second = await startOrAttach(this.#access, { ...attempt, ...again, reusePolicy: 'ALLOW_DUPLICATE' });
    return await this.#toRowStarted(row, second.run);
  }

  /** As `start` would find it; undefined when there is none. Starts nothing. */
  async find(row: RowStart): Promise<RowStarted | undefined> {
    try {
      const run = knownRun(await askDescription(this.#access, rowWorkflowId(row.batchId, row.key)));
      // A run with another input, which a start would have refused or replaced, says nothing about this row.
      return run.inputDigest === row.digest ? await this.#toRowStarted(row, run) : undefined;
    } catch (error) {
      if (error instanceof UnknownTaskError) return undefined;
      throw error;
    }
  }

  /** How a row's task ended; undefined while it runs: then `onOpen` gets how it is. */
  async poll(batchId: string, key: string, onOpen?: (row: OpenRow) => void): Promise<RowEnd | undefined> {
    const workflowId = rowWorkflowId(batchId, key);
    try {
      const described = await askDescription(this.#access, workflowId);
      const run = knownRun(described);
      if (run.isClosed) return await this.#readEnd(batchId, key, run);
      if (onOpen !== undefined) {
        const problem = await pendingProblem(this.#access.client, described.pendingActivities, described.workflowId);
        onOpen({ status: run.status ?? 'PreparingInputs', problem: problem?.code === 'HeldBack' ? null : problem });
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof UnknownTaskError)) throw error;
      const now = new Date().toISOString();
      const facts = { key, requestId: null, createNumber: 1, startedAt: now, endedAt: now };
      return toRowEnd(facts, { kind: 'cutOff', message: error.message });
    }
  }

  /**
   * For each batch, the rows of which a run closed after this moment, oldest first: seconds late, and any client that
   * may start workflows can claim to be one. `poll` tells whether a row's task is over, and how.
   */
  async closedRows(asked: readonly { readonly batchId: string; readonly after: string }[]): Promise<ClosedRow[][]> {
    const answers: ClosedRow[][] = [];
    for (let from = 0; from < asked.length; from += batchesAQuery) {
      answers.push(...(await this.#closedRows(asked.slice(from, from + batchesAQuery))));
    }
    return answers;
  }

  async #closedRows(asked: readonly { readonly batchId: string; readonly after: string }[]): Promise<ClosedRow[][]> {
    const batches = asked.map(({ batchId, after }) => {
      const query = `(${rowsOfBatch(batchId)} AND CloseTime > ${JSON.stringify(after)})`;
      return { prefix: rowWorkflowId(batchId, ''), afterMs: Date.parse(after), query, rows: [] as ClosedRow[] };
    });
    const query = [
      'WorkflowType = "task"',
      // A long watch continues as new.
      'ExecutionStatus NOT IN ("Running", "ContinuedAsNew")',
      `(${batches.map((batch) => batch.query).join(' OR ')})`,
    ].join(' AND ');
    const batchId = asked[0]?.batchId ?? '';
    return await askTemporal(this.#access, batchWorkflowId(batchId), async () => {
      let room = maxClosedRows;
      for await (const { workflowId, runId, closedAt } of listWorkflows(this.#access.client, query, 1_000)) {
        if (room <= 0) break;
        room -= 1;
        if (closedAt === null) continue;
        // A batch may wait twice for a moment, from different times.
        for (const { prefix, afterMs, rows } of batches) {
          if (!workflowId.startsWith(prefix) || closedAt.getTime() < afterMs) continue;
          rows.push({ key: workflowId.slice(prefix.length), runId, closedAt: closedAt.toISOString() });
        }
      }
      return batches.map(({ rows }) => rows.reverse());
    });
  }

  /** Does nothing if it is over or gone. */
  async stop(batchId: string, key: string): Promise<void> {
    await this.#cancel(rowWorkflowId(batchId, key));
  }

  /** Does nothing if it is over or gone. */
  async cancelBatch(batchId: string): Promise<void> {
    await this.#cancel(batchWorkflowId(batchId));
  }

  async #cancel(workflowId: string): Promise<void> {
    try {
      await askTemporal(this.#access, workflowId, () => this.#access.client.workflow.getHandle(workflowId).cancel());
    } catch (error) {
      if (!(error instanceof TaskOverError) && !(error instanceof UnknownTaskError)) throw error;
    }
  }

  /** The create that may follow the existing run; undefined when that run stands. */
  async #another(row: RowStart, { origin, run }: ExistingRun): Promise<PlannedCreate | undefined> {
    // A run that an earlier attempt of this start made is not a previous run.
    if (origin === 'started' || !run.isClosed) return undefined;
    // A person's `recreate` raises the number without the memo; the record has it from the task itself.
    const createNumber = Math.max(run.createNumber, row.previous?.createNumber ?? 1);
    if (await didNothing(this.#access, rowWorkflowId(row.batchId, row.key), run))
      return numbered(row.input, createNumber);
    if (run.inputDigest !== row.digest) return await this.#replacement(row, run, createNumber);
    if (row.retry === 'none' && !row.mayReplace) return undefined;
    const ending = await readEnding(this.#access, rowWorkflowId(row.batchId, row.key), run);
    // The record may be of an earlier run: a terminated batch did not record its last ends.
    if (row.retry === 'unpaid' && !isUnpaid(run, createNumber, ending)) return undefined;
    if (hasOtherInput(ending)) return row.mayReplace ? numbered(row.input, createNumber + 1) : undefined;
    if (row.retry === 'none') return undefined;
    const retry = planRetry(row.input, { createNumber, requestId: run.requestId }, ending);
    return retry.action === 'start' ? retry : undefined;
  }

  /** Paid anew if allowed; or the refused first create again, which its create record stops if it was sent. */
  async #replacement(row: RowStart, run: KnownRun, createNumber: number): Promise<PlannedCreate | undefined> {
    if (run.inputDigest !== null && run.requestId === null && createNumber === 1) {
      const ending = await readEnding(this.#access, rowWorkflowId(row.batchId, row.key), run);
      if (isUnpaid(run, createNumber, ending)) return numbered(row.input, createNumber);
    }
    return row.mayReplace ? numbered(row.input, createNumber + 1) : undefined;
  }

  async #toRowStarted(row: RowStart, run: KnownRun): Promise<RowStarted> {
    const { batchId, key, digest } = row;
    const workflowId = rowWorkflowId(batchId, key);
    if (run.inputDigest !== digest) return changed(row, workflowId, run);
    if (!run.isClosed) return { state: 'running' };
    return { state: 'ended', end: await this.#readEnd(batchId, key, run), digest };
  }

  async #readEnd(batchId: string, key: string, run: KnownRun): Promise<RowEnd> {
    const workflowId = rowWorkflowId(batchId, key);
    const ending = await readEnding(this.#access, workflowId, run);
    const { requestId, createNumber, startedAt, endedAt } = run;
    return toRowEnd({ key, requestId, createNumber, startedAt, endedAt: endedAt ?? startedAt }, ending);
  }
}

/** Temporal has no run of the key: only the record knows the previous one. */
function firstCreate({ input, digest, previous, mayReplace }: RowStart): PlannedCreate {
  if (previous === null) return { input, createNumber: 1 };
  if (previous.digest !== digest && wasRefusedUnpaid(previous)) return numbered(input, previous.createNumber);
  const { status, failure } = previous;
  const ending: TaskEnding =
    status === 'Canceled'
      ? { kind: 'canceled' }
      : { kind: 'failure', type: failure?.type ?? '', message: failure?.message ?? '', details: null };
  if (previous.digest !== digest || (mayReplace && hasOtherInput(ending))) {
    return numbered(input, previous.createNumber + 1);
  }
  const retry = planRetry(input, previous, ending);
  return retry.action === 'start' ? retry : numbered(input, previous.createNumber);
}

function isUnpaid(run: KnownRun, createNumber: number, ending: TaskEnding): boolean {
  const requestId = run.requestId ?? resultIn(ending)?.requestId ?? null;
  return wasRefusedUnpaid({ createNumber, requestId, failure: ending.kind === 'failure' ? ending : null });
}

/** The create record of this number has another input: the next create is paid, so it must be allowed. */
function hasOtherInput(ending: TaskEnding): boolean {
  return ending.kind === 'failure' && ending.type === failureTypes.InputChanged;
}

function numbered(input: RowStart['input'], createNumber: number): PlannedCreate {
  return { input: { ...input, createNumber }, createNumber };
}

function changed(row: RowStart, workflowId: string, run: KnownRun): RowStarted {
  const { inputDigest, isClosed: isOver, createNumber } = run;
  const what =
    inputDigest === null
      ? `The workflow ${workflowId} was started without Longhaul’s client, so its input cannot be compared.`
      : `The task ${workflowId} ${isOver ? 'was run' : 'runs'} with another input.`;
  const remedy = isOver ? '' : 'once it is over, ';
  return refused(
    row,
    failureTypes.InputChanged,
    `${what} Give the row another key, or ${remedy}run the batch with --allow-changed: it is then paid anew.`,
    { digest: inputDigest ?? '', createNumber },
  );
}

/** The end of a row that was not started. */
function refused(
  { key, digest, previous }: RowStart,
  type: string,
  message: string,
  found: { readonly digest: string; readonly createNumber: number } = {
    digest,
    createNumber: previous?.createNumber ?? 1,
  },
): RowStarted {
  const now = new Date().toISOString();
  const facts = { key, requestId: null, createNumber: found.createNumber, startedAt: now, endedAt: now };
  return {
    state: 'ended',
    end: toRowEnd(facts, { kind: 'failure', type, message, details: null }),
    digest: found.digest,
  };
}
