import { activityInfo, cancellationSignal } from '@temporalio/activity';
import type { OpenBatchInput, OpenBatchResult, RowsUnderOtherKeys } from '../../contract/batch/batch-activities';
import { type RowRecord, wasRefusedUnpaid } from '../../contract/batch/batch-rows';
import { allCreates, isKnownCreate } from '../../formats/row-end';
import { pickKeys, pickPlace } from '../../domain/batch/row-place';
import { addCost, type BatchSpending, noSpending, PriceCheck } from '../../domain/batch/batch-budget';
import { findRowsRunBefore, type PreparedRow, type RowRunBefore } from '../../rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { addRecords, BatchRecord, mergedRecords, type RecordLayout } from './batch-record';
import { dailyProblem } from './held-rows';
import { findChangedInputs } from './changed-inputs';
import { BatchRows, type PreparedPage } from './prepared-rows';

/**
 * So many records of keys that no row has any more are kept: all of a large batch of which a few rows are run by
 * themselves (`--first`), and not all of every file that there ever was.
 */
const maxOrphaned = 100_000;
/** So many changed rows are named. */
const maxNamed = 20;
/** Of so many of them it is said what changed. */
const maxCompared = 5;

/**
 * Reads all rows, compares them with the record, and lays the record out anew when it is of other rows. The new pages
 * are written first and `batch.json` last, so that an interruption leaves the old record whole, and repeating it is
 * harmless.
 */
export async function openBatch(
  dependencies: BatchDependencies,
  input: OpenBatchInput,
  mostOrphaned = maxOrphaned,
): Promise<OpenBatchResult> {
  const progress = { batch: input.id, page: 0, pages: input.rows.pages };
  return await withHeartbeat(
    () => progress,
    async () => {
      const rows = await BatchRows.open(input.rows, dependencies.sources);
      const record = new BatchRecord(dependencies.archive, input.id);
      const previous = await record.layout();
      const { currentAttemptScheduledTimestampMs: nowMs } = activityInfo();
      const changes = new Changes(new PriceCheck(dependencies.prices, nowMs), dependencies.dailyBudgets);
      const pages = withProgress(rows.all(), progress);
      const fresh: NewKey[] = [];
      const isNew = previous === undefined;
      let aside: readonly RowRecord[] = [];
      if (previous === undefined || previous.digest === input.rows.digest) {
        for await (const { page, rows: read } of pages) {
          const records = isNew ? new Map<string, RowRecord>() : await record.page(input.rows.digest, page);
          changes.add(read, records);
          if (!isNew) fresh.push(...newKeys(read, records));
        }
        if (!isNew) aside = [...(await record.orphaned(input.rows.digest)).values()];
      } else {
        aside = await layOutAnew(record, previous, input.rows, pages, (read, records) => {
          changes.add(read, records);
          fresh.push(...newKeys(read, records));
        });
        if (aside.length > 0) await record.replaceOrphaned(input.rows.digest, aside.slice(0, mostOrphaned));
      }
      await record.keepLayout(input.rows);
      const changed = await changes.result(dependencies.archive);
      return { ...changed, ...findUnderOtherKeys(fresh, aside), gone: aside.length };
    },
  );
}

/**
 * Brings the records of previous rows to the pages where their keys stand now. Holds all of them in memory, about a
 * kilobyte each; returns those of keys that no row has any more, the latest first.
 */
async function layOutAnew(
  record: BatchRecord,
  previous: RecordLayout,
  { digest }: RecordLayout,
  pages: AsyncIterable<PreparedPage>,
  compare: (rows: readonly PreparedRow[], records: ReadonlyMap<string, RowRecord>) => void,
): Promise<readonly RowRecord[]> {
  const signal = cancellationSignal();
  const known = mergedRecords((await record.orphaned(previous.digest)).values());
  for await (const records of record.pagesOf(previous)) {
    signal.throwIfAborted();
    addRecords(known, records.values());
  }
  await record.clear(digest);
  for await (const { page, rows } of pages) {
    const moved = movedRecords(rows, page, known);
    compare(rows, moved);
    if (moved.size > 0) await record.replacePage(digest, page, moved.values());
    for (const key of moved.keys()) known.delete(key);
  }
  return [...known.values()].sort((one, other) => (one.endedAt > other.endedAt ? -1 : 1));
}

function movedRecords(
  rows: readonly PreparedRow[],
  page: number,
  known: ReadonlyMap<string, RowRecord>,
): Map<string, RowRecord> {
  const moved = rows.flatMap(({ index, line, sheetRow, ...row }): [string, RowRecord][] => {
    const record = known.get(row.key);
    return record === undefined ? [] : [[row.key, { ...record, ...pickKeys(row), index, line, sheetRow, page }]];
  });
  return new Map(moved);
}

/** A row of which nothing is on record. */
type NewKey = Pick<PreparedRow, 'key' | 'originalKey' | 'digest' | 'line' | 'sheetRow'>;

function newKeys(rows: readonly PreparedRow[], records: ReadonlyMap<string, RowRecord>): NewKey[] {
  return rows
    .filter(({ key }) => !records.has(key))
    .map(({ key, originalKey, digest, ...place }) => ({ key, originalKey, digest, ...pickPlace(place) }));
}

/**
 * New rows that look like rows on record which the file does not have any more, and which may have been paid: by their
 * keys, or else by their content.
 */
function findUnderOtherKeys(
  rows: readonly NewKey[],
  aside: readonly RowRecord[],
): Pick<OpenBatchResult, 'alike' | 'runBefore'> {
  const gone = aside.filter((record) => !wasRefusedUnpaid(record));
  const { alike, runBefore } = findRowsRunBefore(rows, gone);
  return {
    ...(alike.length > 0 && { alike: namedRows(alike, gone) }),
    ...(runBefore.length > 0 && { runBefore: namedRows(runBefore, gone) }),
  };
}

function namedRows(found: readonly RowRunBefore<NewKey>[], gone: readonly RowRecord[]): RowsUnderOtherKeys {
  const first = found.slice(0, maxNamed).map(({ row, recorded }) => {
    const { originalKey: recordedOriginalKey } = gone.find(({ key }) => key === recorded) ?? {};
    const given = recordedOriginalKey === undefined ? {} : { recordedOriginalKey };
    return { ...pickPlace(row), ...pickKeys(row), recorded, ...given };
  });
  return { rows: found.length, first };
}

async function* withProgress(
  pages: AsyncIterable<PreparedPage>,
  progress: { page: number },
): AsyncGenerator<PreparedPage, void, undefined> {
  const signal = cancellationSignal();
  for await (const page of pages) {
    signal.throwIfAborted();
    progress.page = page.page;
    yield page;
  }
}

/** Rows on record whose content was another one; and what the rows cost and will cost. */
class Changes {
  readonly #prices: PriceCheck;
  readonly #dailyBudgets: BatchDependencies['dailyBudgets'];
  #dailyProblem: string | undefined;
  #spending: BatchSpending = noSpending;
  #changed = 0;
  #unchanged = 0;
  #succeeded = 0;
  readonly #named: { readonly row: PreparedRow; readonly record: RowRecord }[] = [];
  /** Only the first row has it. */
  #table: PreparedRow['table'];

  constructor(prices: PriceCheck, dailyBudgets: BatchDependencies['dailyBudgets']) {
    this.#prices = prices;
    this.#dailyBudgets = dailyBudgets;
  }

  add(rows: readonly PreparedRow[], records: ReadonlyMap<string, RowRecord>): void {
    for (const row of rows) {
      const { key, digest } = row;
      const record = records.get(key);
      this.#table ??= row.table;
      this.#prices.add(row);
      this.#dailyProblem ??= dailyProblem(this.#dailyBudgets, row);
      const creates = record === undefined ? [] : allCreates(record).filter(isKnownCreate);
      for (const { cost } of creates) this.#spending = addCost(this.#spending, cost);
      if (record?.digest === digest) {
        this.#unchanged += 1;
        if (record.status === 'Success') this.#succeeded += 1;
      }
      if (record === undefined || record.digest === digest || wasRefusedUnpaid(record)) continue;
      this.#changed += 1;
      if (this.#named.length < maxNamed) this.#named.push({ row, record });
    }
  }

  async result(archive: BatchDependencies['archive']): Promise<OpenBatchResult> {
    return {
      changed: this.#changed,
      unchanged: this.#unchanged,
      succeeded: this.#succeeded,
      changedRows: await this.#changedRows(archive),
      spending: this.#spending,
      prices: this.#prices.result(),
      ...(this.#dailyProblem !== undefined && { dailyProblem: this.#dailyProblem }),
    };
  }

  async #changedRows(archive: BatchDependencies['archive']): Promise<OpenBatchResult['changedRows']> {
    const rows = this.#named.map(async ({ row, record }, index) => {
      const changedInputs =
        index < maxCompared ? await findChangedInputs(archive, row, record, this.#table) : undefined;
      return { ...pickPlace(row), ...pickKeys(row), ...(changedInputs !== undefined && { changedInputs }) };
    });
    return await Promise.all(rows);
  }
}
