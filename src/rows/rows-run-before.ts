import { AlikeKeys, type RowKey } from './row-key';

/** A row by its key and the digest of its content. */
interface RowContent {
  readonly key: string;
  /** Empty where it is not known. */
  readonly digest: string;
}

/** A new row, and the row on record that it looks like. */
export interface RowRunBefore<Row> {
  readonly row: Row;
  /** The key on record. */
  readonly recorded: string;
}

/** New rows that look like rows on record. */
interface RowsRunBefore<Row> {
  /** By their keys. */
  readonly alike: readonly RowRunBefore<Row>[];
  /** Not by their keys, but by their content. */
  readonly runBefore: readonly RowRunBefore<Row>[];
}

/**
 * Finds new rows that look like rows on record which are no longer in the file: rather than other rows they are those
 * under other keys, and run as new they would be paid twice. A row whose like is still in the file is another one.
 *
 * @param fresh - rows whose keys are not on record.
 * @param gone - rows on record whose keys no row has any more.
 */
export function findRowsRunBefore<Row extends RowKey & RowContent>(
  fresh: readonly Row[],
  gone: readonly RowContent[],
): RowsRunBefore<Row> {
  const alike: RowRunBefore<Row>[] = [];
  const runBefore: RowRunBefore<Row>[] = [];
  const keys = new AlikeKeys(gone.map(({ key }) => key));
  const contents = new RecordedContents(gone);
  for (const row of fresh) {
    const alikeKey = keys.find(row);
    const recorded = alikeKey ?? contents.find(row.digest);
    if (recorded !== undefined) (alikeKey === undefined ? runBefore : alike).push({ row, recorded });
  }
  return { alike, runBefore };
}

/** The keys on record by the content of their rows. */
class RecordedContents {
  readonly #byDigest = new Map<string, { readonly keys: string[]; next: number }>();

  constructor(rows: readonly RowContent[]) {
    for (const { key, digest } of rows) {
      if (digest === '') continue;
      const same = this.#byDigest.get(digest);
      if (same === undefined) this.#byDigest.set(digest, { keys: [key], next: 0 });
      else same.keys.push(key);
    }
  }

  /** Of several rows with this content each in turn, so that every one is named. */
  find(digest: string): string | undefined {
    const same = this.#byDigest.get(digest);
    if (same === undefined) return undefined;
    const key = same.keys[same.next % same.keys.length];
    same.next += 1;
    return key;
  }
}
