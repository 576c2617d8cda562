import type {
  ChangedRow,
  RenamedRows,
  RowCursor,
  StartMode,
  StartRowsResult,
} from '../contract/batch/batch-activities';
import type { RowChoice } from '../contract/batch/batch-input';
import { isRetryable, type RowRecord, type RowRetry, wasRefusedUnpaid } from '../contract/batch/batch-rows';
import { failureTypes } from '../contract/failure-types';
import { formatRowPlace, pickKeys, pickPlace, shownKey } from '../core/batch/row-place';
import { formatCount, formatCountOf, showValue } from '../core/text';
import type { PreparedRow } from './prepared-rows';

export interface StartRule {
  readonly mode: StartMode;
  readonly choice: RowChoice;
  /** With mode `retryable`: since when rows failed in this run of the batch; ISO-8601. */
  readonly since?: string;
}

export interface ChosenRow {
  readonly row: PreparedRow;
  readonly previous: RowRecord | null;
}

export interface ChosenRows {
  readonly chosen: readonly ChosenRow[];
  /** Left as they are, in a pass over the failed ones. */
  readonly left: readonly RowRecord[];
  readonly onRecord: StartRowsResult['onRecord'];
  readonly taken: number;
}

/** Of ends, as JSON, in one result; Temporal refuses one of more than 2 MiB. */
export const maxEndBytes = 500_000;

/** Whether a run starts the row, by what is on record under its key. Also decides for `--dry-run`. */
export function isToStart(
  { digest }: Pick<PreparedRow, 'digest'>,
  previous: RowRecord | null,
  rule: StartRule,
): boolean {
  const { mode, choice, since = '' } = rule;
  const retry = allowedRetry(rule);
  // Neither a new row nor one whose content changed is to be paid.
  if (retry === 'unpaid') return previous !== null && wasRefusedUnpaid(previous);
  if (previous === null) return mode === 'new';
  const isChanged = previous.digest !== digest;
  // Rows that failed in an earlier run are left alone, unless they are asked for.
  if (mode === 'retryable') {
    return !isChanged && isRetryable(previous) && Date.parse(previous.endedAt) >= Date.parse(since);
  }
  if (previous.status === 'Success' && (mode === 'failed' || !isChanged)) return false;
  if (isChanged) return choice.allowChanged === true || wasRefusedUnpaid(previous);
  // Its key stood for another row; now this row's own task is on record.
  if (previous.failure?.type === failureTypes.InputChanged) return true;
  return retry === 'any';
}

/** Also of a task that Temporal has as over: it may be a later one than the record knows. */
export function allowedRetry({ mode, choice }: StartRule): RowRetry {
  if (choice.retryFailed === true || mode !== 'new') return 'any';
  return choice.retryUnpaid === true ? 'unpaid' : 'none';
}

/** Whether the row's own task, which is paid, may follow one of another content under its key. */
export function mayReplace(rule: StartRule): boolean {
  return rule.choice.allowChanged === true && allowedRetry(rule) !== 'unpaid';
}

/** Also counts the rows on record that are not started. Pure. */
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

export const countNames = { Success: 'success', Failed: 'failed', Canceled: 'canceled' } as const;

/** Null after the last row of the last page. */
export function cursorAfter(page: number, taken: number, pageRows: number, pages: number): RowCursor | null {
  if (taken < pageRows) return { page, skip: taken };
  return page + 1 < pages ? { page: page + 1, skip: 0 } : null;
}

const maxNamed = 20;

export interface RefusedRows {
  readonly changed: number;
  readonly changedRows: readonly ChangedRow[];
  /** Null when no row can be one on record under another key. */
  readonly renamed: RenamedRows | null;
}

/** How the rows of a file stand to their batch's record. Also decides for `--dry-run`. */
export class RecordComparison {
  readonly counts = {
    success: 0,
    failed: 0,
    canceled: 0,
    new: 0,
    /** On record with other content: `changed` may be paid, `corrected` was refused unpaid. */
    changed: 0,
    corrected: 0,
    succeeded: 0,
  };
  readonly changed: { readonly row: PreparedRow; readonly record: RowRecord }[] = [];
  readonly #firstNew: PreparedRow[] = [];

  add(row: PreparedRow, record: RowRecord | undefined): void {
    const { counts } = this;
    if (record === undefined) {
      counts.new += 1;
      if (this.#firstNew.length < maxNamed) this.#firstNew.push(row);
      return;
    }
    counts[countNames[record.status]] += 1;
    if (record.digest === row.digest) {
      if (record.status === 'Success') counts.succeeded += 1;
    } else if (wasRefusedUnpaid(record)) counts.corrected += 1;
    else {
      counts.changed += 1;
      if (this.changed.length < maxNamed) this.changed.push({ row, record });
    }
  }

  /** Undefined when a run refuses none. `gone` are records of keys that no row of the file has. */
  refusal(gone: readonly RowRecord[], choice: RowChoice): RefusedRows | undefined {
    const changed = choice.allowChanged === true ? 0 : this.counts.changed;
    const missing = gone.filter((record) => !wasRefusedUnpaid(record));
    const isRenamed = choice.allowNew !== true && this.counts.new > 0 && missing.length > 0;
    if (changed === 0 && !isRenamed) return undefined;
    const changedRows = changed === 0 ? [] : this.changed.map(({ row }) => ({ ...pickPlace(row), ...pickKeys(row) }));
    const renamed = {
      newRows: this.counts.new,
      firstNew: this.#firstNew.map((row) => ({ ...pickPlace(row), ...pickKeys(row) })),
      missingRows: missing.length,
      firstMissing: missing.slice(0, maxNamed).map(pickKeys),
    };
    return { changed, changedRows, renamed: isRenamed ? renamed : null };
  }
}

/** In a message; the details have more. */
const maxShown = 3;

/** Three lines: what is wrong, how nothing is paid twice, and how to pay. */
export function refusalWords({ changed, changedRows, renamed }: RefusedRows): string {
  const [what, unpaid, paid]: [string[], string[], string[]] = [[], [], []];
  if (renamed !== null) {
    const { newRows, firstNew, missingRows, firstMissing } = renamed;
    const added = firstNew.map((row) => `${formatRowPlace(row)}: ${showValue(shownKey(row))}`);
    const missing = firstMissing.map((row) => showValue(shownKey(row)));
    what.push(
      `${formatCountOf(newRows, 'key')} of the rows ${newRows === 1 ? 'is' : 'are'} not on record (${listed(added, newRows)}), and ` +
        `${formatCountOf(missingRows, 'key')} on record ${missingRows === 1 ? 'is' : 'are'} not among the rows (${listed(missing, missingRows)}).`,
    );
    unpaid.push('Give rows that were renamed their keys on record, or another file an id of its own (--id).');
    paid.push('If the new keys are other rows, say so with allowNew (--allow-new): they are run and paid.');
  }
  if (changed > 0) {
    const rows = changedRows.map((row) => `${formatRowPlace(row)}: ${showValue(shownKey(row))}${changedWords(row)}`);
    what.push(
      `${formatCountOf(changed, 'row')} ${changed === 1 ? 'has' : 'have'} other content than on record (${listed(rows, changed)}).`,
    );
    unpaid.push('Put back what was there.');
    paid.push('To run changed rows again, say so with allowChanged (--allow-changed): they are paid anew.');
  }
  return [what, unpaid, paid].map((sentences) => sentences.join(' ')).join('\n');
}

function listed(all: readonly string[], count: number): string {
  const shown = all.slice(0, maxShown);
  const more = count > shown.length ? `, and ${formatCount(count - shown.length)} more` : '';
  return `${shown.join(', ')}${more}`;
}

function changedWords({ changedInputs = [] }: ChangedRow): string {
  const words = changedInputs.map(({ key, columns = [key], before, now }) => {
    return `${columns.map((name) => showValue(name)).join(' and ')} was ${before} and is ${now}`;
  });
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}
