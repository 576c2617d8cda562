import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { cancellationSignal, log } from '@temporalio/activity';
import type { BatchCosts, ReportBatchInput, ReportBatchResult } from '../../contract/batch/batch-activities';
import type { RowsReference } from '../../contract/batch/batch-input';
import {
  addUploads,
  maxFailureTypes,
  noUploads,
  type RowRecord,
  type RowUploads,
} from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import { AppInputNames } from '../../domain/app-inputs';
import { AppSampler, type AppSamples, toFigures } from '../../domain/estimate';
import { MoneySums } from '../../domain/money';
import { pickKeys, pickPlace } from '../../domain/batch/row-place';
import { errorMessage } from '../../domain/text';
import { appSamplesName, maxAppSamplesBytes, withBatch } from '../../formats/app-samples';
import { type Archive, readSmall } from '../../storage/archive/archive';
import { ArchiveError } from '../../storage/errors';
import { type ResultLine, toResultLine } from '../../formats/result-line';
import { ResultsTable } from '../../formats/results-table';
import { allCreates, createsWithoutResult, rowCost } from '../../formats/row-end';
import { toReportFacts } from '../../report/batch-facts';
import { openPageAssets, type PageAssets } from '../../report/page-assets';
import type { ReportRow } from '../../report/report-data';
import { reportHtml } from '../../report/report-html';
import { relativeHref, toReportCells, toReportRow } from '../../report/report-row';
import type { PreparedRow } from '../../rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { BatchRecord } from './batch-record';
import { InputColumns } from './input-columns';
import { BatchRows } from './prepared-rows';

/**
 * Joins the batch's record in the order of its rows into `results.jsonl`, `results.csv` and `report.html`, each replaced
 * as a whole, and counts. One page is held at a time. Repeating it makes the same files.
 */
export async function reportBatch(
  dependencies: BatchDependencies,
  input: ReportBatchInput,
): Promise<ReportBatchResult> {
  const { id, rows: reference, source = null, ending = 'completed', badRows = null } = input;
  const progress = { batch: id, page: 0, pages: 3 * reference.pages };
  return await withHeartbeat(
    () => progress,
    async () => {
      const rows = await BatchRows.open(reference, dependencies.sources);
      const record = new BatchRecord(dependencies.archive, id);
      const tally = new BatchStats();
      const keep = async (name: string, texts: AsyncIterable<string>): Promise<string> => {
        const content = Readable.from(texts, { objectMode: false });
        return (await dependencies.archive.put(name, content, {}, cancellationSignal())).path;
      };
      const pages = async function* (): AsyncGenerator<readonly JoinedRow[], void, undefined> {
        for await (const page of joinedPages(rows, record, reference)) {
          yield page;
          progress.page += 1;
        }
      };
      const jsonl = async function* (): AsyncGenerator<string, void, undefined> {
        for await (const page of pages()) {
          for (const joined of page) tally.add(joined);
          yield jsonlText(page.map((joined) => toResultLine(id, joined.row, joined.record)));
        }
      };
      const written = {
        jsonl: await keep(record.resultName('results.jsonl'), jsonl()),
        csv: await keep(record.resultName('results.csv'), tableTexts(id, pages())),
      };
      await keepSamples(dependencies.archive, id, tally.apps);
      const page = written.csv.replace(/results\.csv$/, 'report.html');
      const rowsOfReport = async function* (): AsyncGenerator<readonly ReportRow[], void, undefined> {
        let columns: readonly string[] = [];
        for await (const joined of pages()) {
          columns = joined[0]?.row.table?.columns ?? columns;
          yield joined.map(({ row, record }) => {
            const reported = toReportRow(toResultLine(id, row, record), (path) => relativeHref(page, path));
            const cells = toReportCells(columns, row.cells ?? []);
            return cells.length === 0 ? reported : { ...reported, cells };
          });
        }
      };
      const assets = await pageAssetsIfAny();
      tally.addGone((await record.orphaned(reference.digest)).values());
      if (assets === undefined) return { ...written, ...tally.result() };
      const facts = toReportFacts(
        {
          ...{ id, ending, source, badRows, goneRows: tally.goneRows },
          archive: page.slice(0, -posix.basename(page).length - 1),
        },
        new Date(),
      );
      const html = reportHtml(facts, rowsOfReport(), assets);
      return { ...written, html: await keep(record.resultName('report.html'), html), ...tally.result() };
    },
  );
}

/** `results.csv`, in the form of the row file. */
async function* tableTexts(
  id: string,
  pages: AsyncIterable<readonly JoinedRow[]>,
): AsyncGenerator<string, void, undefined> {
  let table: ResultsTable | undefined;
  for await (const page of pages) {
    if (table === undefined) {
      table = new ResultsTable(page[0]?.row.table);
      yield table.head();
    }
    yield table.text(page.map(({ row, record }) => ({ ...toResultLine(id, row, record), cells: row.cells ?? [] })));
  }
  if (table === undefined) yield new ResultsTable().head();
}

/** An installation that lacks the page's script does not hold up the end of a batch. */
async function pageAssetsIfAny(): Promise<PageAssets | undefined> {
  try {
    return await openPageAssets();
  } catch (error) {
    log.error('no report.html: the script of its page is missing; install Longhaul anew', {
      error: errorMessage(error),
    });
    return undefined;
  }
}

/** A row of the batch and how it ended; without a record it was never started. */
export interface JoinedRow {
  readonly row: PreparedRow;
  readonly record: RowRecord | undefined;
}

/** All rows in their order with what is on record of them, a page at a time. */
async function* joinedPages(
  rows: BatchRows,
  record: BatchRecord,
  { digest }: RowsReference,
): AsyncGenerator<readonly JoinedRow[], void, undefined> {
  const signal = cancellationSignal();
  let columns: InputColumns | undefined;
  for await (const { page, rows: read } of rows.all()) {
    signal.throwIfAborted();
    const records = await record.page(digest, page);
    const named = (columns ??= new InputColumns(read[0]?.table));
    yield read.map((row) => ({ row, record: withColumns(ownRecord(row, records.get(row.key)), named) }));
  }
}

/** A person knows the columns of the sheet; the record has the service's own words. */
function withColumns(record: RowRecord | undefined, columns: InputColumns): RowRecord | undefined {
  if (record?.failure == null) return record;
  const { failure } = record;
  return { ...record, failure: { ...failure, message: columns.addTo(failure.message) } };
}

/** What was run under the key with another content tells nothing of this row. */
function ownRecord(row: PreparedRow, record: RowRecord | undefined): RowRecord | undefined {
  const isOwn = record?.digest === row.digest || record?.failure?.type === failureTypes.InputChanged;
  return isOwn ? record : undefined;
}

const maxSlowest = 10;
const maxUnsuccessful = 20;

type GoneRows = NonNullable<BatchCosts['goneRows']>;
type SlowRow = ReportBatchResult['slowest'][number];
type UnsuccessfulRow = ReportBatchResult['unsuccessful'][number];

/** The figures of a batch, counted row by row; holds no more than those that it names. */
class BatchStats {
  readonly #counts = {
    success: 0,
    failed: 0,
    canceled: 0,
    notStarted: 0,
    outputs: 0,
    outputBytes: 0,
    failedOutputs: 0,
  };
  readonly #apps = new AppSampler();
  readonly #inputs = new AppInputNames();
  readonly #costs = new MoneySums();
  readonly #costsWithoutResult = new MoneySums();
  #knownCosts = 0;
  #unknownCosts = 0;
  readonly #goneCosts = new MoneySums();
  readonly #gone = { rows: 0, unknownRows: 0 };
  #uploads: RowUploads = noUploads;
  readonly #failures = new Map<string, number>();
  #slowest: SlowRow[] = [];
  readonly #unsuccessful: UnsuccessfulRow[] = [];

  add({ row, record }: JoinedRow): void {
    if (record === undefined) {
      this.#counts.notStarted += 1;
      return;
    }
    this.#countEnd(record);
    this.#countCost(record);
    this.#apps.add(row.input.webAppId, {
      ms: record.status === 'Success' ? took(record) : null,
      cost: rowCost(record),
    });
    if (record.status === 'Success') this.#inputs.add(row.input.webAppId, Object.keys(row.input.inputs));
    const placed = { ...pickKeys(row), ...pickPlace(row) };
    const ms = took(record);
    this.#slowest = [...this.#slowest, { ...placed, ms }].sort((one, other) => other.ms - one.ms).slice(0, maxSlowest);
    if (record.status !== 'Success' && this.#unsuccessful.length < maxUnsuccessful) {
      this.#unsuccessful.push({ ...placed, ...(record.failure ?? wordsWithoutFailure(record)) });
    }
  }

  /** Rows on record that are not among the batch's any more: what they cost is paid all the same. */
  addGone(records: Iterable<RowRecord>): void {
    for (const record of records) {
      this.#gone.rows += 1;
      const creates = allCreates(record);
      if (isCostUnknown(creates)) this.#gone.unknownRows += 1;
      for (const { cost } of creates) if (cost !== undefined) this.#goneCosts.add(cost);
    }
  }

  /** Null: there are none. */
  get goneRows(): GoneRows | null {
    return this.#gone.rows === 0 ? null : { ...this.#gone, sums: this.#goneCosts.list() };
  }

  /** A sample of each app's rows, and which inputs they had. */
  get apps(): readonly AppSamples[] {
    return this.#apps.list().map((app) => {
      const inputs = this.#inputs.get(app.webAppId);
      return inputs === null ? app : { ...app, inputs };
    });
  }

  result(): Omit<ReportBatchResult, 'jsonl' | 'csv'> {
    const { goneRows } = this;
    const failures = Object.fromEntries(this.#failures);
    return {
      ...this.#counts,
      costs: {
        sums: this.#costs.list(),
        withoutResult: this.#costsWithoutResult.list(),
        knownRows: this.#knownCosts,
        unknownRows: this.#unknownCosts,
        ...(goneRows !== null && { goneRows }),
      },
      apps: this.apps.map((app) => toFigures(app.webAppId, [app])),
      uploads: this.#uploads,
      failures,
      slowest: this.#slowest,
      unsuccessful: this.#unsuccessful,
    };
  }

  /** Every attempt of the row counts; those before the last brought no result. */
  #countCost(record: RowRecord): void {
    const creates = allCreates(record);
    if (isCostUnknown(creates)) this.#unknownCosts += 1;
    else if (creates.some(({ cost }) => cost !== undefined)) this.#knownCosts += 1;
    for (const { cost } of creates) if (cost !== undefined) this.#costs.add(cost);
    for (const { cost } of createsWithoutResult(record)) if (cost !== undefined) this.#costsWithoutResult.add(cost);
  }

  #countEnd({ status, failure, outputCount, outputBytes, failedOutputCount = 0, uploads }: RowRecord): void {
    const counts = this.#counts;
    if (status === 'Success') counts.success += 1;
    else if (status === 'Canceled') counts.canceled += 1;
    else {
      const type = failure?.type ?? status;
      const name = this.#failures.has(type) || this.#failures.size < maxFailureTypes ? type : 'Other';
      counts.failed += 1;
      this.#failures.set(name, (this.#failures.get(name) ?? 0) + 1);
    }
    counts.outputs += outputCount;
    counts.outputBytes += outputBytes;
    counts.failedOutputs += failedOutputCount;
    this.#uploads = addUploads(this.#uploads, uploads ?? noUploads);
  }
}

/** Whether a task of the row may have cost something that is not known. */
function isCostUnknown(creates: ReturnType<typeof allCreates>): boolean {
  return creates.some(({ cost, requestId }) => cost === undefined && requestId !== null);
}

function took({ startedAt, endedAt }: RowRecord): number {
  return Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}

/**
 * Keeps what the rows of each app took and cost, for estimates of later files. Of two batches at once, one may be lost. An
 * estimate is worth less than the end of a batch, which does not wait for it.
 */
async function keepSamples(archive: Archive, batchId: string, apps: readonly AppSamples[]): Promise<void> {
  for (const app of apps) {
    const name = appSamplesName(app.webAppId);
    try {
      await archive.replace(name, withBatch(await readSmall(archive, name, maxAppSamplesBytes), batchId, app));
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      log.warn('what the rows of this batch took and cost is not kept for estimates', { name, error: error.message });
    }
  }
}

/** A task that was stopped did not fail. */
function wordsWithoutFailure({ status }: RowRecord): { readonly type: string; readonly message: string } {
  return {
    type: status,
    message: status === 'Canceled' ? 'The task was stopped.' : 'It ended without a failure message.',
  };
}

/** Lines of `results.jsonl`. */
function jsonlText(lines: readonly ResultLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
