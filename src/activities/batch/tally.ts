import type { ReportBatchResult } from '../../contract/batch-activities';
import { addUploads, maxFailureTypes, noUploads, type RowRecord, type RowUploads } from '../../contract/batch-rows';
import type { JoinedRow } from './joined-rows';

const maxSlowest = 10;
const maxUnsuccessful = 20;

type SlowRow = ReportBatchResult['slowest'][number];
type UnsuccessfulRow = ReportBatchResult['unsuccessful'][number];

/** The figures of a batch, counted row by row; holds no more than those that it names. */
export class Tally {
  readonly #counts = {
    success: 0,
    failed: 0,
    canceled: 0,
    notStarted: 0,
    outputs: 0,
    outputBytes: 0,
    failedOutputs: 0,
  };
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
    const { key, line } = row;
    const ms = Date.parse(record.endedAt) - Date.parse(record.startedAt);
    this.#slowest = [...this.#slowest, { key, line, ms }].sort((one, other) => other.ms - one.ms).slice(0, maxSlowest);
    if (record.status !== 'Success' && this.#unsuccessful.length < maxUnsuccessful) {
      this.#unsuccessful.push({ key, line, ...(record.failure ?? wordsWithoutFailure(record)) });
    }
  }

  result(): Omit<ReportBatchResult, 'jsonl' | 'csv'> {
    const failures = Object.fromEntries(this.#failures);
    return {
      ...this.#counts,
      uploads: this.#uploads,
      failures,
      slowest: this.#slowest,
      unsuccessful: this.#unsuccessful,
    };
  }

  #countEnd({ status, failure, outputCount, outputBytes, failedOutputCount = 0, uploads }: RowRecord): void {
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
    this.#uploads = addUploads(this.#uploads, uploads ?? noUploads);
  }
}

/** A task that was stopped did not fail. */
function wordsWithoutFailure({ status }: RowRecord): { readonly type: string; readonly message: string } {
  return { type: status, message: status === 'Canceled' ? 'The task was stopped.' : 'It ended without a word.' };
}
