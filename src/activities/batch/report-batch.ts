import { Readable } from 'node:stream';
import { cancellationSignal } from '@temporalio/activity';
import type { ReportBatchInput, ReportBatchResult } from '../../contract/batch-activities';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { BatchRecord } from './batch-record';
import { joinedPages, type JoinedRow } from './joined-rows';
import { BatchRows } from './prepared-rows';
import { csvHead, csvText, jsonlText, resultLine } from './result-lines';
import { Tally } from './tally';

/**
 * Joins the batch's record in the order of its rows into `results.jsonl` and `results.csv`, each replaced as a whole,
 * and counts. One page is held at a time. Repeating it makes the same files.
 */
export async function reportBatch(parts: BatchDependencies, input: ReportBatchInput): Promise<ReportBatchResult> {
  const { id, rows: reference } = input;
  const progress = { batch: id, page: 0, pages: 2 * reference.pages };
  return await withHeartbeat(
    () => progress,
    async () => {
      const rows = await BatchRows.open(reference, parts.sources);
      const record = new BatchRecord(parts.archive, id);
      const tally = new Tally();
      const keep = async (extension: 'jsonl' | 'csv', texts: AsyncIterable<string>): Promise<string> => {
        const content = Readable.from(texts, { objectMode: false });
        return (await parts.archive.put(record.resultName(extension), content, {}, cancellationSignal())).path;
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
          yield jsonlText(page.map((joined) => resultLine(id, joined)));
        }
      };
      const csv = async function* (): AsyncGenerator<string, void, undefined> {
        yield csvHead();
        for await (const page of pages()) yield csvText(page.map((joined) => resultLine(id, joined)));
      };
      return { jsonl: await keep('jsonl', jsonl()), csv: await keep('csv', csv()), ...tally.result() };
    },
  );
}
