import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type {
  BatchActivities,
  PollRowsResult,
  ReportBatchResult,
  StartRowsInput,
} from '../../src/contract/batch-activities';
import { maxEndBytes } from '../../src/activities/batch/running-rows';
import type { BatchInput } from '../../src/contract/batch-input';
import { rowEndedSignal } from '../../src/contract/batch-messages';
import { noUploads, type RowEnd, type RowRecord, type RunningRow } from '../../src/contract/batch-rows';
import { batchWorkflowId } from '../../src/contract/workflow-ids';

/** Signals that are on their way at the same time. */
const atATime = 20;

const report: ReportBatchResult = {
  jsonl: 'results.jsonl',
  csv: 'results.csv',
  success: 0,
  failed: 0,
  canceled: 0,
  notStarted: 0,
  outputs: 0,
  outputBytes: 0,
  uploads: noUploads,
  failures: {},
  slowest: [],
  unsuccessful: [],
};

/** Durations for tests: what takes a minute in production takes milliseconds here. */
export const fastBatchTuning = { refillMs: 20, pollEveryMs: 60_000, recordRows: 10, retryMaxMs: 50 };

/** A batch under an id of its own, in pages of ten rows. */
export function fakeBatchOf(client: Client, rows: number, more: Partial<BatchInput> = {}): FakeBatch {
  return new FakeBatch(client, `b-${randomUUID()}`, rows, { tuning: fastBatchTuning, ...more }, 10);
}

/** How a row ended, in a test's few words. */
export function rowEnd(key: string, more: Partial<RowEnd> = {}): RowEnd {
  const iso = new Date().toISOString();
  return {
    key,
    status: 'Success',
    requestId: `request-${key}`,
    createNumber: 1,
    failure: null,
    outputs: [],
    outputCount: 0,
    outputBytes: 0,
    manifest: null,
    uploads: noUploads,
    startedAt: iso,
    endedAt: iso,
    ...more,
  };
}

/** Rows by hand: their tasks run until a test ends them, or end by themselves as soon as they are started. */
export class FakeBatch {
  readonly id: string;
  readonly input: BatchInput;
  /** Keys in the order in which they were started. */
  readonly started: string[] = [];
  readonly recorded: RowRecord[] = [];
  readonly stopped: string[] = [];
  /** What a poll tells of the rows that run; absent: nothing, as an older worker does. */
  states: PollRowsResult['states'];
  /** Rows whose tasks run. */
  readonly running = new Map<string, RunningRow>();
  /** The most that ever ran at the same time. */
  peak = 0;
  /** Ends a row as soon as it is started; `undefined` lets it run. */
  endsAtOnce: (row: RunningRow) => RowEnd | undefined = () => undefined;
  /** Ends that no signal told of. */
  readonly silent = new Map<string, RowEnd>();
  /** How rows ended that a signal told of. */
  readonly #ends = new Map<string, RowEnd>();
  /** How often the batch had itself canceled. */
  canceled = 0;
  /** Whether rows that are asked to stop run on. */
  areStopsIgnored = false;
  /** Times that rows were looked at, and rows. */
  looks = { calls: 0, rows: 0 };
  /** Rows that differ from the record. */
  changed = 0;
  /** Steps that fail, and are tried again, until they are taken out of here. */
  readonly failing = new Set<keyof BatchActivities>();
  /** So many rows are started by a `startRows` that fails. */
  startedByFailure = 0;
  /** Attempts of each step that failed. */
  readonly failures = new Map<keyof BatchActivities, number>();
  readonly #client: Client;
  readonly #pageRows: number;

  constructor(client: Client, id: string, rows: number, more: Partial<BatchInput> = {}, pageRows = 100) {
    this.#client = client;
    this.id = id;
    this.#pageRows = pageRows;
    const pages = Math.ceil(rows / pageRows);
    this.input = { id, rows: { location: 'rows', digest: 'ab', rows, pages }, ...more };
  }

  readonly activities: BatchActivities = {
    openBatch: async () => {
      await this.#mayFail('openBatch');
      return { changed: this.changed, changedRows: [{ line: 3, key: 'row-2' }] };
    },
    startRows: async (input) => {
      const { rows, next } = this.#nextRows(input);
      const onRecord = { success: 0, failed: 0, canceled: 0 };
      if (input.onlyFound === true) {
        return { running: rows.filter(({ key }) => this.running.has(key)), ended: [], onRecord, next };
      }
      if (this.failing.has('startRows')) this.#start(rows.slice(0, this.startedByFailure));
      await this.#mayFail('startRows');
      this.#start(rows);
      void this.#endAtOnce(rows);
      return { running: rows, ended: [], onRecord, next };
    },
    pollRows: async ({ keys }) => {
      await this.#mayFail('pollRows');
      return { ...this.#look(keys), ...(this.states !== undefined && { states: this.states }) };
    },
    stopRows: async ({ keys }) => {
      this.stopped.push(...keys);
      if (this.areStopsIgnored) return;
      for (const key of keys) await this.end(rowEnd(key, { status: 'Canceled' }));
    },
    cancelBatch: async ({ id }) => {
      this.canceled += 1;
      await this.#client.workflow.getHandle(batchWorkflowId(id)).cancel();
    },
    recordRows: async ({ records }) => {
      await this.#mayFail('recordRows');
      this.recorded.push(...records);
    },
    reportBatch: async () => {
      await this.#mayFail('reportBatch');
      return { ...report, success: this.recorded.length };
    },
  };

  /** Ends a row, and tells the batch of it as its task would. */
  async end(end: RowEnd): Promise<void> {
    if (this.running.delete(end.key)) this.#ends.set(end.key, end);
    await this.#client.workflow.getHandle(batchWorkflowId(this.id)).signal(rowEndedSignal, end);
  }

  /** As the real one: no more than fits into one result. */
  #look(keys: readonly string[]): PollRowsResult {
    const ended: RowEnd[] = [];
    let [looked, bytes] = [0, 0];
    for (const key of keys) {
      if (bytes > maxEndBytes) break;
      looked += 1;
      const end = this.silent.get(key) ?? this.#ends.get(key);
      if (end === undefined) continue;
      ended.push(end);
      bytes += JSON.stringify(end).length;
    }
    this.looks = { calls: this.looks.calls + 1, rows: this.looks.rows + looked };
    return { ended, polled: looked };
  }

  #start(rows: readonly RunningRow[]): void {
    for (const row of rows.filter(({ key }) => !this.running.has(key))) {
      this.started.push(row.key);
      this.#ends.delete(row.key);
      this.running.set(row.key, row);
    }
    this.peak = Math.max(this.peak, this.running.size);
  }

  #mayFail(step: keyof BatchActivities): Promise<void> {
    if (!this.failing.has(step)) return Promise.resolve();
    this.failures.set(step, (this.failures.get(step) ?? 0) + 1);
    return Promise.reject(new Error('no space left on device'));
  }

  async #endAtOnce(rows: readonly RunningRow[]): Promise<void> {
    const ends = rows.flatMap((row) => this.endsAtOnce(row) ?? []);
    for (let first = 0; first < ends.length; first += atATime) {
      await Promise.all(ends.slice(first, first + atATime).map((end) => this.end(end)));
    }
  }

  #nextRows({ cursor, limit, mode }: StartRowsInput): {
    rows: RunningRow[];
    next: { page: number; skip: number } | null;
  } {
    const first = cursor.page * this.#pageRows + cursor.skip;
    const behind = Math.min(first + limit, (cursor.page + 1) * this.#pageRows, this.input.rows.rows);
    const failed = new Set(this.recorded.filter(({ status }) => status !== 'Success').map(({ key }) => key));
    const rows = Array.from({ length: behind - first }, (_, offset) => row(first + offset, cursor.page)).filter(
      ({ key }) => mode === 'new' || failed.has(key),
    );
    const page = Math.floor(behind / this.#pageRows);
    const next = behind >= this.input.rows.rows ? null : { page, skip: behind - page * this.#pageRows };
    return { rows, next };
  }
}

function row(index: number, page: number): RunningRow {
  return { key: `row-${index}`, index, line: index + 1, page, digest: `digest-${index}` };
}
