import { progressQuery, retryFailedUpdate, setBudgetUpdate } from '../../src/contract/batch/batch-messages';
import type { RowEnd, RunningRow } from '../../src/contract/batch/batch-rows';
import { eventually } from '../support/eventually';
import { metadataOf } from '../support/evidence';
import { type FakeBatch, fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { historyLengthsOf } from '../support/history-lengths';
import { TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

const failed = (type: string): Partial<RowEnd> => ({ status: 'Failed', failure: { type, message: 'no' } });

/** Ends every row at once: by what it is told of its attempts so far. */
function endsBy(batch: FakeBatch, choose: (row: RunningRow, attempt: number) => Partial<RowEnd>): void {
  const attempts = new Map<string, number>();
  batch.endsAtOnce = (row) => {
    const attempt = (attempts.get(row.key) ?? 0) + 1;
    attempts.set(row.key, attempt);
    return rowEnd(row.key, { createNumber: attempt, ...choose(row, attempt) });
  };
}

const timesStarted = ({ started }: FakeBatch, key: string): number => started.filter((one) => one === key).length;

describe('a batch whose rows have three attempts', () => {
  it.concurrent(
    'tries those again that another attempt may fix, once every row had its turn, and no others',
    async () => {
      const batch = fakeBatchOf(environment.client, 14, { attempts: 3, concurrency: 4 });
      const ends: Record<number, (attempt: number) => Partial<RowEnd>> = {
        1: (attempt) => (attempt === 1 ? failed('TaskFailed') : {}),
        2: () => failed('ServiceUnavailable'),
        3: () => failed('TaskRejected'),
        4: () => failed('StopUnconfirmed'),
        5: () => failed('CreateUncertain'),
        6: () => failed('Terminated'),
        7: () => ({ status: 'Canceled' }),
        12: (attempt) => (attempt < 3 ? failed('DeadlineExceeded') : {}),
      };
      endsBy(batch, ({ index }, attempt) => ends[index]?.(attempt) ?? {});
      const progress = await environment.withBatch(batch.activities, batch.input, async (run) => {
        await run.result();
        return await run.query(progressQuery);
      });
      expect(batch.started.slice(14)).toEqual(['row-1', 'row-2', 'row-12', 'row-2', 'row-12']);
      expect(progress).toMatchObject({
        ...{ success: 8, failed: 5, canceled: 1, running: 0, waiting: 0 },
        attempt: { number: 3, of: 3 },
        failures: { TaskFailed: 1, ServiceUnavailable: 3, TaskRejected: 1, DeadlineExceeded: 2 },
      });
    },
  );

  it.concurrent('ends without another pass when nothing is left to retry', async () => {
    const batch = fakeBatchOf(environment.client, 3, { attempts: 10 });
    endsBy(batch, ({ index }) => (index === 1 ? failed('TaskRejected') : {}));
    await environment.withBatch(batch.activities, batch.input, (run) => run.result());
    expect(batch.started).toHaveLength(3);
    expect(batch.starts.filter(({ mode }) => mode === 'retryable')).toEqual([]);
  });

  it.concurrent(
    'never takes the end of an earlier attempt, however late it is told, for that of the next one',
    async () => {
      const tuning = { ...fastBatchTuning, pollEveryMs: 20 };
      const batch = fakeBatchOf(environment.client, 1, { attempts: 2, tuning });
      let [first, asked, isSecondRunning] = [rowEnd('row-0'), 0, false];
      batch.endsAtOnce = () => {
        if (batch.started.length > 1) return undefined;
        return (first = rowEnd('row-0', failed('TaskFailed')));
      };
      const activities: typeof batch.activities = {
        ...batch.activities,
        // It has read the end, and waits for more of them while a poll tells the batch of it.
        awaitRowEnds: async (input) => {
          asked += 1;
          if (asked > 1) return await batch.activities.awaitRowEnds(input);
          await eventually(() => isSecondRunning);
          return { ended: [first], next: { ...input.from, seenRuns: ['1'] } };
        },
      };
      const progress = await environment.withBatch(activities, batch.input, async (run) => {
        await eventually(async () => {
          const { attempt, running } = await run.query(progressQuery);
          return attempt?.number === 2 && running === 1;
        });
        isSecondRunning = true;
        await Promise.race([run.result(), eventually(() => asked > 1)]);
        batch.end(rowEnd('row-0', { createNumber: 2 }));
        await run.result();
        return await run.query(progressQuery);
      });
      expect(batch.recorded.map(({ status, createNumber }) => [status, createNumber])).toEqual([
        ['Failed', 1],
        ['Success', 2],
      ]);
      expect(progress).toMatchObject({ success: 1, failed: 0, running: 0, costs: { unknown: 2 } });
    },
  );

  it.concurrent('keeps count of them when it continues as new, and leaves rows of earlier runs alone', async () => {
    const tuning = { ...fastBatchTuning, continueAsNewAfterEvents: 40 };
    const batch = fakeBatchOf(environment.client, 30, { attempts: 3, concurrency: 3, tuning });
    endsBy(batch, ({ index }) => (index % 3 === 0 ? failed('TaskFailed') : {}));
    const startedAt = await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.result();
      return (await run.query(progressQuery)).startedAt;
    });
    expect(timesStarted(batch, 'row-27')).toBe(3);
    expect(batch.started).toHaveLength(50);
    const sinces = batch.starts.flatMap(({ mode, since }) => (mode === 'retryable' ? [since] : []));
    expect(new Set(sinces)).toEqual(new Set([startedAt]));
    expect((await historyLengthsOf(environment.client, `batch:${batch.id}`)).length).toBeGreaterThan(2);
  });

  it.concurrent(
    'pays them within its budget: every attempt counts, and the next one waits until it is raised',
    async () => {
      const price = { rows: 3, taskMicros: 20_000, isFixed: true };
      const batch = fakeBatchOf(environment.client, 3, { attempts: 3, budget: '0.08EUR' });
      batch.opened = { prices: { unpriced: 0, firstUnpriced: null, currencies: { EUR: price } } };
      endsBy(batch, () => ({ ...failed('TaskFailed'), cost: { currency: 'EUR', micros: 20_000 } }));
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(async () => (await run.query(progressQuery)).state === 'BudgetReached');
        expect(await run.query(progressQuery)).toMatchObject({
          ...{ failed: 3, waiting: 0, attempt: { number: 2, of: 3 } },
          budget: { settled: { micros: 80_000 }, places: 0 },
        });
        expect(batch.started).toHaveLength(4);
        await run.executeUpdate(setBudgetUpdate, { args: [{ budget: '1EUR' }] });
        await run.result();
      });
      expect(batch.started).toHaveLength(9);
    },
  );

  it.concurrent('tries all that did not succeed again when a person asks for it, whatever they failed of', async () => {
    const batch = fakeBatchOf(environment.client, 3, { attempts: 2 });
    endsBy(batch, ({ index }) => failed(index === 0 ? 'TaskFailed' : 'TaskRejected'));
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.executeUpdate(retryFailedUpdate);
      await run.result();
      expect(await run.query(progressQuery)).toMatchObject({ success: 0, failed: 3, waiting: 0 });
    });
    expect(['row-0', 'row-1', 'row-2'].map((key) => timesStarted(batch, key))).toEqual([3, 2, 2]);
  });

  it.concurrent('counts the rows that are to be tried again as soon as that is asked for', async () => {
    const batch = fakeBatchOf(environment.client, 3, { concurrency: 3 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 3);
      batch.end(rowEnd('row-0', failed('TaskFailed')));
      await eventually(async () => (await run.query(progressQuery)).failed === 1);
      expect(await run.query(progressQuery)).not.toHaveProperty('toRetry');
      await run.executeUpdate(retryFailedUpdate);
      expect(await run.query(progressQuery)).toMatchObject({ toRetry: 1 });
      const page = (await metadataOf(run)).map(({ text }) => text).join('\n');
      expect(page).toContain('To try again:** 1 row so far');
      await run.cancel();
      await run.result().catch(() => undefined);
    });
  });
});
