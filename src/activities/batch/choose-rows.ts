import type { RowCursor, StartRowsInput, StartRowsResult } from '../../contract/batch-activities';
import { failureTypes } from '../../contract/failure-types';
import type { RowRecord } from '../../contract/batch-rows';
import type { PreparedRow } from '../../rows';
import { maxEndBytes } from './at-once';

/** How rows of a page are chosen. */
export type RowChoice = Pick<StartRowsInput, 'cursor' | 'limit' | 'mode' | 'allowChanged' | 'retryFailed'>;

/** A row to start. */
export interface ChosenRow {
  readonly row: PreparedRow;
  /** What is on record under its key. */
  readonly former: RowRecord | null;
  /** Whether it may be started again when Temporal has it as over. */
  readonly mayRetry: boolean;
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
    const former = records.get(row.key) ?? null;
    const isToStart = mayStart(row, former, choice);
    if ((isToStart && chosen.length >= choice.limit) || leftBytes > maxEndBytes) break;
    taken += 1;
    if (isToStart) chosen.push({ row, former, mayRetry: choice.retryFailed || choice.mode === 'failed' });
    else if (former !== null) {
      onRecord[countOf(former)] += 1;
      if (choice.mode === 'failed' && former.status !== 'Success') {
        left.push(former);
        leftBytes += Buffer.byteLength(JSON.stringify(former));
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

function mayStart(row: PreparedRow, former: RowRecord | null, choice: RowChoice): boolean {
  const { mode, allowChanged, retryFailed } = choice;
  if (former === null) return mode === 'new';
  if (former.status === 'Success' && (mode === 'failed' || former.digest === row.digest)) return false;
  if (former.digest !== row.digest) return allowChanged;
  // Its key stood for another row then; now it is this row's own task that is on record.
  if (former.failure?.type === failureTypes.InputChanged) return true;
  return mode === 'failed' || retryFailed;
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
