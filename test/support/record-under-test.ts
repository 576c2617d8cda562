import { readFile, writeFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { createBatchActivities } from '../../src/activities';
import { openBatch } from '../../src/activities/batch/open-batch';
import type { BatchDependencies, RowTasks } from '../../src/activities/dependencies';
import type {
  BatchActivities,
  OpenBatchResult,
  ReportBatchResult,
  StartRowsInput,
  StartRowsResult,
} from '../../src/contract/batch/batch-activities';
import type { RowChoice, RowsReference } from '../../src/contract/batch/batch-input';
import type { BatchFailureDetails } from '../../src/contract/failure-details';
import type { RowRecord } from '../../src/contract/batch/batch-rows';
import type { Prices } from '../../src/money/money';
import type { Archive } from '../../src/storage/archive/archive';
import { asApplicationFailure } from '../../src/activities/to-application-failure';
import { FolderArchive } from '../../src/storage/archive/folder-archive';
import {
  type PreparedRow,
  type RowOptions,
  prepareRows,
  preparedRowsAt,
  readPreparedPage,
  readRows,
  rowFileAt,
} from '../../src/rows';
import { preparedRows, type TestRow, writePreparedRows } from './prepared-rows-under-test';
import { temporaryFolder } from './temporary-folder';
import { ActivityEnvironment } from './activity-environment';

const noTasks: RowTasks = {
  start: () => Promise.reject(new Error('no row is started here')),
  find: () => Promise.reject(new Error('no row is looked for here')),
  poll: () => Promise.reject(new Error('no row is looked at here')),
  closedRows: () => Promise.reject(new Error('no row is awaited here')),
  stop: () => Promise.reject(new Error('no row is stopped here')),
  cancelBatch: () => Promise.reject(new Error('no batch is canceled here')),
};

/** The activities that keep the record of a batch `b`, and its archive. */
export class RecordUnderTest {
  readonly archive: Archive;
  readonly #folder = temporaryFolder();
  readonly #parts: BatchDependencies;
  readonly #activities: BatchActivities;

  constructor(archive?: Archive, rowTasks: Partial<RowTasks> = {}, prices?: Prices) {
    const { path } = this.#folder;
    this.archive = archive ?? new FolderArchive(`${path}/archive`);
    const sources = { inputRoots: [path], inputHosts: [], maxBytes: 1024 ** 3, spoolFolder: path };
    this.#parts = { archive: this.archive, sources, rowTasks: { ...noTasks, ...rowTasks }, ...(prices && { prices }) };
    this.#activities = createBatchActivities(this.#parts);
  }

  close(): void {
    this.#folder.remove();
  }

  /** Writes rows, two on a page unless told otherwise. */
  async write(rows: readonly TestRow[], pageRows = 2): Promise<[RowsReference, PreparedRow[]]> {
    const prepared = preparedRows(rows);
    const name = `${rows.length}-${rows
      .slice(0, 9)
      .map(({ key, input }) => `${key}${input?.webAppId ?? ''}`)
      .join('-')}`;
    return [await writePreparedRows(this.#folder.path, name, prepared, pageRows), prepared];
  }

  /** Prepares the rows of a file, as `longhaul batch run` does. They all fit on one page. */
  async prepare(
    name: string,
    content: string,
    options: RowOptions = {},
  ): Promise<[RowsReference, readonly PreparedRow[]]> {
    const file = `${this.#folder.path}/${name}`;
    await writeFile(file, content);
    const outcomes = readRows(rowFileAt(file), { common: { webAppId: 5 }, ...options });
    const { rows, report } = await prepareRows(outcomes, { folder: this.#folder.path, name: 'prepared' });
    if (rows === null) throw new Error(JSON.stringify(report.firstProblems));
    return [rows, (await readPreparedPage(preparedRowsAt(rows.location), 0)) ?? []];
  }

  /**
   * Allows everything, unless told otherwise.
   *
   * @param mostSpare - how many records of rows that are left out are kept; default: as many as in production.
   */
  async open(
    rows: RowsReference,
    mostSpare?: number,
    choice: RowChoice = { allowChanged: true, allowNew: true },
  ): Promise<OpenBatchResult> {
    return await this.#run((input) => asApplicationFailure(null, () => openBatch(this.#parts, input, mostSpare)), {
      id: 'b',
      rows,
      choice,
    });
  }

  /** What a run without `--allow-changed` and `--allow-new` refuses. */
  async refused(rows: RowsReference): Promise<BatchFailureDetails['RowsChanged']> {
    const failure: unknown = await this.open(rows, undefined, {}).catch((error: unknown) => error);
    if (!(failure instanceof ApplicationFailure)) throw new Error('the rows were not refused');
    return failure.details?.[0] as BatchFailureDetails['RowsChanged'];
  }

  async record(digest: string, records: readonly RowRecord[], id = 'b'): Promise<void> {
    await this.#run(this.#activities.recordRows, { id, digest, records });
  }

  /** Its rows must not get as far as a task. */
  async start(rows: RowsReference, more: Partial<StartRowsInput> = {}): Promise<StartRowsResult> {
    const choice = { cursor: { page: 0, skip: 0 }, limit: 1, mode: 'new', choice: {} } as const;
    const defaults = { archive: '', watch: 'activity', names: null } as const;
    return await this.#run(this.#activities.startRows, { id: 'b', rows, ...choice, defaults, ...more });
  }

  async report(rows: RowsReference, more: { readonly badRows?: number } = {}): Promise<ReportBatchResult> {
    return await this.#run(this.#activities.reportBatch, { id: 'b', rows, ...more });
  }

  pageName({ digest }: Pick<RowsReference, 'digest'>, page: number, id = 'b'): string {
    return `batches/${id}/results/${digest.slice(0, 12)}/${page}.jsonl`;
  }

  async page(rows: RowsReference, page: number): Promise<unknown[]> {
    return linesOf((await this.archive.read(this.pageName(rows, page)))?.toString('utf8') ?? '');
  }

  /** Every name in the archive, but its identity's. */
  async names(): Promise<string[]> {
    const found: string[] = [];
    for await (const { name } of this.archive.list('')) if (name !== '.archive-id') found.push(name);
    return found.sort();
  }

  /** One run of an activity, as a worker does it. */
  #run<Input, Result>(activity: (input: Input) => Promise<Result>, input: Input): Promise<Result> {
    return new ActivityEnvironment().run(activity, input);
  }
}

export async function jsonLines(path: string): Promise<unknown[]> {
  return linesOf(await readFile(path, 'utf8'));
}

function linesOf(text: string): unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

/** How a row ended: well, unless told otherwise. */
export function endedRow(row: PreparedRow, page: number, more: Partial<RowRecord> = {}): RowRecord {
  const { key, index, line, digest } = row;
  return {
    ...{ key, index, line, page, digest, status: 'Success', requestId: `request-${key}`, createNumber: 1 },
    ...{ failure: null, outputs: [{ path: `/archive/${key}/0.png`, sha256: 'ab', bytes: 7 }], outputCount: 1 },
    ...{ outputBytes: 7, manifest: `/archive/${key}/manifest.json`, uploads: { files: 1, bytes: 9, shared: 0 } },
    startedAt: '2026-01-02T03:04:05.000Z',
    endedAt: '2026-01-02T03:04:06.500Z',
    ...more,
  };
}
