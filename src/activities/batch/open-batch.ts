import { activityInfo, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ChangedRow, OpenBatchInput, OpenBatchResult } from '../../contract/batch/batch-activities';
import { keptCommand } from '../../contract/batch/batch-command';
import type { RowRecord } from '../../contract/batch/batch-rows';
import type { BatchFailureDetails } from '../../contract/failure-details';
import { failureTypes } from '../../contract/failure-types';
import { addCost, noSpending, PriceCheck } from '../../money/batch-budget';
import { pickKeys } from '../../core/batch/row-place';
import { allCreates, isKnownCreate } from '../../archive/row-end';
import { type PreparedRow, RecordComparison, type RefusedRows, refusalWords } from '../../rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { BatchRecord, type RecordLayout } from './batch-record';
import { findChangedInputs } from './changed-inputs';
import { dailyProblem } from './held-rows';
import { BatchRows, type PreparedPage } from './prepared-rows';

/** Records kept of keys that no row has any more: enough for one large batch, not for every file ever run. */
const maxOrphaned = 100_000;
const maxCompared = 5;

/**
 * Reads all rows, compares them with the record, and lays it out anew when it is of other rows. Refused rows leave it
 * as it was. New pages are written before `batch.json`, so an interruption leaves the old record whole.
 */
export async function openBatch(
  dependencies: BatchDependencies,
  { id, rows: reference, source = null, choice, command }: OpenBatchInput,
  mostOrphaned = maxOrphaned,
): Promise<OpenBatchResult> {
  const progress = { batch: id, page: 0, pages: reference.pages };
  return await withHeartbeat(
    () => progress,
    async () => {
      const { archive, dailyBudgets } = dependencies;
      const rows = await BatchRows.open(reference, dependencies.sources);
      const record = new BatchRecord(archive, id);
      const previous = await record.layout();
      const isSameLayout = previous?.digest === reference.digest;
      // For another layout all records are held in memory, about a kilobyte each.
      const known =
        previous === undefined || isSameLayout ? undefined : await record.all(previous, cancellationSignal());
      const prices = new PriceCheck(dependencies.prices, activityInfo().currentAttemptScheduledTimestampMs);
      const comparison = new RecordComparison();
      const missing = new Set(known?.keys());
      let spending = noSpending;
      let problem: string | undefined;
      let table: PreparedRow['table'];
      for await (const { page, rows: read } of withProgress(rows.all(), progress)) {
        const records = isSameLayout ? await record.page(reference.digest, page) : known;
        for (const row of read) {
          const recorded = records?.get(row.key);
          missing.delete(row.key);
          comparison.add(row, recorded);
          prices.add(row);
          problem ??= dailyProblem(dailyBudgets, row);
          table ??= row.table;
          const creates = recorded === undefined ? [] : allCreates(recorded).filter(isKnownCreate);
          for (const { cost } of creates) spending = addCost(spending, cost);
        }
      }
      const gone = isSameLayout
        ? [...(await record.page(reference.digest, 'orphaned')).values()]
        : [...missing]
            .flatMap((key) => known?.get(key) ?? [])
            .sort((one, other) => (one.endedAt > other.endedAt ? -1 : 1));
      const refused = comparison.refusal(gone, choice);
      if (refused !== undefined) throw await refusal(archive, refused, comparison, table);
      if (known !== undefined) await layOutAnew(record, reference, rows, known, progress);
      if (!isSameLayout && gone.length > 0)
        await record.replacePage(reference.digest, 'orphaned', gone.slice(0, mostOrphaned));
      await record.keepLayout({ ...reference, source, command: keptCommand(command) });
      const { succeeded } = comparison.counts;
      return { succeeded, gone: gone.length, spending, prices: prices.result(), dailyProblem: problem };
    },
  );
}

async function layOutAnew(
  record: BatchRecord,
  { digest }: RecordLayout,
  rows: BatchRows,
  known: ReadonlyMap<string, RowRecord>,
  progress: { page: number },
): Promise<void> {
  await record.clear(digest);
  for await (const { page, rows: read } of withProgress(rows.all(), progress)) {
    const moved = read.flatMap(({ index, line, sheetRow, ...row }): RowRecord[] => {
      const recorded = known.get(row.key);
      return recorded === undefined ? [] : [{ ...recorded, ...pickKeys(row), index, line, sheetRow, page }];
    });
    if (moved.length > 0) await record.replacePage(digest, page, moved);
  }
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

async function refusal(
  archive: BatchDependencies['archive'],
  refused: RefusedRows,
  { changed }: RecordComparison,
  table: PreparedRow['table'],
): Promise<ApplicationFailure> {
  const compared = refused.changedRows.map(async (placed, index): Promise<ChangedRow> => {
    const pair = index < maxCompared ? changed[index] : undefined;
    if (pair === undefined) return placed;
    return { ...placed, changedInputs: await findChangedInputs(archive, pair.row, pair.record, table) };
  });
  const details: BatchFailureDetails['RowsChanged'] = { ...refused, changedRows: await Promise.all(compared) };
  return ApplicationFailure.nonRetryable(refusalWords(details), failureTypes.RowsChanged, details);
}
