import { formatMoney, type Money, type Price, type Prices } from './money';
import { formatRowPlace, pickPlace, type RowPlace, shownKey } from '../core/batch/row-place';
import { formatCountOf, showValue } from '../core/text';

/** What the rows of a batch cost so far, all attempts included. Plain JSON, a part of the batch's state. */
export interface BatchSpending {
  readonly currencies: Readonly<Record<string, { readonly micros: number; readonly largestMicros: number }>>;
  /** Tasks that ended, or may have been created, whose cost is not known. */
  readonly unknown: number;
}

export const noSpending: BatchSpending = { currencies: {}, unknown: 0 };

export interface BatchPrices {
  readonly unpriced: number;
  /** The first such row; null when there is none. */
  readonly firstUnpriced: (RowPlace & { readonly key: string; readonly webAppId: number }) | null;
  readonly currencies: Readonly<Record<string, CurrencyPrices>>;
}

interface CurrencyPrices {
  readonly rows: number;
  /** The largest part of a price that does not depend on a cost time. */
  readonly taskMicros: number;
  /** Whether no price depends on a cost time. */
  readonly isFixed: boolean;
}

export interface BudgetView {
  readonly budget: Money;
  /** What ended rows cost; an unknown cost counts as the highest known one. */
  readonly settled: Money;
  readonly expected: Money;
  /** What one row is expected to cost: the highest cost so far, at least its price. */
  readonly perRow: Money;
  readonly unknown: number;
  readonly places: number;
}

/** How many tasks may run while prices depend on time and no cost is known. */
export const tasksBeforeFirstCost = 5;

export function expectedMicros(known: { readonly taskMicros: number; readonly largestMicros: number }): number {
  return Math.max(known.taskMicros, known.largestMicros);
}

const unlimited = Number.MAX_SAFE_INTEGER;

export function addCost({ currencies, unknown }: BatchSpending, cost: Money | undefined): BatchSpending {
  if (cost === undefined) return { currencies, unknown: unknown + 1 };
  const { micros, largestMicros } = currencies[cost.currency] ?? { micros: 0, largestMicros: 0 };
  const sum = {
    micros: Math.min(micros + cost.micros, Number.MAX_SAFE_INTEGER),
    largestMicros: Math.max(largestMicros, cost.micros),
  };
  return { currencies: { ...currencies, [cost.currency]: sum }, unknown };
}

export function spentSums({ currencies }: BatchSpending): readonly Money[] {
  const sums = Object.entries(currencies).sort(([one], [other]) => (one < other ? -1 : 1));
  return sums.map(([currency, { micros }]) => ({ currency, micros }));
}

export const defaultAccount = 'default';

export interface PricedRow extends RowPlace {
  readonly key: string;
  readonly originalKey?: string | null;
  readonly input: { readonly webAppId: number; readonly account?: string };
}

export class PriceCheck {
  readonly #known: Prices | undefined;
  readonly #atMs: number;
  readonly #found = new Map<string, Price | null>();
  #unpriced = 0;
  #firstUnpriced: BatchPrices['firstUnpriced'] = null;
  readonly #currencies = new Map<string, CurrencyPrices>();
  readonly #sums = new Map<string, number>();

  constructor(known: Prices | undefined, atMs: number) {
    this.#known = known;
    this.#atMs = atMs;
  }

  add({ input: { account = defaultAccount, webAppId }, ...row }: PricedRow): void {
    const price = this.#find(account, webAppId);
    if (price === null) {
      this.#unpriced += 1;
      this.#firstUnpriced ??= { ...pickPlace(row), key: shownKey(row), webAppId };
      return;
    }
    const none = { rows: 0, taskMicros: 0, isFixed: true };
    const { rows, taskMicros, isFixed } = this.#currencies.get(price.currency) ?? none;
    this.#currencies.set(price.currency, {
      rows: rows + 1,
      taskMicros: Math.max(taskMicros, price.taskMicros),
      isFixed: isFixed && price.time === null,
    });
    const sum = (this.#sums.get(price.currency) ?? 0) + price.taskMicros;
    this.#sums.set(price.currency, Math.min(sum, Number.MAX_SAFE_INTEGER));
  }

  /** Null where a price is not known, or depends on a time. */
  get fixedCosts(): readonly Money[] | null {
    const isFixed = this.#unpriced === 0 && [...this.#currencies.values()].every((prices) => prices.isFixed);
    if (!isFixed || this.#sums.size === 0) return null;
    return [...this.#sums].map(([currency, micros]) => ({ currency, micros }));
  }

  #find(account: string, webAppId: number): Price | null {
    const name = `${webAppId} ${account}`;
    let price = this.#found.get(name);
    if (price === undefined) {
      price = this.#known?.find(account, webAppId, this.#atMs) ?? null;
      this.#found.set(name, price);
    }
    return price;
  }

  result(): BatchPrices {
    return {
      unpriced: this.#unpriced,
      firstUnpriced: this.#firstUnpriced,
      currencies: Object.fromEntries(this.#currencies),
    };
  }
}

/**
 * Why a batch cannot have this budget, and what to do; undefined when it can.
 *
 * @param alsoIn - whose file of prices was read beside the workers’, such as ` and of this command`.
 */
export function budgetProblem(
  budget: Money,
  prices: BatchPrices,
  spending = noSpending,
  alsoIn = '',
): string | undefined {
  const { unpriced, firstUnpriced, currencies } = prices;
  const words = `budget is ${formatMoney(budget)}`;
  if (firstUnpriced !== null) {
    const { key, webAppId } = firstUnpriced;
    return (
      `${words}, and no price is known for ${formatCountOf(unpriced, 'row')}, the first of them ${formatRowPlace(firstUnpriced)} (key ${showValue(key)}, app ` +
      `${webAppId}): give the app a price in LONGHAUL_PRICES_FILE of the workers${alsoIn}, and restart the workers, since they read it at ` +
      'their start; or run without a budget.'
    );
  }
  const others = [...Object.keys(currencies), ...Object.keys(spending.currencies)].filter(
    (one) => one !== budget.currency,
  );
  const [other] = others;
  if (other === undefined) return undefined;
  return `${words}, and rows of this batch cost ${other}: give the budget in ${other}, or one currency a batch of its own.`;
}

export function viewBudget(budget: Money, prices: BatchPrices, spending: BatchSpending, running: number): BudgetView {
  const { currency } = budget;
  const { micros, largestMicros } = spending.currencies[currency] ?? { micros: 0, largestMicros: 0 };
  const { taskMicros, isFixed } = prices.currencies[currency] ?? { taskMicros: 0, isFixed: true };
  // A cost in another currency, known only after the check of the prices, counts as unknown.
  const others = Object.keys(spending.currencies).filter((one) => one !== currency).length;
  const unknown = spending.unknown + others;
  const each = expectedMicros({ taskMicros, largestMicros });
  const settled = micros + unknown * each;
  const left = budget.micros - settled - running * each;
  const isEstimated = isFixed || largestMicros > 0;
  const byCost = left <= 0 || left < each ? 0 : each === 0 ? unlimited : Math.floor(left / each);
  const first = unknown > 0 ? 0 : Math.max(0, tasksBeforeFirstCost - running);
  const money = (amount: number): Money => ({ currency, micros: amount });
  return {
    budget,
    settled: money(settled),
    expected: money(running * each),
    perRow: money(each),
    unknown,
    places: isEstimated ? byCost : Math.min(first, byCost),
  };
}

/** For people: `19.20 of 20.00 EUR spent, 0.40 EUR expected for rows that run`. */
export function formatBudget(view: BudgetView, running: number): string {
  const { budget, settled, expected, perRow, unknown, places } = view;
  const unknownCosts =
    unknown === 0
      ? ''
      : ` (the cost of ${formatCountOf(unknown, 'row')} is not known: counted as ${formatMoney(perRow)} each)`;
  const now = running === 0 ? '' : `, ${formatMoney(expected)} expected for rows that run`;
  const full = places > 0 ? '' : `; no more rows are started: one is expected to cost ${formatMoney(perRow)}`;
  return `${formatMoney(settled)} of ${formatMoney(budget)} spent${unknownCosts}${now}${full}`;
}
