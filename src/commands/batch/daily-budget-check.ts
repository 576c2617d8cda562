import type { PriceList } from '../../config/prices';
import { defaultAccount } from '../../domain/batch/batch-budget';
import { dailyBudgetProblem } from '../../domain/daily-budget';
import { formatRowPlace } from '../../domain/batch/row-place';
import type { Prices } from '../../domain/money';
import type { PreparedRow } from '../../rows';

/** Prices as the command knows them. */
export type KnownPrices = Prices & Partial<Pick<PriceList, 'dailyBudgets'>>;

/** Finds rows that no worker with these prices would create: their account has a daily budget, and they no price for it. */
export class DailyBudgetCheck {
  readonly #prices: KnownPrices;
  readonly #checked = new Set<string>();
  /** Of the first of them. */
  problem: string | undefined;

  constructor(prices: KnownPrices) {
    this.#prices = prices;
  }

  add({ input: { account = defaultAccount, webAppId }, ...place }: PreparedRow): void {
    const limit = this.#prices.dailyBudgets?.get(account);
    const name = `${webAppId} ${account}`;
    if (limit === undefined || this.#checked.has(name)) return;
    this.#checked.add(name);
    const currency = this.#prices.find(account, webAppId, Date.now())?.currency;
    const found = dailyBudgetProblem({ account, webAppId }, limit, currency);
    if (found !== undefined) this.problem ??= `In ${formatRowPlace(place)}: ${found}`;
  }
}
