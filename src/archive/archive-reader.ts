import { Readable } from 'node:stream';
import { batchFolder } from '../contract/archive-folder';
import type { RowRecord } from '../contract/batch/batch-rows';
import { isRequestId } from '../core/create-outcome';
import { errorMessage, showValue } from '../core/text';
import { safeDecode } from '../core/uri';
import type { AppFigures } from '../money/estimate';
import type { Money } from '../money/money';
import { type Archive, readSmall } from '../storage/archive/archive';
import { appSamplesName, maxAppSamplesBytes, parseFigures } from './app-samples';
import { type BatchLayout, parseLayout, parseRecordText } from './batch-record';
import { type CreateEnd, type CreateRecord, listCreates, parseCreateRecord } from './create-record';
import { ResultsError } from './errors';
import { allCreates, isKnownCreate } from './row-end';

export type ArchivedFile =
  | { readonly kind: 'create'; readonly workflowId: string; readonly createNumber: number }
  /** With a name template it may be in any folder and have any prefix; `folder` ends with a slash, or is empty. */
  | { readonly kind: 'manifest'; readonly folder: string; readonly folderName: string; readonly isPlain: boolean }
  | { readonly kind: 'rows'; readonly batchId: string };

/** `undefined` for any other file, such as an output. */
export function archivedFile(name: string): ArchivedFile | undefined {
  const [, workflow, number] = /^\.creates\/[0-9a-f]{2}\/([^/]+)\.(\d+)\.json$/.exec(name) ?? [];
  if (workflow !== undefined) return { kind: 'create', workflowId: safeDecode(workflow), createNumber: Number(number) };
  const [, batchId] = /^batches\/([^/]+)\/results\/[^/]+\/(?:\d+|orphaned)\.jsonl$/.exec(name) ?? [];
  if (batchId !== undefined) return { kind: 'rows', batchId };
  const [, folder, prefix] = /^((?:.*\/)?)([^/]*)manifest\.json$/.exec(name) ?? [];
  if (folder === undefined) return undefined;
  return { kind: 'manifest', folder, folderName: safeDecode(folder.split('/').at(-2) ?? ''), isPlain: prefix === '' };
}

/** An incomplete record says only that a create may have been sent. */
export interface RecordedCreate {
  readonly workflowId: string;
  readonly createNumber: number;
  readonly sentAtMs: number | null;
  readonly requestId: string | null;
  readonly account: string | null;
  readonly webAppId: number | null;
  readonly end: CreateEnd | null;
}

export function toRecordedCreate(
  file: Extract<ArchivedFile, { readonly kind: 'create' }>,
  content: Buffer,
): RecordedCreate {
  const { workflowId = file.workflowId, sentAt = '', requestId, ...record } = parseCreateRecord(content);
  const { account = null, webAppId = null, end = null } = record;
  const sentAtMs = Date.parse(sentAt);
  return {
    workflowId,
    createNumber: file.createNumber,
    sentAtMs: Number.isNaN(sentAtMs) ? null : sentAtMs,
    requestId: isRequestId(requestId) ? requestId : null,
    account,
    webAppId,
    end,
  };
}

/** The last create first, whatever the records say. Throws ArchiveError. */
export async function* readCreates(
  archive: Archive,
  workflowId: string,
): AsyncGenerator<Partial<CreateRecord>, void, undefined> {
  const creates: { readonly name: string; readonly createNumber: number }[] = [];
  for await (const create of listCreates(archive, workflowId)) creates.push(create);
  creates.sort((one, other) => other.createNumber - one.createNumber);
  for (const { name } of creates) yield parseCreateRecord(await archive.read(name));
}

/** Null when the archive has no record of the batch. Throws ArchiveError, and {@link ResultsError}. */
export async function readBatchLayout(archive: Archive, batchId: string): Promise<BatchLayout | null> {
  const name = `${batchFolder(batchId)}/batch.json`;
  const text = await archive.read(name);
  if (text === undefined) return null;
  const layout = parseLayout(text.toString('utf8'));
  const where = `The record ${archive.locate(name)}`;
  if (layout === undefined) {
    throw new ResultsError('damaged', `${where} is damaged: it does not say which rows the record is of.`);
  }
  if (layout.id === batchId) return layout;
  throw new ResultsError('otherBatch', `${where} is that of the batch ${showValue(layout.id)}; give another --id.`);
}

export function recordFolder(batchId: string, digest: string): string {
  return `${batchFolder(batchId)}/results/${digest.slice(0, 12)}`;
}

/** Empty before the page's first row has ended. Throws ArchiveError, {@link ResultsError} for a damaged one. */
export async function readRecordPage(archive: Archive, name: string): Promise<readonly RowRecord[]> {
  const content = await archive.read(name);
  if (content === undefined) return [];
  try {
    return parseRecordText(new TextDecoder('utf8', { fatal: true }).decode(content));
  } catch (error) {
    throw new ResultsError('damaged', `The record ${archive.locate(name)} is damaged: ${errorMessage(error)}.`);
  }
}

const pagesAtOnce = 8;

/** In the order of the row file. Throws ArchiveError, {@link ResultsError}, the signal's reason. */
export async function* readBatchRecord(
  archive: Archive,
  batchId: string,
  layout: Pick<BatchLayout, 'digest' | 'pages'>,
  {
    rows,
    signal,
  }: {
    /** Those of the row file, those on record that it does not have any more (`gone`), or both. */
    readonly rows: 'ofFile' | 'gone' | 'all';
    readonly signal?: AbortSignal;
  },
): AsyncGenerator<RowRecord, void, undefined> {
  const folder = recordFolder(batchId, layout.digest);
  // A decision about what is paid counts no pages beyond the layout; results show whatever is there.
  const lastPage = rows === 'all' ? layout.pages : Infinity;
  const pages: number[] = [];
  if (rows !== 'gone') {
    for await (const { name } of archive.list(folder)) {
      const page = Number(/^(\d{1,15})\.jsonl$/.exec(name.slice(folder.length + 1))?.[1] ?? NaN);
      if (page < lastPage) pages.push(page);
    }
  }
  const names = pages.sort((one, other) => one - other).map((page) => `${folder}/${page}.jsonl`);
  if (rows !== 'ofFile') names.push(`${folder}/orphaned.jsonl`);
  const read = Readable.from(names).map((name: string) => readRecordPage(archive, name), {
    concurrency: pagesAtOnce,
    signal,
  });
  try {
    for await (const records of read as AsyncIterable<readonly RowRecord[]>) yield* records;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}

/** By key, gone rows included; null where the archive has nothing of the batch. Throws as {@link readBatchRecord}. */
export async function readRecordedRows(
  archive: Archive,
  batchId: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, RowRecord> | null> {
  signal?.throwIfAborted();
  const layout = await readBatchLayout(archive, batchId);
  if (layout === null) return null;
  signal?.throwIfAborted();
  const rows = new Map<string, RowRecord>();
  for await (const record of readBatchRecord(archive, batchId, layout, { rows: 'all', signal })) {
    rows.set(record.key, record);
  }
  return rows;
}

/** Of each task of a row; undefined where it is not known. */
export function readCosts(record: RowRecord): readonly (Money | undefined)[] {
  return allCreates(record)
    .filter(isKnownCreate)
    .map(({ cost }) => cost);
}

const maxApps = 20;

/** Reads one small file an app, of at most 20. Throws ArchiveError, and the signal's reason. */
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
