import type { RowCursor, StartRowsInput, StartRowsResult } from '../../contract/batch/batch-activities';
import { isRetryable, type RowRecord, type RowRetry, wasRefusedUnpaid } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import type { PreparedRow } from '../../rows';
import { maxEndBytes } from './running-rows';

/** How rows of a page are chosen. */
export type RowChoice = Pick<
  StartRowsInput,
  'cursor' | 'limit' | 'mode' | 'since' | 'allowChanged' | 'retryFailed' | 'retryUnpaid'
>;

/** A row to start. */
export interface ChosenRow {
  readonly row: PreparedRow;
  /** What is on record under its key. */
  readonly previous: RowRecord | null;
}

/** What a page's next rows come to. */
export interface ChosenRows {
  readonly chosen: readonly ChosenRow[];
  /** Left as they are, in a pass over the failed ones. */
  readonly left: readonly RowRecord[];
  readonly onRecord: StartRowsResult['onRecord'];
  /** Rows of the page that are behind now. */
  readonly taken: number;
}

/**
 * Chooses the next rows of a page to start, as many as the limit says, and counts those beside them that are on record
 * already. Pure.
 */
export function chooseRows(
  rows: readonly PreparedRow[],
  records: ReadonlyMap<string, RowRecord>,
  choice: RowChoice,
): ChosenRows {
  const chosen: ChosenRow[] = [];
  const left: RowRecord[] = [];
  const onRecord = { success: 0, failed: 0, canceled: 0 };
  let taken = choice.cursor.skip;
  let leftBytes = 0;
  for (const row of rows.slice(taken)) {
    const previous = records.get(row.key) ?? null;
    const isToStart = mayStart(row, previous, choice);
    if ((isToStart && chosen.length >= choice.limit) || leftBytes > maxEndBytes) break;
    taken += 1;
    if (isToStart) chosen.push({ row, previous });
    else if (previous !== null) {
      onRecord[countOf(previous)] += 1;
      if (choice.mode === 'failed' && previous.status !== 'Success') {
        left.push(previous);
        leftBytes += Buffer.byteLength(JSON.stringify(previous));
      }
    }
  }
  return { chosen, left, onRecord, taken };
}

/** Where the row after these stands; null after the last of the last page. */
export function cursorAfter(page: number, taken: number, pageRows: number, pages: number): RowCursor | null {
  if (taken < pageRows) return { page, skip: taken };
  return page + 1 < pages ? { page: page + 1, skip: 0 } : null;
}

function mayStart(row: PreparedRow, previous: RowRecord | null, choice: RowChoice): boolean {
  const { mode, allowChanged } = choice;
  const allowed = allowedRetry(choice);
  // Nothing else is to be paid then: neither a row that is new, nor one whose content changed.
  if (allowed === 'unpaid') return previous !== null && wasRefusedUnpaid(previous);
  if (previous === null) return mode === 'new';
  if (mode === 'retryable') return previous.digest === row.digest && failedRetryably(previous, choice);
  if (previous.status === 'Success' && (mode === 'failed' || previous.digest === row.digest)) return false;
  if (previous.digest !== row.digest) return allowChanged || wasRefusedUnpaid(previous);
  // Its key stood for another row then; now it is this row's own task that is on record.
  if (previous.failure?.type === failureTypes.InputChanged) return true;
  return allowed === 'any';
}

/** Of a task that Temporal has as over, too: it may be a later one than the record knows. */
export function allowedRetry({ mode, retryFailed, retryUnpaid = false }: RowChoice): RowRetry {
  if (retryFailed || mode !== 'new') return 'any';
  return retryUnpaid ? 'unpaid' : 'none';
}

/** Rows that failed in an earlier run of the batch are left alone, unless somebody asks for them. */
function failedRetryably(record: RowRecord, { since = '' }: RowChoice): boolean {
  return isRetryable(record) && Date.parse(record.endedAt) >= Date.parse(since);
}

function countOf({ status }: RowRecord): keyof StartRowsResult['onRecord'] {
  switch (status) {
    case 'Success':
      return 'success';
    case 'Failed':
      return 'failed';
    case 'Canceled':
      return 'canceled';
  }
}
