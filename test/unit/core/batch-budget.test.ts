import fc from 'fast-check';
import {
  addCost,
  type BatchPrices,
  type BatchSpending,
  budgetProblem,
  formatBudget,
  noSpending,
  PriceCheck,
  viewBudget,
} from '../../../src/money/batch-budget';
import type { Price, Prices } from '../../../src/money/money';

const eur = (micros: number) => ({ currency: 'EUR', micros });

function pricesOf(taskMicros: number, isFixed: boolean): BatchPrices {
  return { unpriced: 0, firstUnpriced: null, currencies: { EUR: { rows: 9, taskMicros, isFixed } } };
}

const spent = (...micros: number[]): BatchSpending => micros.reduce((sum, one) => addCost(sum, eur(one)), noSpending);

describe('a budget', () => {
  it('is never gone beyond by rows that cost what is expected of them, and is used as far as they fit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 30 }),
        fc.nat(20),
        fc.integer({ min: 1, max: 50_000 }),
        (budget, costs, running, price) => {
          const view = viewBudget(eur(budget), pricesOf(price, true), spent(...costs), running);
          const each = view.perRow.micros;
          expect(each).toBe(Math.max(price, ...costs));
          const settled = costs.reduce((sum, one) => sum + one, 0);
          const full = settled + (running + view.places) * each;
          expect(view.places === 0 || full <= budget).toBe(true);
          expect(full + each).toBeGreaterThan(budget);
        },
      ),
    );
  });

  it('counts costs that are not known, or of another currency, as the most expensive one', () => {
    const spending = addCost(addCost(spent(100, 300), undefined), { currency: 'USD', micros: 1 });
    expect(viewBudget(eur(2_000), pricesOf(50, true), spending, 1)).toMatchObject({
      ...{ settled: eur(1_000), expected: eur(300), perRow: eur(300), unknown: 2, places: 2 },
    });
  });

  it('lets five rows run until the cost of one is known, where prices depend on time, and none if it stays unknown', () => {
    const places = (spending: BatchSpending, running: number): number =>
      viewBudget(eur(1_000_000), pricesOf(0, false), spending, running).places;
    expect([0, 2, 5, 9].map((running) => places(noSpending, running))).toEqual([5, 3, 0, 0]);
    expect(places(addCost(noSpending, undefined), 0)).toBe(0);
    expect(places(spent(10_000), 2)).toBe(97);
  });

  it('is no limit for rows that are free, until it is used up', () => {
    expect(viewBudget(eur(1), pricesOf(0, true), noSpending, 400).places).toBeGreaterThan(1_000_000);
    expect(viewBudget(eur(10), pricesOf(0, true), spent(10), 0).places).toBe(0);
  });

  it('is told in words', () => {
    const view = viewBudget(
      eur(1_000_000),
      pricesOf(20_000, true),
      addCost(spent(940_000 - 40_000, 20_000), undefined),
      0,
    );
    expect(formatBudget(view, 0)).toMatch(
      /^1\.82 EUR of 1\.00 EUR spent \(the cost of 1 row .* 0\.90 EUR each\); no more/,
    );
    const open = viewBudget(eur(1_000_000), pricesOf(20_000, true), spent(20_000), 3);
    expect(formatBudget(open, 3)).toBe('0.02 EUR of 1.00 EUR spent, 0.06 EUR expected for rows that run');
  });
});

describe('the check of prices', () => {
  const known: Prices = {
    find: (account, app): Price | null => {
      if (app === 7) return null;
      const currency = account === 'studio' ? 'USD' : 'EUR';
      return { currency, taskMicros: 10 * app, time: app === 2 ? { costTime: 'total', msFemtos: 1 } : null };
    },
  };
  const check = (...rows: { webAppId: number; account?: string }[]): BatchPrices => {
    const prices = new PriceCheck(known, 0);
    for (const [index, input] of rows.entries()) prices.add({ line: index + 1, key: `k${index}`, input });
    return prices.result();
  };

  it('finds what the rows of each currency cost at least, and whether that is all', () => {
    expect(check({ webAppId: 1 }, { webAppId: 3 }, { webAppId: 2 }).currencies).toEqual({
      EUR: { rows: 3, taskMicros: 30, isFixed: false },
    });
  });

  it('refuses a budget for rows without a price, of another currency, or that were paid in one', () => {
    expect(budgetProblem(eur(1), check({ webAppId: 1 }))).toBeUndefined();
    const unpriced = check({ webAppId: 1 }, { webAppId: 7 });
    expect(budgetProblem(eur(1), unpriced)).toMatch(
      /1 row,.*line 2 \(key "k1", app 7\).* of the workers, and restart the workers, since they read it at their start; or/,
    );
    expect(budgetProblem(eur(1), unpriced, undefined, ' and of this command')).toContain(
      'workers and of this command,',
    );
    expect(budgetProblem(eur(1), check({ webAppId: 1 }, { webAppId: 1, account: 'studio' }))).toContain('USD');
    const paid = addCost(noSpending, { currency: 'USD', micros: 1 });
    expect(budgetProblem(eur(1), check({ webAppId: 1 }), paid)).toContain('USD');
    expect(budgetProblem(eur(1), new PriceCheck(undefined, 0).result())).toBeUndefined();
  });
});
