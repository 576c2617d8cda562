import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { readBatchLayout, readBatchRecord, readRecordPage, recordFolder } from '../../archive/archive-reader';
import { addRecords, type BatchLayout, isRecordText, layoutText, recordText } from '../../archive/batch-record';
import { ResultsError } from '../../archive/errors';
import { batchFolder } from '../../contract/archive-folder';
import type { RecordRowsInput } from '../../contract/batch/batch-activities';
import type { RowRecord } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import type { Archive } from '../../storage/archive/archive';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';

/** The rows that a record is laid out for: which row stands on which page. */
export type RecordLayout = Omit<BatchLayout, 'id'>;
/** Records of rows, by key. */
type Records = Map<string, RowRecord>;

/** A page's name in the folder of results, and that of the records that are put aside. */
const ownResult = /^[0-9A-Za-z]{1,12}\/(?:\d{1,15}|orphaned)\.jsonl$/;

/**
 * What became of a batch's rows, in the archive: `batch.json` names the rows it is laid out for, and under
 * `results/<digest>/` stands one file for each page of them, replaced as a whole. It holds beyond Temporal's retention.
 */
export class BatchRecord {
  readonly #archive: Archive;
  readonly #id: string;
  readonly #folder: string;
  readonly #results: string;
  readonly #layoutName: string;

  constructor(archive: Archive, batchId: string) {
    this.#archive = archive;
    this.#id = batchId;
    this.#folder = batchFolder(batchId);
    this.#results = `${this.#folder}/results`;
    this.#layoutName = `${this.#folder}/batch.json`;
  }

  /** The rows that the record is laid out for; undefined before the first. */
  async layout(): Promise<RecordLayout | undefined> {
    const layout = await this.#reading(
      () => readBatchLayout(this.#archive, this.#id),
      'batch.json and the folder results',
    );
    if (layout !== null) return layout;
    // The layout is written before the first page: where there is one without it, somebody removed it.
    for await (const { name } of this.#archive.list(this.#results)) {
      if (!this.#isOwnResult(name)) continue;
      const words = `The record ${this.#archive.locate(this.#layoutName)} is damaged: it is missing, and ${name} is there.`;
      throw damaged(words, 'batch.json and the folder results');
    }
    return undefined;
  }

  /** From now on the record is that of these rows; what it had for others is removed. */
  async keepLayout({ digest, rows, pages }: RecordLayout): Promise<void> {
    await this.#archive.replace(this.#layoutName, layoutText({ id: this.#id, digest, rows, pages }));
    const kept = `${recordFolder(this.#id, digest)}/`;
    await this.#remove(this.#results, (name) => !name.startsWith(kept));
  }

  /** The records of a page, by key; none before its first row has ended. `orphaned`: of keys that no row has any more. */
  async page(digest: string, page: number | 'orphaned'): Promise<Records> {
    const records: Records = new Map();
    addRecords(records, await this.#reading(() => readRecordPage(this.#archive, this.#pageName(digest, page))));
    return records;
  }

  /** The records of all rows of a layout, those included that are put aside. */
  async all(layout: RecordLayout, signal: AbortSignal): Promise<Records> {
    const records: Records = new Map();
    await this.#reading(async () => {
      for await (const record of readBatchRecord(this.#archive, this.#id, layout, { rows: 'all', signal }))
        addRecords(records, [record]);
    });
    return records;
  }

  /** Adds records to a page's. Repeating it changes nothing, and neither does the order. */
  async add(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    const merged = await this.page(digest, page);
    addRecords(merged, records);
    await this.replacePage(digest, page, merged.values());
  }

  async replacePage(digest: string, page: number | 'orphaned', records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#pageName(digest, page), recordText(records));
  }

  /** Removes what an interrupted layout for these rows left. */
  async clear(digest: string): Promise<void> {
    await this.#remove(recordFolder(this.#id, digest), () => true);
  }

  resultName(file: 'results.jsonl' | 'results.csv' | 'report.html'): string {
    return `${this.#folder}/${file}`;
  }

  /** Removes files of the record, and no other: whatever else somebody has put there is not the record's to remove. */
  async #remove(folder: string, isMeant: (name: string) => boolean): Promise<void> {
    for await (const { name } of this.#archive.list(folder)) {
      if (!isMeant(name) || !this.#isOwnResult(name)) continue;
      const content = await this.#archive.read(name);
      if (isRecordText(content?.toString('utf8') ?? '')) await this.#archive.remove(name);
    }
  }

  #isOwnResult(name: string): boolean {
    return ownResult.test(name.slice(this.#results.length + 1));
  }

  #pageName(digest: string, page: number | 'orphaned'): string {
    return `${recordFolder(this.#id, digest)}/${page}.jsonl`;
  }

  /** A record that cannot be read is tried again: the batch goes on once the file is repaired, and a stop ends it. */
  async #reading<Result>(read: () => Promise<Result>, unit = 'it'): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ResultsError)) throw error;
      if (error.code === 'damaged') throw damaged(error.message, unit);
      // The archive takes names that differ only in case for the same, or a link leads there.
      const words = `${error.message} Stop the batch, and run it with another id (--id).`;
      throw ApplicationFailure.retryable(words, failureTypes.ArchiveUnavailable);
    }
  }
}

function damaged(words: string, unit: string): ApplicationFailure {
  return ApplicationFailure.retryable(
    `${words} Put it back from a backup; or move ${unit} away: what became of its rows is then taken from Temporal and ` +
      'their create records, and not paid again.',
    failureTypes.ArchiveUnavailable,
  );
}

/** Adds rows that ended to the batch's record, page by page. Repeating it changes nothing. */
export async function recordRows({ archive }: BatchDependencies, input: RecordRowsInput): Promise<void> {
  const { id, digest, records } = input;
  const record = new BatchRecord(archive, id);
  const progress = { batch: id, recorded: 0 };
  await withHeartbeat(
    () => progress,
    async () => {
      const signal = cancellationSignal();
      for (const page of new Set(records.map((one) => one.page))) {
        signal.throwIfAborted();
        const ended = records.filter((one) => one.page === page);
        await record.add(digest, page, ended);
        progress.recorded += ended.length;
      }
    },
  );
}
