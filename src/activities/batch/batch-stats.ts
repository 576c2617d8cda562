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
import { allCreates, allUploads, createsWithoutResult, type RowCreate, sumOfCreates } from '../../archive/row-end';
import type { PreparedRow } from '../../rows';

/** Without a record the row was never started. */
export interface JoinedRow {
  readonly row: PreparedRow;
  readonly record: RowRecord | undefined;
}

const maxSlowest = 10;
const maxUnsuccessful = 20;

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
  readonly #sums = { all: new MoneySums(), withoutResult: new MoneySums(), gone: new MoneySums() };
  readonly #rows = { known: 0, unknown: 0, gone: 0, unknownGone: 0 };
  #uploads: RowUploads = noUploads;
  readonly #failures = new Map<string, number>();
  #slowest: ReportBatchResult['slowest'] = [];
  readonly #unsuccessful: ReportBatchResult['unsuccessful'][number][] = [];

  add({ row, record }: JoinedRow): void {
    if (record === undefined) {
      this.#counts.notStarted += 1;
      return;
    }
    this.#countEnd(record);
    // Every attempt counts; those before the last brought no result.
    const creates = allCreates(record);
    if (isCostUnknown(creates)) this.#rows.unknown += 1;
    else if (creates.some(({ cost }) => cost !== undefined)) this.#rows.known += 1;
    addCosts(this.#sums.all, creates);
    addCosts(this.#sums.withoutResult, createsWithoutResult(record));
    const ms = Math.max(0, Date.parse(record.endedAt) - Date.parse(record.startedAt));
    this.#apps.add(row.input.webAppId, { ms: record.status === 'Success' ? ms : null, cost: sumOfCreates(creates) });
    const placed = { ...pickKeys(row), ...pickPlace(row) };
    this.#slowest = [...this.#slowest, { ...placed, ms }].sort((one, other) => other.ms - one.ms).slice(0, maxSlowest);
    if (record.status !== 'Success' && this.#unsuccessful.length < maxUnsuccessful) {
      const message = record.status === 'Canceled' ? 'The task was stopped.' : 'It ended without a failure message.';
      this.#unsuccessful.push({ ...placed, ...(record.failure ?? { type: record.status, message }) });
    }
  }

  /** Rows on record that the batch no longer has: what they cost is paid all the same. */
  addGone(records: Iterable<RowRecord>): void {
    for (const record of records) {
      const creates = allCreates(record);
      this.#rows.gone += 1;
      if (isCostUnknown(creates)) this.#rows.unknownGone += 1;
      addCosts(this.#sums.gone, creates);
    }
  }

  /** Null: there are none. */
  get goneRows(): NonNullable<BatchCosts['goneRows']> | null {
    const { gone: rows, unknownGone: unknownRows } = this.#rows;
    return rows === 0 ? null : { rows, unknownRows, sums: this.#sums.gone.list() };
  }

  get apps(): readonly AppSamples[] {
    return this.#apps.list();
  }

  result(): Omit<ReportBatchResult, 'jsonl' | 'csv'> {
    return {
      ...this.#counts,
      costs: {
        sums: this.#sums.all.list(),
        withoutResult: this.#sums.withoutResult.list(),
        knownRows: this.#rows.known,
        unknownRows: this.#rows.unknown,
        goneRows: this.goneRows ?? undefined,
      },
      apps: this.apps.map((app) => toFigures(app.webAppId, [app])),
      uploads: this.#uploads,
      failures: Object.fromEntries(this.#failures),
      slowest: this.#slowest,
      unsuccessful: this.#unsuccessful,
    };
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

function isCostUnknown(creates: readonly RowCreate[]): boolean {
  return creates.some(({ cost, requestId }) => cost === undefined && requestId !== null);
}

function addCosts(sums: MoneySums, creates: readonly RowCreate[]): void {
  for (const { cost } of creates) if (cost !== undefined) sums.add(cost);
}
