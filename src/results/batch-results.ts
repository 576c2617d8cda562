import { parseLayout, parseRecordText } from '../formats/batch-record';
import { parseResultLine, type ResultLine, toResultLine } from '../formats/result-line';
import { batchFolder } from '../contract/archive-folder';
import { errorMessage } from '../domain/text';
import type { Archive } from '../storage/archive/archive';
import { ResultsError } from './errors';

/** What an archive has of a batch. */
export interface BatchResults {
  /** The archive's name of the batch's folder. */
  readonly folder: string;
  /** The file of results that is read; null when no run of the batch has ended, so that its record is read. */
  readonly file: string | null;
  /** In the order of the row file. Without a file of results, only rows that have ended, by the keys of their tasks. */
  rows(): AsyncGenerator<ResultLine, void, undefined>;
  /** Rows on record that the row file does not have any more. */
  goneRows(): Promise<readonly ResultLine[]>;
}

/**
 * Opens the results of a batch: `results.jsonl`, which the end of each run writes, or else the record of how its rows ended
 * so far. Throws ArchiveError, or {@link ResultsError} when the archive has neither.
 */
export async function openBatchResults(archive: Archive, batchId: string): Promise<BatchResults> {
  const folder = batchFolder(batchId);
  const file = `${folder}/results.jsonl`;
  const layoutText = await archive.read(`${folder}/batch.json`);
  const layout = layoutText === undefined ? undefined : parseLayout(layoutText.toString('utf8'));
  const pages = layout === undefined ? null : `${folder}/results/${layout.digest.slice(0, 12)}`;
  const goneRows = async (): Promise<readonly ResultLine[]> => {
    return pages === null ? [] : await recordsIn(archive, batchId, `${pages}/orphaned.jsonl`);
  };
  if ((await archive.size(file)) !== undefined) return { folder, file, rows: () => linesOf(archive, file), goneRows };
  if (pages !== null) return { folder, file: null, rows: () => recordsOf(archive, batchId, pages), goneRows };
  const where = archive.locate(folder);
  const words = `The archive has no results of the batch "${batchId}" (${where}). Check its id, and that LONGHAUL_ARCHIVE is the archive of its workers.`;
  throw new ResultsError('missing', words);
}

async function* linesOf(archive: Archive, name: string): AsyncGenerator<ResultLine, void, undefined> {
  let number = 0;
  for await (const line of readLines(archive, name)) {
    number += 1;
    const result = parseResultLine(line);
    if (result === undefined) {
      throw new ResultsError('damaged', `Line ${number} of ${archive.locate(name)} is no result of a row.`);
    }
    yield result;
  }
}

/** The lines of a file of any size; what follows the last line end is none. Throws ArchiveError. */
async function* readLines(archive: Archive, name: string): AsyncGenerator<string, void, undefined> {
  const opened = await archive.open(name);
  if (opened === undefined) return;
  const decoder = new TextDecoder('utf8');
  let rest = '';
  for await (const chunk of opened.content as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** The pages that are there count, however many the layout speaks of. */
async function* recordsOf(
  archive: Archive,
  batchId: string,
  folder: string,
): AsyncGenerator<ResultLine, void, undefined> {
  const pages: number[] = [];
  for await (const { name } of archive.list(folder)) {
    const page = /^(\d{1,15})\.jsonl$/.exec(name.slice(folder.length + 1))?.[1];
    if (page !== undefined) pages.push(Number(page));
  }
  for (const page of pages.sort((one, other) => one - other)) {
    yield* await recordsIn(archive, batchId, `${folder}/${page}.jsonl`);
  }
}

async function recordsIn(archive: Archive, batchId: string, name: string): Promise<readonly ResultLine[]> {
  const content = await archive.read(name);
  if (content === undefined) return [];
  try {
    return parseRecordText(content.toString('utf8')).map((record) => toResultLine(batchId, record, record));
  } catch (error) {
    throw new ResultsError('damaged', `The record ${archive.locate(name)} is damaged: ${errorMessage(error)}.`);
  }
}
