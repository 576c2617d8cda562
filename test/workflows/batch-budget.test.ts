import fc from 'fast-check';
import { searchAttributes } from '../../src/contract/search-attributes';
import { pauseUpdate, progressQuery, resumeUpdate, setBudgetUpdate } from '../../src/contract/batch/batch-messages';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import type { BatchPrices } from '../../src/money/batch-budget';
import { eventually } from '../support/eventually';
import { type FakeBatch, fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { historyLengthsOf } from '../support/history-lengths';
import { failureOf, type RunningBatch, TaskEnvironment } from '../support/task-environment';
import { refusalOf } from '../support/uncertain-create';

const environment = TaskEnvironment.forSuite();

const eur = (micros: number) => ({ currency: 'EUR', micros });

function pricesOf(rows: number, more: Partial<BatchPrices['currencies'][string]> = {}): BatchPrices {
  const price = { rows, taskMicros: 20_000, isFixed: true, ...more };
  return { unpriced: 0, firstUnpriced: null, currencies: { EUR: price } };
}

/** A batch of rows that cost 0.02 EUR each. */
function pricedBatch(rows: number, more: Partial<BatchInput>, prices = pricesOf(rows)): FakeBatch {
  const batch = fakeBatchOf(environment.client, rows, more);
  batch.opened = { spending: { currencies: {}, unknown: 0 }, prices };
  batch.endsAtOnce = ({ key }) => rowEnd(key, { cost: eur(20_000) });
  return batch;
}

async function whenReached(run: RunningBatch, rows: number): Promise<void> {
  await eventually(async () => {
    const { state, success } = await run.query(progressQuery);
    return state === 'BudgetReached' && success === rows;
  });
}

function setBudget(run: RunningBatch, budget: string | null): Promise<{ words: string }> {
  return run.executeUpdate(setBudgetUpdate, { args: [{ budget }] });
}

describe('a batch with a budget', () => {
  it.concurrent('starts no row beyond it, says so, and goes on by itself once it is raised or taken away', async () => {
    const batch = pricedBatch(12, { budget: '0.05EUR' });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenReached(run, 2);
      expect(await run.query(progressQuery)).toMatchObject({
        ...{ running: 0, waiting: 10, expectedEnd: null },
        costs: { sums: [eur(40_000)], unknown: 0 },
        budget: { budget: eur(50_000), settled: eur(40_000), expected: eur(0), perRow: eur(20_000), places: 0 },
      });
      await eventually(async () => {
        const { typedSearchAttributes } = await run.describe();
        return typedSearchAttributes.get(searchAttributes.status) === 'BudgetReached';
      });
      expect((await run.executeUpdate(resumeUpdate)).words).toContain('set-budget');
      expect((await setBudget(run, '0.1EUR')).words).toContain('0.04 EUR of 0.10 EUR spent');
      await whenReached(run, 5);
      await setBudget(run, null);
      await run.result();
    });
    expect(batch.started).toHaveLength(12);
    expect(batch.starts.filter(({ limit }) => limit > 0).map(({ budget }) => budget?.micros)).toEqual(
      expect.arrayContaining([50_000, 100_000, undefined]),
    );
  });

  it.concurrent('that is paused and reached goes on after a raise and a resume, and not before both', async () => {
    const batch = pricedBatch(3, { budget: '0.02EUR' });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenReached(run, 1);
      await run.executeUpdate(pauseUpdate);
      await setBudget(run, '1EUR');
      expect(await run.query(progressQuery)).toMatchObject({ state: 'Paused', success: 1 });
      await run.executeUpdate(resumeUpdate);
      await run.result();
    });
    expect(batch.started).toHaveLength(3);
  });

  it.concurrent('costs more than it by no more than the rows that run, however much the rows cost', async () => {
    const costs = fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 10, maxLength: 40 });
    const property = fc.asyncProperty(costs, fc.integer({ min: 1, max: 12 }), async (micros, concurrency) => {
      const batch = pricedBatch(
        micros.length,
        { budget: '3EUR', concurrency },
        pricesOf(micros.length, { taskMicros: 0, isFixed: false }),
      );
      const costOf = (key: string): number => micros[Number(key.slice('row-'.length))] ?? NaN;
      const sum = (keys: Iterable<string>): number => [...keys].reduce((total, key) => total + costOf(key), 0);
      /** The rows that ran when a row was last started, that one included. */
      let runningAtLast: readonly string[] = [];
      batch.endsAtOnce = ({ key }) => {
        runningAtLast = [...batch.running.keys()];
        return rowEnd(key, { cost: eur(costOf(key)) });
      };
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(async () => {
          const { state } = await run.query(progressQuery);
          return state === 'BudgetReached' || state === 'Ended';
        });
        const { budget, running } = await run.query(progressQuery);
        expect(running).toBe(0);
        expect(budget?.settled.micros).toBe(sum(batch.started));
        // What was settled before the rows that ran at the last start is within the budget: those alone lie beyond it.
        expect(sum(batch.started)).toBeLessThanOrEqual(3_000_000 + sum(runningAtLast));
        expect(sum(batch.started)).toBeLessThanOrEqual(3_000_000 + concurrency * Math.max(...micros));
        // And as much of it is used as one more row would have needed.
        const isUsed = 3_000_000 - sum(batch.started) < Math.max(...micros);
        expect(isUsed || batch.started.length === micros.length).toBe(true);
      });
    });
    await fc.assert(property, { numRuns: Number(process.env['RUNS'] ?? 8), endOnFailure: true });
  });

  it.concurrent('runs a few rows first where no price is fixed, until the cost of one is known', async () => {
    const batch = pricedBatch(20, { budget: '9EUR' }, pricesOf(20, { isFixed: false }));
    batch.endsAtOnce = () => undefined;
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 5);
      batch.endsAtOnce = ({ key }) => rowEnd(key, { cost: eur(400_000) });
      // They run before the batch is told that they do.
      await eventually(async () => (await run.query(progressQuery)).running === 5);
      expect(await run.query(progressQuery)).toMatchObject({ running: 5, budget: { places: 0 } });
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key, { cost: eur(400_000) }));
      await run.result();
    });
    expect(batch.started).toHaveLength(20);
  });

  it.concurrent('counts a row of unknown cost as the most expensive one, and waits when no cost is known', async () => {
    const batch = pricedBatch(20, { budget: '1EUR', concurrency: 1 });
    batch.endsAtOnce = ({ key, index }) => rowEnd(key, index === 0 ? { cost: eur(250_000) } : {});
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenReached(run, 4);
      expect((await run.query(progressQuery)).budget).toMatchObject({ settled: eur(1_000_000), unknown: 3 });
    });
    const blind = pricedBatch(20, { budget: '1EUR' }, pricesOf(20, { taskMicros: 0, isFixed: false }));
    blind.endsAtOnce = ({ key, index }) => rowEnd(key, index === 0 ? { requestId: null } : {});
    await environment.withBatch(blind.activities, blind.input, async (run) => {
      await whenReached(run, 5);
      expect((await run.query(progressQuery)).budget).toMatchObject({ unknown: 4 });
    });
    expect(blind.started).toHaveLength(5);
  });

  it.concurrent('keeps its budget and its costs when it continues as new', async () => {
    const tuning = { ...fastBatchTuning, continueAsNewAfterEvents: 60 };
    const batch = pricedBatch(60, { budget: '0.5EUR', concurrency: 2, tuning });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenReached(run, 25);
      await setBudget(run, '1EUR');
      await whenReached(run, 50);
      expect(batch.started).toHaveLength(50);
      await setBudget(run, null);
      await run.result();
    });
    expect((await historyLengthsOf(environment.client, `batch:${batch.id}`)).length).toBeGreaterThan(2);
  });

  it.concurrent('counts what its rows cost before, and ends without waiting when no row is left to start', async () => {
    const spent = { spending: { currencies: { EUR: { micros: 90_000, largestMicros: 30_000 } }, unknown: 0 } };
    const batch = pricedBatch(25, { budget: '0.1EUR' });
    batch.opened = { ...batch.opened, ...spent };
    for (let index = 0; index < 25; index += 1) batch.onRecord.add(`row-${index}`);
    await environment.withBatch(batch.activities, batch.input, (run) => run.result());
    expect(batch.started).toEqual([]);

    const other = pricedBatch(25, { budget: '0.1EUR' });
    other.opened = { ...other.opened, ...spent };
    for (let index = 0; index < 24; index += 1) other.onRecord.add(`row-${index}`);
    await environment.withBatch(other.activities, other.input, async (run) => {
      await whenReached(run, 24);
      await setBudget(run, '0.12EUR');
      await run.result();
    });
    expect(other.started).toEqual(['row-24']);
  });

  it.concurrent('counts rows that had succeeded before also where it has not come to them', async () => {
    const spending = { currencies: { EUR: { micros: 90_000, largestMicros: 30_000 } }, unknown: 0 };
    const batch = pricedBatch(25, { budget: '0.1EUR' });
    batch.opened = { ...batch.opened, spending, succeeded: 24 };
    for (let index = 1; index < 25; index += 1) batch.onRecord.add(`row-${index}`);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenReached(run, 24);
      expect(await run.query(progressQuery)).toMatchObject({ success: 24, waiting: 1 });
      await setBudget(run, '0.12EUR');
      await run.result();
      expect(await run.query(progressQuery)).toMatchObject({ success: 25, waiting: 0 });
    });
    expect(batch.started).toEqual(['row-0']);
  });

  it.concurrent('is refused before it starts a row where a price is not known or of another currency', async () => {
    const unpriced = { unpriced: 2, firstUnpriced: { line: 3, key: 'cat', webAppId: 7 }, currencies: {} };
    const dollars = { unpriced: 0, firstUnpriced: null, currencies: { USD: pricesOf(3).currencies['EUR']! } };
    for (const [prices, words] of [
      [unpriced, ['20.00 EUR', '2 rows', 'line 3', '"cat"', 'app 7', 'LONGHAUL_PRICES_FILE']],
      [dollars, ['20.00 EUR', 'USD']],
    ] as const) {
      const batch = pricedBatch(3, { budget: '20EUR' }, prices);
      const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
      expect(failure).toMatchObject({ type: 'BudgetUnusable' });
      for (const word of words) expect(failure.message).toContain(word);
      expect(batch.started).toEqual([]);
    }
  });

  it.concurrent('refuses a budget that is none, or that it cannot keep, and goes on', async () => {
    const batch = pricedBatch(2, {});
    batch.endsAtOnce = () => undefined;
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      for (const budget of ['20', '0EUR', '-1EUR', 'EUR', '1eur', '1e9EUR', 'none', undefined, 7, {}, []]) {
        const refused = run.executeUpdate<unknown, [unknown]>(setBudgetUpdate.name, { args: [{ budget }] });
        expect(await refusalOf(refused)).toContain('such as "20EUR"');
      }
      expect(await refusalOf(setBudget(run, '20USD'))).toContain('EUR');
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await run.result();
    });
  });
});
