import { cancellationSignal } from '@temporalio/activity';
import type { RowRecord } from '../../contract/batch-rows';
import type { RowsReference } from '../../contract/batch-input';
import { failureTypes } from '../../contract/failure-types';
import type { PreparedRow } from '../../rows';
import type { BatchRecord } from './batch-record';
import type { BatchRows } from './prepared-rows';

/** A row of the batch and how it ended; without a record it was never started. */
export interface JoinedRow {
  readonly row: PreparedRow;
  readonly record: RowRecord | undefined;
}

/** All rows in their order with what is on record of them, a page at a time. */
export async function* joinedPages(
  rows: BatchRows,
  record: BatchRecord,
  { digest }: RowsReference,
): AsyncGenerator<readonly JoinedRow[], void, undefined> {
  const signal = cancellationSignal();
  for await (const { page, rows: read } of rows.all()) {
    signal.throwIfAborted();
    const records = await record.page(digest, page);
    yield read.map((row) => ({ row, record: ownRecord(row, records.get(row.key)) }));
  }
}

/** What was run under the key with another content tells nothing of this row. */
function ownRecord(row: PreparedRow, record: RowRecord | undefined): RowRecord | undefined {
  const isOwn = record?.digest === row.digest || record?.failure?.type === failureTypes.InputChanged;
  return isOwn ? record : undefined;
}
