import type { RowRecord } from '../contract/batch/batch-rows';
import type { AppFigures } from '../domain/estimate';
import type { Money } from '../domain/money';
import { appSamplesName, maxAppSamplesBytes, parseFigures } from '../formats/app-samples';
import { allCreates, isKnownCreate } from '../formats/row-end';
import { type Archive, readSmall } from '../storage/archive/archive';
import { readBatchLayout, readBatchRecord } from './archive-reader';

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
  const layout = await readBatchLayout(archive, batchId);
  if (layout === null) return null;
  signal?.throwIfAborted();
  const rows = new Map<string, RowRecord>();
  for await (const record of readBatchRecord(archive, batchId, layout, { rows: 'all', signal }))
    rows.set(record.key, record);
  return rows;
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
