import type { ChangedRow, RenamedRows } from '../contract/batch/batch-activities';
import type { RowChoice } from '../contract/batch/batch-input';
import { type RowRecord, wasRefusedUnpaid } from '../contract/batch/batch-rows';
import { formatRowPlace, pickKeys, pickPlace, shownKey } from '../core/batch/row-place';
import { formatCount, formatCountOf, showValue } from '../core/text';
import type { PreparedRow } from './prepared-rows';
import { countNames } from './row-choice';

/** So many rows of each kind are named. */
const maxNamed = 20;

/** Rows that a run refuses as a whole, because one of them may be paid twice. */
export interface RefusedRows {
  /** Rows whose content is not the one on record, and may be paid already. */
  readonly changed: number;
  /** The first of them. */
  readonly changedRows: readonly ChangedRow[];
  /** Null when no row can be one on record under another key. */
  readonly renamed: RenamedRows | null;
}

/** How the rows of a file stand to their batch's record. The run and `--dry-run` both decide by it. */
export class RecordComparison {
  readonly counts = {
    success: 0,
    failed: 0,
    canceled: 0,
    new: 0,
    /** On record with other content: that may be paid, and that was refused unpaid. */
    changed: 0,
    corrected: 0,
    /** Succeeded, with this content. */
    succeeded: 0,
  };
  /** The first rows that changed, with what is on record under their keys. */
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

  /**
   * Which rows a run with this choice refuses; undefined when it starts them.
   *
   * @param gone - records of keys that no row of the file has.
   */
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

/** Why the rows are refused, and what to do, a line each. */
export function refusalWords({ changed, changedRows, renamed }: RefusedRows): string {
  const lines: string[] = [];
  if (renamed !== null) {
    const { newRows, firstNew, missingRows, firstMissing } = renamed;
    const added = firstNew.map((row) => `${formatRowPlace(row)}: ${showValue(shownKey(row))}`);
    const missing = firstMissing.map((row) => showValue(shownKey(row)));
    lines.push(
      `${formatCountOf(newRows, 'key')} of the rows ${newRows === 1 ? 'is' : 'are'} not on record (${listed(added, newRows)}), and ` +
        `${formatCountOf(missingRows, 'key')} on record ${missingRows === 1 ? 'is' : 'are'} not among the rows (${listed(missing, missingRows)}).`,
      'If rows were renamed, give them the keys on record. If this is another file, give it an id of its own (--id). ' +
        'If the new keys are other rows, say so with allowNew (--allow-new): they are then run and paid.',
    );
  }
  if (changed > 0) {
    const rows = changedRows.map((row) => `${formatRowPlace(row)}: ${showValue(shownKey(row))}${changedWords(row)}`);
    lines.push(
      `${formatCountOf(changed, 'row')} ${changed === 1 ? 'has' : 'have'} other content than on record (${listed(rows, changed)}).`,
      'Put back what was there, or give the rows other keys. To run them again under their keys, say so with ' +
        'allowChanged (--allow-changed): they are then paid anew.',
    );
  }
  return lines.join('\n');
}

function listed(shown: readonly string[], count: number): string {
  const more = count > shown.length ? `, and ${formatCount(count - shown.length)} more` : '';
  return `${shown.join(', ')}${more}`;
}

/** Such as ` ("2:ImageScale.width" was 512 and is 640)`, by the columns of a template. */
function changedWords({ changedInputs = [] }: ChangedRow): string {
  const words = changedInputs.map(({ key, columns = [key], before, now }) => {
    return `${columns.map((name) => showValue(name)).join(' and ')} was ${before} and is ${now}`;
  });
  return words.length === 0 ? '' : ` (${words.join(', ')})`;
}
