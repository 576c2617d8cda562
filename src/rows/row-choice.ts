import type { RowCursor, StartMode, StartRowsResult } from '../contract/batch/batch-activities';
import type { RowChoice } from '../contract/batch/batch-input';
import { isRetryable, type RowRecord, type RowRetry, wasRefusedUnpaid } from '../contract/batch/batch-rows';
import { failureTypes } from '../contract/failure-types';
import type { PreparedRow } from './prepared-rows';

/** Which rows a run starts. */
export interface StartRule {
  readonly mode: StartMode;
  readonly choice: RowChoice;
  /** With mode `retryable`: since when rows failed in this run of the batch; ISO-8601. */
  readonly since?: string;
}

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

/** So many bytes of ends, as JSON, are put into one result; Temporal refuses one of more than 2 MiB. */
export const maxEndBytes = 500_000;

/** Whether a run starts the row, by what is on record under its key. The run and `--dry-run` both decide by it. */
export function isToStart(
  { digest }: Pick<PreparedRow, 'digest'>,
  previous: RowRecord | null,
  rule: StartRule,
): boolean {
  const { mode, choice, since = '' } = rule;
  const retry = allowedRetry(rule);
  // Nothing else is to be paid then: neither a row that is new, nor one whose content changed.
  if (retry === 'unpaid') return previous !== null && wasRefusedUnpaid(previous);
  if (previous === null) return mode === 'new';
  const isChanged = previous.digest !== digest;
  // Rows that failed in an earlier run of the batch are left alone, unless somebody asks for them.
  if (mode === 'retryable') {
    return !isChanged && isRetryable(previous) && Date.parse(previous.endedAt) >= Date.parse(since);
  }
  if (previous.status === 'Success' && (mode === 'failed' || !isChanged)) return false;
  if (isChanged) return choice.allowChanged === true || wasRefusedUnpaid(previous);
  // Its key stood for another row then; now it is this row's own task that is on record.
  if (previous.failure?.type === failureTypes.InputChanged) return true;
  return retry === 'any';
}

/** Of a task that Temporal has as over, too: it may be a later one than the record knows. */
export function allowedRetry({ mode, choice }: StartRule): RowRetry {
  if (choice.retryFailed === true || mode !== 'new') return 'any';
  return choice.retryUnpaid === true ? 'unpaid' : 'none';
}

/** Whether the task of another content under the row's key may be followed by the row's own, which is paid. */
export function mayReplace(rule: StartRule): boolean {
  return rule.choice.allowChanged === true && allowedRetry(rule) !== 'unpaid';
}

/**
 * Chooses the next rows of a page to start, as many as the limit says, and counts those beside them that are on record
 * already. Pure.
 */
export function chooseRows(
  rows: readonly PreparedRow[],
  records: ReadonlyMap<string, RowRecord>,
  rule: StartRule & { readonly cursor: RowCursor; readonly limit: number },
): ChosenRows {
  const chosen: ChosenRow[] = [];
  const left: RowRecord[] = [];
  const onRecord = { success: 0, failed: 0, canceled: 0 };
  let taken = rule.cursor.skip;
  let leftBytes = 0;
  for (const row of rows.slice(taken)) {
    const previous = records.get(row.key) ?? null;
    const isStarted = isToStart(row, previous, rule);
    if ((isStarted && chosen.length >= rule.limit) || leftBytes > maxEndBytes) break;
    taken += 1;
    if (isStarted) chosen.push({ row, previous });
    else if (previous !== null) {
      onRecord[countNames[previous.status]] += 1;
      if (rule.mode === 'failed' && previous.status !== 'Success') {
        left.push(previous);
        leftBytes += Buffer.byteLength(JSON.stringify(previous));
      }
    }
  }
  return { chosen, left, onRecord, taken };
}

/** Where a row on record is counted. */
export const countNames = { Success: 'success', Failed: 'failed', Canceled: 'canceled' } as const;

/** Where the row after these stands; null after the last of the last page. */
export function cursorAfter(page: number, taken: number, pageRows: number, pages: number): RowCursor | null {
  if (taken < pageRows) return { page, skip: taken };
  return page + 1 < pages ? { page: page + 1, skip: 0 } : null;
}
