import { Readable } from 'node:stream';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { StartRowsInput, StartRowsResult } from '../../contract/batch/batch-activities';
import {
  toRowEnd,
  type RowRecord,
  type RowStart,
  type RowStarted,
  type RunningRow,
} from '../../contract/batch/batch-rows';
import { budgetProblem, PriceCheck } from '../../money/batch-budget';
import { failureTypes } from '../../contract/failure-types';
import type { NewTaskInput } from '../../contract/task-input';
import { parseOutputNameTemplate } from '../../core/output-name-template';
import { pickKeys, pickPlace } from '../../core/batch/row-place';
import { showValue } from '../../core/text';
import {
  allowedRetry,
  chooseRows,
  type ChosenRow,
  cursorAfter,
  maxEndBytes,
  mayReplace,
  type PreparedRow,
} from '../../rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { dailyProblem, holdRows } from './held-rows';
import { rowsAtOnce } from './running-rows';
import { BatchRecord } from './batch-record';
import { BatchRows } from './prepared-rows';

/**
 * Starts the next rows, each as a task. Their content goes straight to Temporal and into no other history. A second
 * attempt finds and reports the tasks of the first; with `onlyFound` it does no more than that.
 */
export async function startRows(dependencies: BatchDependencies, input: StartRowsInput): Promise<StartRowsResult> {
  const { id, rows: reference, cursor } = input;
  const progress = { batch: id, page: cursor.page, pages: reference.pages, rows: 0 };
  return await withHeartbeat(
    () => progress,
    async () => {
      const { dailyBudgets, sources } = dependencies;
      // A batch that is being stopped must end: it waits for no rows.
      const isEnding = input.onlyFound === true;
      const batchRows = await (isEnding ? BatchRows.open(reference, sources) : BatchRows.reopen(reference, sources));
      const rows = await batchRows.page(cursor.page);
      const records = await new BatchRecord(dependencies.archive, id).page(reference.digest, cursor.page);
      const choice = chooseRows(rows, records, input);
      const { currentAttemptScheduledTimestampMs } = activityInfo();
      requirePrices(choice.chosen, input, dependencies, currentAttemptScheduledTimestampMs);
      const starter = new RowStarter(dependencies, input);
      let bytes = jsonBytes(choice.left);
      const asked = isEnding ? undefined : dailyBudgets;
      const held = await holdRows(asked, id, choice.chosen, currentAttemptScheduledTimestampMs);
      const known = await starter.findFirst(choice.chosen.slice(held.count));
      const rowsAhead = held.count + known.size;
      // Starts at least one, so that each call gets further.
      const fitting = function* (): Generator<ChosenRow, void, undefined> {
        for (const [index, one] of choice.chosen.slice(0, rowsAhead).entries()) {
          if (index > 0 && bytes > maxEndBytes) return;
          yield one;
        }
      };
      const outcomes = await Readable.from(fitting())
        .map(async (one: ChosenRow) => {
          const rowStarted = known.get(one) ?? (await (isEnding ? starter.find(one) : starter.start(one)));
          bytes += jsonBytes(rowStarted === undefined ? [] : endedRecord(rowStarted));
          progress.rows += 1;
          return [rowStarted];
        }, rowsAtOnce)
        .toArray();
      const isCut = outcomes.length < choice.chosen.length;
      const { left, onRecord, taken } = isCut
        ? chooseRows(rows, records, { ...input, limit: outcomes.length })
        : choice;
      const started = outcomes.flatMap(([one]: [StartedRow | undefined]) => one ?? []);
      const ended = started.flatMap(endedRecord);
      held.free(new Set(ended.map(({ key }) => key)));
      const isHeld = outcomes.length === rowsAhead && rowsAhead < choice.chosen.length;
      return {
        running: started.flatMap(({ row, outcome }) => (outcome.state === 'running' ? [row] : [])),
        ended: [...left, ...ended],
        left: left.length,
        onRecord,
        next: cursorAfter(cursor.page, taken, rows.length, reference.pages),
        dailyBudget: isHeld ? held.refusal : undefined,
      };
    },
  );
}

/** Refuses rows without a usable price; retryable, as prices may differ from those of `openBatch`'s worker. */
function requirePrices(
  chosen: readonly ChosenRow[],
  { budget, onlyFound }: StartRowsInput,
  { prices, dailyBudgets }: BatchDependencies,
  nowMs: number,
): void {
  if (onlyFound === true) return;
  const check = new PriceCheck(prices, nowMs);
  for (const { row } of chosen) check.add(row);
  const ofBatch = budget === undefined ? undefined : budgetProblem(budget, check.result());
  const [problem = ofBatch] = chosen.flatMap(({ row }) => dailyProblem(dailyBudgets, row) ?? []);
  if (problem !== undefined) throw ApplicationFailure.retryable(problem, failureTypes.BudgetUnusable);
}

function jsonBytes(records: readonly RowRecord[]): number {
  return records.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(records));
}

interface StartedRow {
  readonly row: RunningRow;
  readonly outcome: RowStarted;
}

/** Recorded with the digest that the row was run with. */
function endedRecord({ row, outcome }: StartedRow): RowRecord[] {
  return outcome.state === 'ended' ? [{ ...outcome.end, ...row, digest: outcome.digest }] : [];
}

class RowStarter {
  readonly #dependencies: BatchDependencies;
  readonly #input: StartRowsInput;
  readonly #startId: string;
  readonly #columns: readonly string[];
  readonly #signal = cancellationSignal();

  constructor(dependencies: BatchDependencies, input: StartRowsInput) {
    this.#dependencies = dependencies;
    this.#input = input;
    const { workflowExecution, activityId } = activityInfo();
    this.#startId = `${workflowExecution?.runId ?? ''}/${activityId}`;
    const { names } = input.defaults;
    this.#columns = names === null ? [] : (parseOutputNameTemplate(names).template?.columns ?? []);
  }

  async start(chosen: ChosenRow): Promise<StartedRow> {
    this.#signal.throwIfAborted();
    const row = this.#running(chosen);
    const missing = this.#columns.find((name) => !Object.hasOwn(chosen.row.columns, name));
    if (missing !== undefined) return { row, outcome: unnamed(chosen.row, missing) };
    return { row, outcome: await this.#dependencies.rowTasks.start(this.#rowStart(chosen)) };
  }

  /** Undefined when the row has no task. */
  async find(chosen: ChosenRow): Promise<StartedRow | undefined> {
    this.#signal.throwIfAborted();
    const outcome = await this.#dependencies.rowTasks.find(this.#rowStart(chosen));
    return outcome && { row: this.#running(chosen), outcome };
  }

  /** Rows that may not be started, up to the first without a task: an earlier attempt may have started them. */
  async findFirst(refused: readonly ChosenRow[]): Promise<ReadonlyMap<ChosenRow, StartedRow>> {
    const known = new Map<ChosenRow, StartedRow>();
    for (const one of refused) {
      const found = await this.find(one);
      if (found === undefined) break;
      known.set(one, found);
    }
    return known;
  }

  #running({ row: { index, digest, ...row } }: ChosenRow): RunningRow {
    return { ...pickKeys(row), index, ...pickPlace(row), page: this.#input.cursor.page, digest };
  }

  #rowStart({ row, previous }: ChosenRow): RowStart {
    const { key, originalKey, digest } = row;
    return {
      batchId: this.#input.id,
      key,
      originalKey,
      digest,
      previous,
      retry: allowedRetry(this.#input),
      input: this.#taskInput(row),
      startId: this.#startId,
      mayReplace: mayReplace(this.#input),
    };
  }

  #taskInput(row: PreparedRow): NewTaskInput {
    const { id, defaults } = this.#input;
    const { archive, watch, names } = defaults;
    const columns = Object.fromEntries(this.#columns.map((name) => [name, row.columns[name] ?? '']));
    const batch = { id, key: row.key, names: names === null ? undefined : { template: names, columns } };
    return { archive, watch, ...row.input, batch };
  }
}

/** Without the column its outputs could not be named, which would show only after the task was paid. */
function unnamed({ key, digest }: PreparedRow, column: string): RowStarted {
  const now = new Date(activityInfo().currentAttemptScheduledTimestampMs).toISOString();
  const message = `The row has no column ${showValue(column)}, which the names of its archived files ask for.`;
  const facts = { key, requestId: null, createNumber: 1, uploads: null, startedAt: now, endedAt: now };
  const end = toRowEnd(facts, { kind: 'failure', type: failureTypes.InputInvalid, message, details: null });
  return { state: 'ended', end, digest };
}
