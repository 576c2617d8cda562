import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import type { ReportBatchInput, ReportBatchResult } from '../../contract/batch/batch-activities';
import type { RowsReference } from '../../contract/batch/batch-input';
import { failureTypes } from '../../contract/failure-types';
import type { AppSamples } from '../../money/estimate';
import { errorMessage } from '../../core/text';
import { appSamplesName, maxAppSamplesBytes, withBatch } from '../../archive/app-samples';
import { type Archive, readSmall } from '../../storage/archive/archive';
import { ArchiveError } from '../../storage/errors';
import { type ResultLine, toResultLine } from '../../archive/result-line';
import { ResultsTable } from '../../archive/results-table';
import { toReportFacts } from '../../archive/report/batch-facts';
import { openPageAssets, type PageAssets } from '../../archive/report/page-assets';
import type { ReportRow } from '../../archive/report/report-data';
import { reportHtml } from '../../archive/report/report-html';
import { relativeHref, toReportRow } from '../../archive/report/report-row';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { BatchRecord } from './batch-record';
import { BatchStats, type JoinedRow } from './batch-stats';
import { BatchRows } from './prepared-rows';

/** Joins the record in row order into result files, and counts. Holds one page at a time. May be repeated. */
export async function reportBatch(
  dependencies: BatchDependencies,
  input: ReportBatchInput,
): Promise<ReportBatchResult> {
  const { id, rows: reference, source = null, files = null, ending = 'completed', badRows: leftOut = null } = input;
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
      const pages = async function* (): AsyncGenerator<readonly ReportedRow[], void, undefined> {
        for await (const page of joinedPages(id, rows, record, reference)) {
          yield page;
          progress.page += 1;
        }
      };
      const jsonl = async function* (): AsyncGenerator<string, void, undefined> {
        for await (const page of pages()) {
          for (const joined of page) tally.add(joined);
          yield page.map(({ line }) => `${JSON.stringify(line)}\n`).join('');
        }
      };
      const written = {
        jsonl: await keep(record.resultName('results.jsonl'), jsonl()),
        csv: await keep(record.resultName('results.csv'), tableTexts(pages())),
      };
      await keepSamples(dependencies.archive, id, tally.apps);
      const place = written.csv.replace(/results\.csv$/, 'report.html');
      const rowsOfReport = async function* (): AsyncGenerator<readonly ReportRow[], void, undefined> {
        for await (const page of pages()) {
          yield page.map(({ line }) => toReportRow(line, (path) => relativeHref(place, path)));
        }
      };
      const assets = await pageAssetsIfAny();
      tally.addGone((await record.page(reference.digest, 'orphaned')).values());
      if (assets === undefined) return { ...written, ...tally.result() };
      const folder = place.slice(0, -posix.basename(place).length - 1);
      const now = new Date(activityInfo().currentAttemptScheduledTimestampMs);
      const { goneRows } = tally;
      const facts = toReportFacts({ id, ending, source, files, leftOut, goneRows, archive: folder, webUi: null }, now);
      const html = reportHtml(facts, rowsOfReport(), assets);
      return { ...written, html: await keep(record.resultName('report.html'), html), ...tally.result() };
    },
  );
}

async function* tableTexts(pages: AsyncIterable<readonly ReportedRow[]>): AsyncGenerator<string, void, undefined> {
  let table: ResultsTable | undefined;
  for await (const page of pages) {
    if (table === undefined) {
      table = new ResultsTable(page[0]?.row.table);
      yield table.head();
    }
    yield table.text(page.map(({ line }) => line));
  }
  if (table === undefined) yield new ResultsTable().head();
}

/** A missing page script must not hold up the end of a batch. */
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

interface ReportedRow extends JoinedRow {
  readonly line: ResultLine;
}

async function* joinedPages(
  id: string,
  rows: BatchRows,
  record: BatchRecord,
  { digest }: RowsReference,
): AsyncGenerator<readonly ReportedRow[], void, undefined> {
  const signal = cancellationSignal();
  let columns: readonly string[] = [];
  for await (const { page, rows: read } of rows.all()) {
    signal.throwIfAborted();
    const records = await record.page(digest, page);
    columns = read[0]?.table?.columns ?? columns;
    yield read.map((row) => {
      const found = records.get(row.key);
      // A record of other content under the key tells nothing of this row.
      const isOwn = found?.digest === row.digest || found?.failure?.type === failureTypes.InputChanged;
      const joined = isOwn ? found : undefined;
      return { row, record: joined, line: toResultLine(id, row, joined, columns) };
    });
  }
}

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
