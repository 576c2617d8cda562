import type { RowRecord } from '../contract/batch/batch-rows';
import { batchFolder } from '../contract/archive-folder';
import type { AppFigures } from '../domain/estimate';
import type { Money } from '../domain/money';
import { errorMessage, showValue } from '../domain/text';
import { appSamplesName, maxAppSamplesBytes, parseFigures } from '../formats/app-samples';
import { type BatchLayout, parseLayout, parseRecordText } from '../formats/batch-record';
import { allCreates, isKnownCreate } from '../formats/row-end';
import { type Archive, readSmall } from '../storage/archive/archive';
import { ResultsError } from './errors';

const pagesAtOnce = 8;
/** Of a page of rows, or of those that no page has any more. */
const pageName = /^(\d{1,15}|orphaned)\.jsonl$/;

/**
 * The rows of a batch that are on record, by key, those included that its last row file did not have; null where the archive
 * has nothing of the batch. Throws ArchiveError, {@link ResultsError} for a damaged record, and the signal's reason.
 */
export async function readRecordedRows(
  archive: Archive,
  batchId: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, RowRecord> | null> {
  signal?.throwIfAborted();
  const folder = batchFolder(batchId);
  const layout = await readLayout(archive, batchId, `${folder}/batch.json`);
  if (layout === null) return null;
  signal?.throwIfAborted();
  const rows = new Map<string, RowRecord>();
  const names = await listPages(archive, `${folder}/results/${layout.digest.slice(0, 12)}`, layout.pages);
  while (names.length > 0) {
    signal?.throwIfAborted();
    const next = names.splice(0, pagesAtOnce);
    const contents = await Promise.all(next.map((name) => archive.read(name)));
    for (const [index, content] of contents.entries()) {
      if (content !== undefined) addRecords(rows, archive.locate(next[index] ?? ''), content.toString('utf8'));
    }
  }
  return rows;
}

async function readLayout(archive: Archive, batchId: string, name: string): Promise<BatchLayout | null> {
  const text = await archive.read(name);
  if (text === undefined) return null;
  const layout = parseLayout(text.toString('utf8'));
  const where = `The record ${archive.locate(name)}`;
  if (layout === undefined) {
    throw new ResultsError('damaged', `${where} is damaged: it does not say which rows the record is of.`);
  }
  if (layout.id === undefined || layout.id === batchId) return layout;
  throw new ResultsError('damaged', `${where} is that of the batch ${showValue(layout.id)}; give another --id.`);
}

/** Those that are there: how many the layout tells is no reason to ask for so many. */
async function listPages(archive: Archive, folder: string, pages: number): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of archive.list(folder)) {
    const page = pageName.exec(name.slice(folder.length + 1))?.[1];
    if (page === 'orphaned' || Number(page) < pages) names.push(name);
  }
  return names;
}

function addRecords(rows: Map<string, RowRecord>, location: string, text: string): void {
  try {
    for (const record of parseRecordText(text)) rows.set(record.key, record);
  } catch (error) {
    throw new ResultsError('damaged', `The record ${location} is damaged: ${errorMessage(error)}.`);
  }
}

/** What each task of a row cost; undefined where that is not known. */
export function readCosts(record: RowRecord): readonly (Money | undefined)[] {
  return allCreates(record)
    .filter(isKnownCreate)
    .map(({ cost }) => cost);
}

/** So many apps are looked up. */
const maxApps = 20;

/** What earlier rows of these apps took and cost; one small file is read for each. Throws ArchiveError, and the signal's reason. */
export async function readFigures(
  archive: Pick<Archive, 'read' | 'size'>,
  apps: Iterable<number>,
  signal?: AbortSignal,
): Promise<readonly AppFigures[]> {
  const figures: AppFigures[] = [];
  for (const webAppId of [...apps].slice(0, maxApps)) {
    signal?.throwIfAborted();
    const found = parseFigures(webAppId, await readSmall(archive, appSamplesName(webAppId), maxAppSamplesBytes));
    if (found !== null) figures.push(found);
  }
  return figures;
}
