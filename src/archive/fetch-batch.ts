import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { errorMessage } from '../core/text';
import { pickPlace, type RowPlace } from '../core/batch/row-place';
import type { ResultLine } from './result-line';
import type { Archive } from '../storage/archive/archive';
import { archivedFiles, findArchivedTask, fetchTask, namesOfPath, requireComplete } from './archived-task';
import type { BatchResults } from './batch-results';
import type { Destination } from './destination';
import { ResultsError } from './errors';
import { ResultNames, type ResultNameTemplate } from './result-names';

export interface FetchBatchOptions {
  readonly destination: Destination;
  readonly names: ResultNameTemplate;
  /** Also what is there of incomplete and failed rows. */
  readonly partial: boolean;
  /** As rows gave them or as their tasks have them, also of rows gone from the file. @default all of the file */
  readonly keys?: readonly string[];
  /** Also rows on record that the row file does not have any more. @default false */
  readonly gone?: boolean;
  readonly signal: AbortSignal;
  /** Called after each row, and often while files come. */
  readonly onProgress: (count: Readonly<FetchCount>) => void;
}

export interface FetchCount {
  rows: number;
  fetched: number;
  /** Rows that have nothing to fetch: they failed, were canceled, or were not started. */
  without: number;
  notStarted: number;
  failed: number;
  files: number;
  bytes: number;
  kept: number;
}

export interface FailedRow extends RowPlace {
  readonly key: string;
  readonly message: string;
}

export interface FetchedBatch extends Readonly<FetchCount> {
  readonly failures: readonly FailedRow[];
  readonly goneRows: number;
  /** Keys that were asked for, and that no row has. */
  readonly unknownKeys: readonly string[];
}

const rowsAtOnce = 16;
const maxFailures = 100;
/** After so many in a row the archive or the folder cannot be used. */
const maxFailuresInARow = 64;

/** A row that cannot be fetched does not end it. Throws ArchiveError, {@link ResultsError}, or the signal's reason. */
export async function fetchBatch(
  archive: Archive,
  results: BatchResults,
  options: FetchBatchOptions,
): Promise<FetchedBatch> {
  const { signal, onProgress } = options;
  const count: FetchCount = { rows: 0, fetched: 0, without: 0, notStarted: 0, failed: 0, files: 0, bytes: 0, kept: 0 };
  const failures: FailedRow[] = [];
  let failuresInARow = 0;
  const fetchNext = async (row: ResultLine): Promise<void> => {
    try {
      const isFetched = await fetchRow(archive, row, names, count, options);
      if (isFetched) failuresInARow = 0;
      count[isFetched ? 'fetched' : 'without'] += 1;
      if (row.status === 'NotStarted') count.notStarted += 1;
    } catch (error) {
      signal.throwIfAborted();
      count.failed += 1;
      failuresInARow += 1;
      const message = errorMessage(error);
      if (failures.length < maxFailures) failures.push({ key: row.key, ...pickPlace(row), message });
      if (failuresInARow < maxFailuresInARow) return;
      throw new ResultsError('missing', `${failuresInARow} rows in a row could not be fetched; the last: ${message}`);
    } finally {
      count.rows += 1;
      onProgress(count);
    }
  };
  const isAsked = options.gone === true || options.keys !== undefined;
  const goneRows = await results.goneRows().catch((error: unknown) => {
    // Rows that were not named do not block the others.
    if (isAsked || !(error instanceof ResultsError)) throw error;
    return [];
  });
  // Without those that are among the rows: a run that was refused had laid out another row file.
  const gone = new Map(goneRows.map((row) => [row.workflowId, row]));
  const names = new ResultNames(options.names);
  for (const row of goneRows) names.add(row);
  for await (const row of results.rows()) names.add(row);
  const keys = new Set(options.keys);
  const unknownKeys = new Set(keys);
  const isWanted = ({ key, workflowId }: ResultLine): boolean => {
    const found = [key, taskKey(workflowId)].filter((one) => keys.has(one));
    for (const one of found) unknownKeys.delete(one);
    return options.keys === undefined || found.length > 0;
  };
  const rows = async function* (): AsyncGenerator<ResultLine, void, undefined> {
    for await (const row of results.rows()) {
      gone.delete(row.workflowId);
      if (isWanted(row)) yield row;
    }
    if (isAsked) yield* [...gone.values()].filter(isWanted);
  };
  await Readable.from(rows()).forEach(fetchNext, { concurrency: rowsAtOnce, signal });
  return { ...count, failures, goneRows: isAsked ? 0 : gone.size, unknownKeys: [...unknownKeys] };
}

async function fetchRow(
  archive: Archive,
  row: ResultLine,
  names: ResultNames,
  count: FetchCount,
  { destination, partial, signal, onProgress }: FetchBatchOptions,
): Promise<boolean> {
  const { status, manifest, requestId } = row;
  if (manifest === null || (status !== 'Success' && !partial)) {
    if (status !== 'Success') return false;
    throw new ResultsError('missing', 'its result does not say where its manifest is');
  }
  const task = await findArchivedTask(archive, namesOfPath(archive, manifest), requestId, null);
  if (task === undefined) {
    throw new ResultsError('missing', `its manifest ${manifest} is not in the archive ${archive.location}`);
  }
  if (!partial) requireComplete(task, 'Fetch what is there with --partial.');
  await fetchTask(archive, task, {
    destination,
    names: names.of(
      row,
      archivedFiles(task).map(({ file }) => extname(file)),
    ),
    atOnce: 2,
    signal,
    onFile: ({ isNew, bytes }) => {
      if (isNew) {
        count.files += 1;
        count.bytes += bytes;
      } else count.kept += 1;
      onProgress(count);
    },
  });
  return true;
}

function taskKey(workflowId: string): string {
  return workflowId.split(':').at(-1) ?? '';
}
