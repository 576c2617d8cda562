import { randomUUID } from 'node:crypto';
import { cancellationSignal } from '@temporalio/activity';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type {
  AwaitRowEndsInput,
  AwaitRowEndsResult,
  BatchActivities,
  OpenBatchInput,
  OpenBatchResult,
  PollRowsResult,
  ReportBatchResult,
  StartRowsInput,
} from '../../src/contract/batch/batch-activities';
import { maxEndBytes } from '../../src/rows';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import { noSpending } from '../../src/money/batch-budget';
import {
  isRetryable,
  noUploads,
  type RowEnd,
  type RowRecord,
  type RunningRow,
} from '../../src/contract/batch/batch-rows';
import type { WebhookActivities, WebhookInput } from '../../src/contract/webhook';
import { delivered } from './fake-activities';
import { batchWorkflowId } from '../../src/contract/workflow-ids';

/** In one result. */
const maxEnds = 500;

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
  readonly started: string[] = [];
  readonly recorded: RowRecord[] = [];
  readonly stopped: string[] = [];
  /** What a poll tells of the rows that run; absent: nothing, as an older worker does. */
  states: PollRowsResult['states'];
  /** Which rows that run cannot go on. */
  problem: PollRowsResult['problem'];
  readonly running = new Map<string, RunningRow>();
  peak = 0;
  /** Ends a row as soon as it is started; `undefined` lets it run. */
  endsAtOnce: (row: RunningRow) => RowEnd | undefined = () => undefined;
  /** Ends that only a poll finds. */
  readonly silent = new Map<string, RowEnd>();
  readonly #ends = new Map<string, RowEnd>();
  readonly #told: RowEnd[] = [];
  /** How often the batch had itself canceled. */
  canceled = 0;
  /** Whether rows that are asked to stop run on. */
  areStopsIgnored = false;
  /** What the report counts, by type. */
  reportedFailures: Record<string, number> = {};
  /** Calls that polled rows, and how many rows they polled. */
  rowPolls = { calls: 0, rows: 0 };
  /** What `openBatch` tells, where that is not nothing. */
  opened: Partial<OpenBatchResult> = {};
  /** What `openBatch` fails with for good. */
  unopened: Error | undefined;
  /** So many rows may be started today; then the daily budget of their account refuses them. */
  roomToday = Infinity;
  /** How long it says that it need not be asked again. */
  dailyWaitMs = 60_000;
  /** Rows that are on record as succeeded. */
  readonly onRecord = new Set<string>();
  readonly opens: OpenBatchInput[] = [];
  readonly starts: StartRowsInput[] = [];
  /** Steps that fail, and are tried again, until they are taken out of here. */
  readonly failing = new Set<keyof BatchActivities>();
  /** So many rows are started by a `startRows` that fails. */
  startedByFailure = 0;
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

  readonly webhooks: WebhookInput[] = [];

  readonly activities: BatchActivities & WebhookActivities = {
    sendWebhook: (input) => {
      this.webhooks.push(input);
      return Promise.resolve(delivered);
    },
    openBatch: async (input) => {
      this.opens.push(input);
      await this.#mayFail('openBatch');
      if (this.unopened !== undefined) throw this.unopened;
      const prices = { unpriced: 0, firstUnpriced: null, currencies: {} };
      return { succeeded: 0, gone: 0, spending: noSpending, prices, ...this.opened };
    },
    startRows: async (input) => {
      this.starts.push(input);
      const room = Math.max(0, this.roomToday - this.started.length);
      const { rows, next, isMore, found } = this.#nextRows({ ...input, limit: Math.min(input.limit, room) });
      const onRecord = { success: found, failed: 0, canceled: 0 };
      const isRefused = isMore && input.limit > rows.length;
      if (input.onlyFound === true) {
        return { running: rows.filter(({ key }) => this.running.has(key)), ended: [], left: 0, onRecord, next };
      }
      if (this.failing.has('startRows')) this.#start(rows.slice(0, this.startedByFailure));
      await this.#mayFail('startRows');
      this.#start(rows);
      // All of them run before the first one ends.
      const ends = rows.flatMap((row) => this.endsAtOnce(row) ?? []);
      for (const end of ends) this.end(end);
      const words = 'The daily budget of the account "studio" is reached';
      const dailyBudget = { account: 'studio', words, waitMs: this.dailyWaitMs };
      return { running: rows, ended: [], left: 0, onRecord, next, ...(isRefused && { dailyBudget }) };
    },
    awaitRowEnds: (input) => this.#awaitEnds(input),
    pollRows: async ({ keys }) => {
      await this.#mayFail('pollRows');
      const { states, problem } = this;
      return {
        ...this.#poll(keys),
        ...(states !== undefined && { states }),
        ...(problem !== undefined && { problem }),
      };
    },
    stopRows: ({ keys }) => {
      this.stopped.push(...keys);
      for (const key of this.areStopsIgnored ? [] : keys) this.end(rowEnd(key, { status: 'Canceled' }));
      return Promise.resolve();
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
      return { ...report, success: this.recorded.length, failures: this.reportedFailures };
    },
  };

  end(end: RowEnd): void {
    if (this.running.delete(end.key)) this.#ends.set(end.key, end);
    this.#told.push(end);
  }

  /** As the real one, with the number of those that were read in the place of runs. */
  async #awaitEnds({ from, enough, collectMs }: AwaitRowEndsInput): Promise<AwaitRowEndsResult> {
    const signal = cancellationSignal();
    const read = Number(from.seenRuns[0] ?? 0);
    while (this.#told.length === read) await delay(collectMs, undefined, { signal });
    if (this.#told.length - read < enough) await delay(collectMs, undefined, { signal });
    const ended = this.#told.slice(read, read + maxEnds);
    return { ended, next: { ...from, seenRuns: [String(read + ended.length)] } };
  }

  /** As the real one: no more than fits into one result. */
  #poll(keys: readonly string[]): PollRowsResult {
    const ended: RowEnd[] = [];
    let [polled, bytes] = [0, 0];
    for (const key of keys) {
      if (bytes > maxEndBytes) break;
      polled += 1;
      const end = this.silent.get(key) ?? this.#ends.get(key);
      if (end === undefined) continue;
      ended.push(end);
      bytes += JSON.stringify(end).length;
    }
    this.rowPolls = { calls: this.rowPolls.calls + 1, rows: this.rowPolls.rows + polled };
    return { ended, polled };
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

  #nextRows({ cursor, limit, mode }: StartRowsInput): {
    rows: RunningRow[];
    next: { page: number; skip: number } | null;
    /** Whether there was no place for the next one. */
    isMore: boolean;
    /** So many are on record, and left. */
    found: number;
  } {
    const first = cursor.page * this.#pageRows + cursor.skip;
    const end = Math.min((cursor.page + 1) * this.#pageRows, this.input.rows.rows);
    const latest = new Map(this.recorded.map((record) => [record.key, record]));
    const isToRetry = (record: RowRecord): boolean =>
      mode === 'retryable' ? isRetryable(record) : record.status !== 'Success';
    const failed = new Set([...latest.values()].filter(isToRetry).map(({ key }) => key));
    const rows: RunningRow[] = [];
    let behind = first;
    let isMore = false;
    let found = 0;
    for (; behind < end; behind += 1) {
      const one = row(behind, cursor.page);
      if (mode === 'new' ? this.onRecord.has(one.key) : !failed.has(one.key)) {
        if (mode === 'new') found += 1;
        continue;
      }
      isMore = rows.length >= limit;
      if (isMore) break;
      rows.push(one);
    }
    const page = Math.floor(behind / this.#pageRows);
    const next = behind >= this.input.rows.rows ? null : { page, skip: behind - page * this.#pageRows };
    return { rows, next, isMore, found };
  }
}

function row(index: number, page: number): RunningRow {
  return { key: `row-${index}`, index, line: index + 1, page, digest: `digest-${index}` };
}
