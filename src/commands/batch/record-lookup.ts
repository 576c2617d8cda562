import { setTimeout as delay } from 'node:timers/promises';
import { loadStagingOf } from '../../config/client-config';
import { readText } from '../../config/environment';
import type { BatchInput } from '../../contract/batch/batch-input';
import { addCost, type BatchSpending, noSpending } from '../../domain/batch/batch-budget';
import { pickPlace } from '../../domain/batch/row-place';
import type { RecordedRow } from '../../results/recorded-rows';
import { findRowsRunBefore, type PreparedRow, type RowRunBefore } from '../../rows';
import type { CommandContext } from '../command-context';
import { archiveUnset, type RowsOnRecord, readRowsOnRecord } from './rows-on-record';
import type { OnRecord, OtherKeyRow, OtherKeyRows } from './on-record';
import { StagedDigests } from './staged-digests';

/** Which rows on record a run starts again. */
type RunChoice = Pick<BatchInput, 'allowChanged' | 'retryFailed'>;

/** A check is not held up for longer. */
const answerWithinMs = 15_000;
const maxNamed = 5;

/** Which rows of a file are on record, as far as the archive and Temporal can be asked from here. */
export class RecordLookup {
  readonly #known: RowsOnRecord;
  /** Null where rows are not staged: they are run as they stand. */
  readonly #staged: StagedDigests | null;
  readonly #count = {
    success: 0,
    failed: 0,
    canceled: 0,
    running: 0,
    new: 0,
    changed: 0,
    corrected: 0,
    notCompared: 0,
  };
  /** Keys on record that a row has. */
  readonly #seen = new Set<string>();
  readonly #fresh: FreshRow[] = [];
  readonly #named: Readonly<Record<'changed' | 'corrected', Pick<OtherKeyRow, 'place' | 'key'>[]>> = {
    changed: [],
    corrected: [],
  };
  readonly #choice: RunChoice;
  #spending: BatchSpending = noSpending;

  private constructor(known: RowsOnRecord, staged: StagedDigests | null, choice: RunChoice) {
    this.#known = known;
    this.#staged = staged;
    this.#choice = choice;
  }

  /** What the rows on record that the file has cost so far; null where that is not known. */
  get spending(): BatchSpending | null {
    return 'unknown' in this.#known || this.#isTemporalAlone ? null : this.#spending;
  }

  /** Whether it is known which rows the run would start. */
  get isKnown(): boolean {
    return !('unknown' in this.#known);
  }

  /** Asks the archive that the command knows, and Temporal; neither has to answer, and who is late is asked no further. */
  static async open(
    context: CommandContext,
    batchId: string,
    choice: RunChoice,
    withinMs = answerWithinMs,
  ): Promise<RecordLookup> {
    const late = new AbortController();
    const asking = readRowsOnRecord(context, batchId, late.signal);
    asking.catch(() => undefined);
    const inTime = delay(withinMs, undefined, { signal: late.signal });
    const known = await Promise.race([asking, inTime]).finally(() => {
      late.abort();
    });
    const isStaged = readText(context.env, 'LONGHAUL_STAGING') !== undefined;
    const staged = isStaged ? await StagedDigests.open(loadStagingOf({ env: context.env })) : null;
    return new RecordLookup(known ?? { unknown: 'the archive or Temporal did not answer in time' }, staged, choice);
  }

  /**
   * Whether the run would start the row, as far as that is known. A staged row names its files by their content: they are
   * read.
   */
  async add(row: PreparedRow): Promise<boolean> {
    if ('unknown' in this.#known) return true;
    const { rows, running } = this.#known;
    const recorded = rows.get(row.key);
    if (recorded !== undefined) this.#seen.add(row.key);
    for (const cost of recorded?.costs ?? []) this.#spending = addCost(this.#spending, cost);
    const isRunning = running.has(row.key);
    if (isRunning) this.#count.running += 1;
    else if (recorded === undefined) await this.#addNew(row);
    else this.#count[countNames[recorded.status]] += 1;
    if (recorded === undefined) return !isRunning;
    const isChanged = await this.#isChanged(row, recorded);
    return !isRunning && this.#isStarted(recorded, isChanged);
  }

  /** Undefined where its content is not compared. */
  async #isChanged(row: PreparedRow, recorded: RecordedRow): Promise<boolean | undefined> {
    if (this.#isTemporalAlone) return undefined;
    const digest = await this.#digestOf(row);
    const isChanged = digest === undefined ? undefined : recorded.digest !== digest;
    if (isChanged === true) this.#addChanged(row, recorded.isUnpaid ? 'corrected' : 'changed');
    else if (isChanged === undefined && !recorded.isUnpaid) this.#count.notCompared += 1;
    return isChanged;
  }

  #addChanged(row: PreparedRow, how: 'changed' | 'corrected'): void {
    this.#count[how] += 1;
    const named = this.#named[how];
    if (named.length < maxNamed) named.push({ place: pickPlace(row), key: row.originalKey ?? row.key });
  }

  /** A row on record; as the batch chooses its rows. */
  #isStarted({ status, isUnpaid }: RecordedRow, isChanged = false): boolean {
    const { allowChanged = false, retryFailed = false } = this.#choice;
    if (isChanged) return allowChanged || isUnpaid;
    return status !== 'Success' && retryFailed;
  }

  async #addNew(row: PreparedRow): Promise<void> {
    this.#count.new += 1;
    if ('unknown' in this.#known || this.#known.rows.size === 0) return;
    const { key, originalKey, ...place } = row;
    const digest = this.#isTemporalAlone ? undefined : await this.#digestOf(row);
    if (digest === undefined) this.#count.notCompared += 1;
    this.#fresh.push({ key, originalKey, digest: digest ?? '', place: pickPlace(place) });
  }

  /** By Temporal alone nothing is known of their content. */
  get #isTemporalAlone(): boolean {
    return !('unknown' in this.#known) && this.#known.missing === archiveUnset;
  }

  /** As it is run; undefined where it is not known. */
  async #digestOf(row: PreparedRow): Promise<string | undefined> {
    return this.#staged === null ? row.digest : await this.#staged.digestOf(row);
  }

  /** @param isWhole - whether all rows of the file were added. */
  result(isWhole: boolean): OnRecord | { readonly unknown: string } {
    if ('unknown' in this.#known) return this.#known;
    const { rows, missing } = this.#known;
    const { changed, corrected, notCompared, ...counts } = this.#count;
    const gone = [...rows].filter(([key]) => !this.#seen.has(key));
    const paid = gone.filter(([, { isUnpaid }]) => !isUnpaid).map(([key, { digest }]) => ({ key, digest }));
    const { alike, runBefore } = findRowsRunBefore(this.#fresh, paid);
    const isKnown = !this.#isTemporalAlone;
    return {
      ...counts,
      changed: isKnown ? changed : null,
      changedRows: this.#named.changed,
      corrected: isKnown ? corrected : null,
      correctedRows: this.#named.corrected,
      notCompared: isKnown ? notCompared : 0,
      alike: firstOf(alike, rows),
      gone: isWhole && isKnown ? gone.length : null,
      goneKeys: isWhole && isKnown ? gone.slice(0, maxNamed).map(([key, row]) => row.originalKey ?? key) : [],
      runBefore: isKnown ? firstOf(runBefore, rows) : null,
      missing,
    };
  }
}

type FreshRow = Pick<PreparedRow, 'key' | 'originalKey' | 'digest'> & Pick<OtherKeyRow, 'place'>;

function firstOf(found: readonly RowRunBefore<FreshRow>[], rows: ReadonlyMap<string, RecordedRow>): OtherKeyRows {
  const first = found.slice(0, maxNamed).map(({ row: { place, key, originalKey }, recorded }) => {
    const recordedOriginalKey = rows.get(recorded)?.originalKey;
    const given = recordedOriginalKey === undefined ? {} : { recordedOriginalKey };
    return { place, key: originalKey ?? key, recorded, ...given };
  });
  return { rows: found.length, first };
}

const countNames = { Success: 'success', Failed: 'failed', Canceled: 'canceled' } as const;
