import { parseResultLine, type ResultLine, toResultLine } from './result-line';
import { batchFolder } from '../contract/archive-folder';
import type { Archive } from '../storage/archive/archive';
import { readBatchLayout, readBatchRecord } from './archive-reader';
import { ResultsError } from './errors';

export interface BatchResults {
  readonly folder: string;
  /** Null when no run of the batch has ended, so that its record is read. */
  readonly file: string | null;
  /** In the order of the row file. Without a file of results, only rows that have ended, by the keys of their tasks. */
  rows(): AsyncGenerator<ResultLine, void, undefined>;
  goneRows(): Promise<readonly ResultLine[]>;
}

/** Opens `results.jsonl`, before a run's end the record. Throws ArchiveError, {@link ResultsError} for neither. */
export async function openBatchResults(archive: Archive, batchId: string): Promise<BatchResults> {
  const folder = batchFolder(batchId);
  const file = `${folder}/results.jsonl`;
  const onRecord = async function* (rows: 'ofFile' | 'gone'): AsyncGenerator<ResultLine, void, undefined> {
    const layout = await readBatchLayout(archive, batchId);
    if (layout === null) return;
    for await (const record of readBatchRecord(archive, batchId, layout, { rows })) {
      yield toResultLine(batchId, record, record);
    }
  };
  const goneRows = async (): Promise<readonly ResultLine[]> => {
    const lines: ResultLine[] = [];
    for await (const line of onRecord('gone')) lines.push(line);
    return lines;
  };
  if ((await archive.size(file)) !== undefined) return { folder, file, rows: () => linesOf(archive, file), goneRows };
  if ((await readBatchLayout(archive, batchId)) !== null)
    return { folder, file: null, rows: () => onRecord('ofFile'), goneRows };
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

/** A file of any size. Throws ArchiveError. */
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
