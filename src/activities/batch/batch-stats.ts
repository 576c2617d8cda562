import type { BatchCosts, ReportBatchResult } from '../../contract/batch/batch-activities';
import {
  addUploads,
  maxFailureTypes,
  noUploads,
  type RowRecord,
  type RowUploads,
} from '../../contract/batch/batch-rows';
import { pickKeys, pickPlace } from '../../core/batch/row-place';
import { AppSampler, type AppSamples, toFigures } from '../../money/estimate';
import { MoneySums } from '../../money/money';
import { allCreates, allUploads, createsWithoutResult, sumOfCreates } from '../../archive/row-end';
import type { PreparedRow } from '../../rows';

/** A row of the batch and how it ended; without a record it was never started. */
export interface JoinedRow {
  readonly row: PreparedRow;
  readonly record: RowRecord | undefined;
}

const maxSlowest = 10;
const maxUnsuccessful = 20;

type GoneRows = NonNullable<BatchCosts['goneRows']>;
type SlowRow = ReportBatchResult['slowest'][number];
type UnsuccessfulRow = ReportBatchResult['unsuccessful'][number];

/** The figures of a batch, counted row by row; holds no more than those that it names. */
export class BatchStats {
  readonly #counts = {
    success: 0,
    failed: 0,
    canceled: 0,
    notStarted: 0,
    outputs: 0,
    outputBytes: 0,
    failedOutputs: 0,
  };
  readonly #apps = new AppSampler();
  readonly #costs = new MoneySums();
  readonly #costsWithoutResult = new MoneySums();
  #knownCosts = 0;
  #unknownCosts = 0;
  readonly #goneCosts = new MoneySums();
  readonly #gone = { rows: 0, unknownRows: 0 };
  #uploads: RowUploads = noUploads;
  readonly #failures = new Map<string, number>();
  #slowest: SlowRow[] = [];
  readonly #unsuccessful: UnsuccessfulRow[] = [];

  add({ row, record }: JoinedRow): void {
    if (record === undefined) {
      this.#counts.notStarted += 1;
      return;
    }
    this.#countEnd(record);
    this.#countCost(record);
    this.#apps.add(row.input.webAppId, {
      ms: record.status === 'Success' ? took(record) : null,
      cost: sumOfCreates(allCreates(record)),
    });
    const placed = { ...pickKeys(row), ...pickPlace(row) };
    const ms = took(record);
    this.#slowest = [...this.#slowest, { ...placed, ms }].sort((one, other) => other.ms - one.ms).slice(0, maxSlowest);
    if (record.status !== 'Success' && this.#unsuccessful.length < maxUnsuccessful) {
      // A task that was stopped did not fail.
      const message = record.status === 'Canceled' ? 'The task was stopped.' : 'It ended without a failure message.';
      this.#unsuccessful.push({ ...placed, ...(record.failure ?? { type: record.status, message }) });
    }
  }

  /** Rows on record that are not among the batch's any more: what they cost is paid all the same. */
  addGone(records: Iterable<RowRecord>): void {
    for (const record of records) {
      this.#gone.rows += 1;
      const creates = allCreates(record);
      if (isCostUnknown(creates)) this.#gone.unknownRows += 1;
      for (const { cost } of creates) if (cost !== undefined) this.#goneCosts.add(cost);
    }
  }

  /** Null: there are none. */
  get goneRows(): GoneRows | null {
    return this.#gone.rows === 0 ? null : { ...this.#gone, sums: this.#goneCosts.list() };
  }

  get apps(): readonly AppSamples[] {
    return this.#apps.list();
  }

  result(): Omit<ReportBatchResult, 'jsonl' | 'csv'> {
    const { goneRows } = this;
    const failures = Object.fromEntries(this.#failures);
    return {
      ...this.#counts,
      costs: {
        sums: this.#costs.list(),
        withoutResult: this.#costsWithoutResult.list(),
        knownRows: this.#knownCosts,
        unknownRows: this.#unknownCosts,
        goneRows: goneRows ?? undefined,
      },
      apps: this.apps.map((app) => toFigures(app.webAppId, [app])),
      uploads: this.#uploads,
      failures,
      slowest: this.#slowest,
      unsuccessful: this.#unsuccessful,
    };
  }

  /** Every attempt of the row counts; those before the last brought no result. */
  #countCost(record: RowRecord): void {
    const creates = allCreates(record);
    if (isCostUnknown(creates)) this.#unknownCosts += 1;
    else if (creates.some(({ cost }) => cost !== undefined)) this.#knownCosts += 1;
    for (const { cost } of creates) if (cost !== undefined) this.#costs.add(cost);
    for (const { cost } of createsWithoutResult(record)) if (cost !== undefined) this.#costsWithoutResult.add(cost);
  }

  #countEnd(record: RowRecord): void {
    const { status, failure, outputCount, outputBytes, failedOutputCount = 0 } = record;
    const counts = this.#counts;
    if (status === 'Success') counts.success += 1;
    else if (status === 'Canceled') counts.canceled += 1;
    else {
      const type = failure?.type ?? status;
      const name = this.#failures.has(type) || this.#failures.size < maxFailureTypes ? type : 'Other';
      counts.failed += 1;
      this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    }
    counts.outputs += outputCount;
    counts.outputBytes += outputBytes;
    counts.failedOutputs += failedOutputCount;
    this.#uploads = allUploads(record).reduce(addUploads, this.#uploads);
  }
}

/** Whether a task of the row may have cost something that is not known. */
function isCostUnknown(creates: ReturnType<typeof allCreates>): boolean {
  return creates.some(({ cost, requestId }) => cost === undefined && requestId !== null);
}

function took({ startedAt, endedAt }: RowRecord): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}
