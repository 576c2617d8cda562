import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { RowsReference } from '../../contract/batch-input';
import type { RowRecord } from '../../contract/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import type { Archive } from '../../storage/archive';
import { mergedRecords } from './merge-records';
import { parseRecordText, recordText } from './record-text';

/** The rows that a record is laid out for: which row stands on which page. */
export type RecordLayout = Pick<RowsReference, 'digest' | 'rows' | 'pages'>;

const layoutSchema: z.ZodType<RecordLayout> = z.object({
  digest: z.string().min(1),
  rows: z.number().int(),
  pages: z.number().int(),
});

/**
 * What became of a batch's rows, in the archive: `batch.json` names the rows it is laid out for, and under
 * `results/<digest>/` stands one file for each page of them, replaced as a whole. It holds beyond Temporal's retention.
 */
export class BatchRecord {
  readonly #archive: Archive;
  readonly #folder: string;
  /** One without the other is of no use. */
  readonly #whole = 'batch.json and the folder results';

  constructor(archive: Archive, batchId: string) {
    this.#archive = archive;
    this.#folder = `batches/${batchId}`;
  }

  /** The rows that the record is laid out for; undefined before the first. */
  async layout(): Promise<RecordLayout | undefined> {
    const name = this.#layoutName();
    const content = await this.#archive.read(name);
    if (content === undefined) {
      await this.#requireNoPages();
      return undefined;
    }
    try {
      return layoutSchema.parse(JSON.parse(content.toString('utf8')));
    } catch {
      throw this.#damaged(name, 'it does not say which rows the record is of', this.#whole);
    }
  }

  /** From now on the record is that of these rows; what it had for others is removed. */
  async keepLayout({ digest, rows, pages }: RecordLayout): Promise<void> {
    await this.#archive.replace(this.#layoutName(), `${JSON.stringify({ digest, rows, pages }, null, 2)}\n`);
    await this.removeOthers(digest);
  }

  /** The records of a page, by key; none before its first row has ended. */
  async page(digest: string, page: number): Promise<ReadonlyMap<string, RowRecord>> {
    return await this.#read(this.#pageName(digest, page));
  }

  /** The records of keys that no row has any more; they count again when one does. */
  async spare(digest: string): Promise<ReadonlyMap<string, RowRecord>> {
    return await this.#read(this.#spareName(digest));
  }

  /** Adds records to a page's. Repeating it changes nothing, and neither does the order. */
  async add(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    const merged = mergedRecords((await this.page(digest, page)).values(), records);
    await this.replacePage(digest, page, merged.values());
  }

  async replacePage(digest: string, page: number, records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#pageName(digest, page), recordText(records));
  }

  async replaceSpare(digest: string, records: Iterable<RowRecord>): Promise<void> {
    await this.#archive.replace(this.#spareName(digest), recordText(records));
  }

  /** Removes what an interrupted layout for these rows left. */
  async clear(digest: string): Promise<void> {
    await this.#remove(this.#resultsFolder(digest), () => true);
  }

  /** Removes the pages for other rows than these. */
  async removeOthers(digest: string): Promise<void> {
    const kept = `${this.#resultsFolder(digest)}/`;
    await this.#remove(`${this.#folder}/results`, (name) => !name.startsWith(kept));
  }

  /** The archive's name of a result file of the batch. */
  resultName(extension: 'jsonl' | 'csv'): string {
    return `${this.#folder}/results.${extension}`;
  }

  /** The layout is written before the first page, so somebody removed it. */
  async #requireNoPages(): Promise<void> {
    for await (const name of this.#archive.list(`${this.#folder}/results`)) {
      throw this.#damaged(this.#layoutName(), `it is missing, and ${name} is there`, this.#whole);
    }
  }

  async #remove(folder: string, isMeant: (name: string) => boolean): Promise<void> {
    for await (const name of this.#archive.list(folder)) if (isMeant(name)) await this.#archive.remove(name);
  }

  async #read(name: string): Promise<ReadonlyMap<string, RowRecord>> {
    const content = await this.#archive.read(name);
    if (content === undefined) return new Map();
    try {
      const text = new TextDecoder('utf8', { fatal: true }).decode(content);
      return mergedRecords(parseRecordText(text));
    } catch (error) {
      throw this.#damaged(name, error instanceof Error ? error.message : String(error));
    }
  }

  #layoutName(): string {
    return `${this.#folder}/batch.json`;
  }

  #resultsFolder(digest: string): string {
    return `${this.#folder}/results/${digest.slice(0, 12)}`;
  }

  #pageName(digest: string, page: number): string {
    return `${this.#resultsFolder(digest)}/${page}.jsonl`;
  }

  #spareName(digest: string): string {
    return `${this.#resultsFolder(digest)}/spare.jsonl`;
  }

  /** Tried again: the batch goes on once somebody has mended the file. */
  #damaged(name: string, problem: string, unit = 'it'): ApplicationFailure {
    return ApplicationFailure.retryable(
      `The batch’s record ${this.#archive.locate(name)} is damaged: ${problem}. Put it back from a backup; or move ${unit} ` +
        'away: what became of its rows is then taken from Temporal and their create records, and not paid again.',
      failureTypes.ArchiveUnavailable,
    );
  }
}
