import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { RecordRowsInput } from '../../contract/batch/batch-activities';
import type { RowRecord } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { batchFolder } from '../../contract/archive-folder';
import { errorMessage, showValue } from '../../core/text';
import {
  type BatchLayout,
  isRecordText,
  layoutText,
  parseLayout,
  parseRecordText,
  recordText,
} from '../../archive/batch-record';
import {
  allCreates,
  allUploads,
  isKnownCreate,
  isSameCreate,
  mergedCreates,
  mergedUploads,
} from '../../archive/row-end';
import type { Archive } from '../../storage/archive/archive';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';

/** The rows that a record is laid out for: which row stands on which page. */
export type RecordLayout = Omit<BatchLayout, 'id'>;

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
  /** One without the other is of no use. */
  readonly #whole = 'batch.json and the folder results';

  constructor(archive: Archive, batchId: string) {
    this.#archive = archive;
    this.#id = batchId;
    this.#folder = batchFolder(batchId);
  }

  /** The rows that the record is laid out for; undefined before the first. */
  async layout(): Promise<RecordLayout | undefined> {
    const name = this.#layoutName();
    const content = await this.#archive.read(name);
    if (content === undefined) {
      await this.#requireNoPages();
      return undefined;
    }
    const layout = parseLayout(content.toString('utf8'));
    if (layout === undefined) {
      throw this.#damaged(name, 'it does not say which rows the record is of', this.#whole);
    }
    if (layout.id !== this.#id) throw this.#ofAnother(layout.id);
    return layout;
  }

  /** From now on the record is that of these rows; what it had for others is removed. */
  async keepLayout({ digest, rows, pages }: RecordLayout): Promise<void> {
    await this.#archive.replace(this.#layoutName(), layoutText({ id: this.#id, digest, rows, pages }));
    await this.removeOthers(digest);
  }

  /** The records of a page, by key; none before its first row has ended. */
  async page(digest: string, page: number): Promise<ReadonlyMap<string, RowRecord>> {
    return await this.#read(this.#pageName(digest, page));
  }

  /** The records of every page that is there, of rows of a layout; read one after another. */
  async *pagesOf({ digest, pages }: RecordLayout): AsyncGenerator<ReadonlyMap<string, RowRecord>, void, undefined> {
    const folder = this.#resultsFolder(digest);
    for await (const { name } of this.#archive.list(folder)) {
      const page = /^(\d{1,15})\.jsonl$/.exec(name.slice(folder.length + 1))?.[1];
      if (page !== undefined && Number(page) < pages) yield await this.#read(name);
    }
  }

  /** The records of keys that no row has any more; they count again when one does. */
  async orphaned(digest: string): Promise<ReadonlyMap<string, RowRecord>> {
    return await this.#read(this.#orphanedName(digest));
  }

  /** Adds records to a page's. Repeating it changes nothing, and neither does the order. */
  async add(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    const merged = mergedRecords((await this.page(digest, page)).values(), records);
    await this.replacePage(digest, page, merged.values());
  }

  async replacePage(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#pageName(digest, page), recordText(records));
  }

  async replaceOrphaned(digest: string, records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#orphanedName(digest), recordText(records));
  }

  /** Removes what an interrupted layout for these rows left. */
  async clear(digest: string): Promise<void> {
    await this.#remove(this.#resultsFolder(digest), () => true);
  }

  async removeOthers(digest: string): Promise<void> {
    const kept = `${this.#resultsFolder(digest)}/`;
    await this.#remove(this.#results, (name) => !name.startsWith(kept));
  }

  resultName(file: 'results.jsonl' | 'results.csv' | 'report.html'): string {
    return `${this.#folder}/${file}`;
  }

  /** The layout is written before the first page, so somebody removed it. */
  async #requireNoPages(): Promise<void> {
    for await (const { name } of this.#archive.list(this.#results)) {
      if (this.#isOwnResult(name))
        throw this.#damaged(this.#layoutName(), `it is missing, and ${name} is there`, this.#whole);
    }
  }

  /** Removes files of the record, and no other: whatever else somebody has put there is not the record's to remove. */
  async #remove(folder: string, isMeant: (name: string) => boolean): Promise<void> {
    for await (const { name } of this.#archive.list(folder)) {
      if (isMeant(name) && this.#isOwnResult(name) && (await this.#isRecord(name))) await this.#archive.remove(name);
    }
  }

  #isOwnResult(name: string): boolean {
    return ownResult.test(name.slice(this.#results.length + 1));
  }

  async #isRecord(name: string): Promise<boolean> {
    return isRecordText((await this.#archive.read(name))?.toString('utf8') ?? '');
  }

  async #read(name: string): Promise<ReadonlyMap<string, RowRecord>> {
    const content = await this.#archive.read(name);
    if (content === undefined) return new Map();
    try {
      const text = new TextDecoder('utf8', { fatal: true }).decode(content);
      return mergedRecords(parseRecordText(text));
    } catch (error) {
      throw this.#damaged(name, errorMessage(error));
    }
  }

  #layoutName(): string {
    return `${this.#folder}/batch.json`;
  }

  #resultsFolder(digest: string): string {
    return `${this.#results}/${digest.slice(0, 12)}`;
  }

  get #results(): string {
    return `${this.#folder}/results`;
  }

  #pageName(digest: string, page: number): string {
    return `${this.#resultsFolder(digest)}/${page}.jsonl`;
  }

  #orphanedName(digest: string): string {
    return `${this.#resultsFolder(digest)}/orphaned.jsonl`;
  }

  /** Tried again, as every failure of the archive is: a stop ends the batch. */
  #ofAnother(id: string): ApplicationFailure {
    return ApplicationFailure.retryable(
      `The folder ${this.#archive.locate(this.#folder)} is that of the batch ${showValue(id)}: the archive takes names that ` +
        'differ only in case for the same, or a link leads there. Stop the batch, and run it with another id (--id).',
      failureTypes.ArchiveUnavailable,
    );
  }

  /** Tried again: the batch goes on once the file is repaired. */
  #damaged(name: string, problem: string, unit = 'it'): ApplicationFailure {
    return ApplicationFailure.retryable(
      `The batch’s record ${this.#archive.locate(name)} is damaged: ${problem}. Put it back from a backup; or move ${unit} ` +
        'away: what became of its rows is then taken from Temporal and their create records, and not paid again.',
      failureTypes.ArchiveUnavailable,
    );
  }
}

/** The one that stands: of the later create, or of the same one the later end; in whatever order they come. */
function standingRecord(one: RowRecord, other: RowRecord): RowRecord {
  if (one.createNumber !== other.createNumber) return one.createNumber > other.createNumber ? one : other;
  if (one.endedAt !== other.endedAt) return one.endedAt > other.endedAt ? one : other;
  // As in the file: of a record that was read from it and the same one that was not, neither stands for its fields' order.
  const text = (record: RowRecord): string =>
    recordText([{ ...record, earlier: undefined, earlierUploads: undefined }]);
  return text(one) >= text(other) ? one : other;
}

const maxCreates = 100;

/** The record that stands, with what is known of the row's other creates and attempts. In whatever order they come, the same comes of it. */
function mergedRecord(one: RowRecord, other: RowRecord): RowRecord {
  const standing = standingRecord(one, other);
  const { createNumber, requestId, cost } = standing;
  const own = { createNumber, requestId, cost };
  const creates = mergedCreates([...allCreates(one), ...allCreates(other)]).filter((create) => {
    return isKnownCreate(create) && !isSameCreate(create, own);
  });
  const uploads = mergedUploads([...allUploads(one), ...allUploads(other)]).filter(({ endedAt }) => {
    return endedAt !== standing.endedAt;
  });
  return {
    ...standing,
    earlier: creates.length === 0 ? undefined : creates.slice(0, maxCreates),
    earlierUploads: uploads.length === 0 ? undefined : uploads.slice(0, maxCreates),
  };
}

/** All records by their keys, each key with the one that stands. */
export function mergedRecords(...sets: readonly Iterable<RowRecord>[]): Map<string, RowRecord> {
  const merged = new Map<string, RowRecord>();
  for (const set of sets) addRecords(merged, set);
  return merged;
}

export function addRecords(known: Map<string, RowRecord>, records: Iterable<RowRecord>): void {
  for (const record of records) {
    const previous = known.get(record.key);
    known.set(record.key, previous === undefined ? record : mergedRecord(previous, record));
  }
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
      for (const [page, ended] of byPage(records)) {
        signal.throwIfAborted();
        await record.add(digest, page, ended);
        progress.recorded += ended.length;
      }
    },
  );
}

function byPage(records: readonly RowRecord[]): ReadonlyMap<number, readonly RowRecord[]> {
  const pages = new Map<number, RowRecord[]>();
  for (const record of records) {
    const page = pages.get(record.page) ?? [];
    pages.set(record.page, page);
    page.push(record);
  }
  return pages;
}
