import { cancellationSignal } from '@temporalio/activity';
import type { RecordRowsInput } from '../../contract/batch-activities';
import type { RowRecord } from '../../contract/batch-rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { BatchRecord } from './batch-record';

/** Adds rows that ended to the batch's record, page by page. Repeating it changes nothing. */
export async function recordRows({ archive }: BatchDependencies, input: RecordRowsInput): Promise<void> {
  const { id, digest, records } = input;
  const record = new BatchRecord(archive, id);
  const progress = { batch: id, recorded: 0 };
  await withHeartbeat(
    () => progress,
    async () => {
      const signal = cancellationSignal();
      for (const [page, ended] of byPage(records)) {
        signal.throwIfAborted();
        await record.add(digest, page, ended);
        progress.recorded += ended.length;
      }
    },
  );
}

function byPage(records: readonly RowRecord[]): ReadonlyMap<number, readonly RowRecord[]> {
  const pages = new Map<number, RowRecord[]>();
  for (const record of records) {
    const page = pages.get(record.page) ?? [];
    pages.set(record.page, page);
    page.push(record);
  }
  return pages;
}
