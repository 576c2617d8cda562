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

export type RecordLayout = Omit<BatchLayout, 'id'>;
type Records = Map<string, RowRecord>;

const ownResult = /^[0-9A-Za-z]{1,12}\/(?:\d{1,15}|orphaned)\.jsonl$/;

/** A batch's record in the archive: `batch.json`, and `results/<digest>/` with a file per page, replaced as a whole. */
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

  async layout(): Promise<RecordLayout | undefined> {
    const layout = await this.#reading(
      () => readBatchLayout(this.#archive, this.#id),
      'batch.json and the folder results',
    );
    if (layout !== null) return layout;
    // The layout is written before the first page: a page without it means that it was removed.
    for await (const { name } of this.#archive.list(this.#results)) {
      if (!this.#isOwnResult(name)) continue;
      const words = `The record ${this.#archive.locate(this.#layoutName)} is damaged: it is missing, and ${name} is there.`;
      throw damaged(words, 'batch.json and the folder results');
    }
    return undefined;
  }

  async keepLayout({ digest, rows, pages, source, command }: RecordLayout): Promise<void> {
    await this.#archive.replace(this.#layoutName, layoutText({ id: this.#id, digest, rows, pages, source, command }));
    const kept = `${recordFolder(this.#id, digest)}/`;
    await this.#remove(this.#results, (name) => !name.startsWith(kept));
  }

  /** Records by key; empty before the first row has ended. `orphaned`: of keys that no row has any more. */
  async page(digest: string, page: number | 'orphaned'): Promise<Records> {
    const records: Records = new Map();
    addRecords(records, await this.#reading(() => readRecordPage(this.#archive, this.#pageName(digest, page))));
    return records;
  }

  async all(layout: RecordLayout, signal: AbortSignal): Promise<Records> {
    const records: Records = new Map();
    await this.#reading(async () => {
      for await (const record of readBatchRecord(this.#archive, this.#id, layout, { rows: 'all', signal }))
        addRecords(records, [record]);
    });
    return records;
  }

  async add(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    const merged = await this.page(digest, page);
    addRecords(merged, records);
    await this.replacePage(digest, page, merged.values());
  }

  async replacePage(digest: string, page: number | 'orphaned', records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#pageName(digest, page), recordText(records));
  }

  async clear(digest: string): Promise<void> {
    await this.#remove(recordFolder(this.#id, digest), () => true);
  }

  resultName(file: 'results.jsonl' | 'results.csv' | 'report.html'): string {
    return `${this.#folder}/${file}`;
  }

  /** Removes files of the record only: others may have put files there. */
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

  /** Retryable: the batch goes on once the file is repaired, and a stop ends it. */
  async #reading<Result>(read: () => Promise<Result>, unit = 'it'): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ResultsError)) throw error;
      if (error.code === 'damaged') throw damaged(error.message, unit);
      // The archive ignores case in names, or a link leads there.
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
