import { wasRefusedUnpaid } from '../contract/batch/batch-rows';
import type { AppInputs } from '../domain/app-inputs';
import type { AppFigures } from '../domain/estimate';
import type { Money } from '../domain/money';
import { appSamplesName, maxAppSamplesBytes, parseFigures, parseInputs } from '../formats/app-samples';
import { allCreates, isKnownCreate } from '../formats/row-end';
import { type Archive, readSmall } from '../storage/archive/archive';
import { readBatchLayout, readBatchRecord } from './archive-reader';

/** What is on record of a row. */
export interface RecordedRow {
  /** As the row gave it, where its task has another key. Absent: the same, or it is not known. */
  readonly originalKey?: string | undefined;
  readonly status: 'Success' | 'Failed' | 'Canceled';
  /** Of the content that it was run with. */
  readonly digest: string;
  /** It was refused before anything was paid. */
  readonly isUnpaid: boolean;
  /** What each of its tasks cost; undefined where that is not known. */
  readonly costs: readonly (Money | undefined)[];
}

/**
 * The rows of a batch that are on record, by key, those included that its last row file did not have; null where the archive
 * has nothing of the batch. Throws ArchiveError, {@link ResultsError} for a damaged record, and the signal's reason.
 */
export async function readRecordedRows(
  archive: Archive,
  batchId: string,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, RecordedRow> | null> {
  signal?.throwIfAborted();
  const layout = await readBatchLayout(archive, batchId);
  if (layout === null) return null;
  signal?.throwIfAborted();
  const rows = new Map<string, RecordedRow>();
  for await (const record of readBatchRecord(archive, batchId, layout, { rows: 'all', signal })) {
    const { key, originalKey, status, digest } = record;
    const costs = allCreates(record)
      .filter(isKnownCreate)
      .map(({ cost }) => cost);
    rows.set(key, { originalKey, status, digest, isUnpaid: status === 'Failed' && wasRefusedUnpaid(record), costs });
  }
  return rows;
}

/** So many apps are looked up. */
const maxApps = 20;

/** What an archive knows of earlier rows. */
export interface EarlierRows {
  /** What they took and cost. */
  readonly figures: readonly AppFigures[];
  /** Of those that succeeded, by app. */
  readonly inputs: ReadonlyMap<number, AppInputs>;
}

/** What is known of earlier rows of these apps; one small file is read for each. Throws ArchiveError, and the signal's reason. */
export async function readEarlierRows(
  archive: Pick<Archive, 'read' | 'size'>,
  apps: Iterable<number>,
  signal?: AbortSignal,
): Promise<EarlierRows> {
  const figures: AppFigures[] = [];
  const inputs = new Map<number, AppInputs>();
  for (const webAppId of [...apps].slice(0, maxApps)) {
    signal?.throwIfAborted();
    const text = await readSmall(archive, appSamplesName(webAppId), maxAppSamplesBytes);
    const found = parseFigures(webAppId, text);
    if (found !== null) figures.push(found);
    const names = parseInputs(text);
    if (names !== null) inputs.set(webAppId, names);
  }
  return { figures, inputs };
}
