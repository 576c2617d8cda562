import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { parseDate } from '../core/time';
import {
  maxAmountDecimals,
  maxTimeDecimals,
  type Money,
  parseDecimal,
  parseMoney,
  type Price,
  type Prices,
} from '../money/money';
import { Environment } from './environment';
import { fields, parsed, text } from './json-file';

interface ListedPrice {
  /** Undefined for every account. */
  readonly account: string | undefined;
  readonly webAppId: number;
  /** Milliseconds since 1970. */
  readonly validFromMs: number;
  readonly price: Price;
}

export class PriceList implements Prices {
  readonly #listed: readonly ListedPrice[];
  /** What each account may spend in a day (UTC); accounts that are not here, as much as they want. */
  readonly dailyBudgets: ReadonlyMap<string, Money>;

  constructor(listed: readonly ListedPrice[], dailyBudgets: ReadonlyMap<string, Money> = new Map()) {
    this.#listed = listed;
    this.dailyBudgets = dailyBudgets;
  }

  find(account: string, webAppId: number, atMs: number): Price | null {
    const rank = ({ account: own, validFromMs }: ListedPrice): number => (own === undefined ? 0 : 1e15) + validFromMs;
    const [best] = this.#listed
      .filter((one) => one.webAppId === webAppId && (one.account ?? account) === account && one.validFromMs <= atMs)
      .sort((one, other) => rank(other) - rank(one));
    return best?.price ?? null;
  }
}

function decimal(decimals: number) {
  const words = `a text with a decimal number such as "0.02", of at most ${decimals} decimal digits`;
  return v.optional(parsed((digits) => parseDecimal(digits, decimals), words));
}

/** A date, or a time with its offset from UTC. */
const moment = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/;

const priceSchema = v.pipe(
  fields({
    account: v.optional(text('the name of an account')),
    webAppId: v.pipe(v.number('the number of an app'), v.safeInteger('the number of an app')),
    currency: parsed((letters) => /^[A-Z]{3}$/.exec(letters)?.[0], 'three capital letters, such as "EUR"'),
    perTask: decimal(maxAmountDecimals),
    perMillisecond: decimal(maxTimeDecimals),
    costTime: v.optional(text('the name of a cost time, such as "total_cost_time"')),
    validFrom: v.optional(
      parsed((date) => (moment.test(date) ? parseDate(date) : undefined), 'a date such as "2026-01-31"'),
    ),
  }),
  v.forward(
    v.check(
      ({ perTask, perMillisecond }) => perTask !== undefined || perMillisecond !== undefined,
      'an amount, or perMillisecond has one',
    ),
    ['perTask'],
  ),
  v.forward(
    v.check(
      ({ perMillisecond, costTime }) => (perMillisecond === undefined) === (costTime === undefined),
      'given together with perMillisecond, or neither',
    ),
    ['costTime'],
  ),
  v.transform(({ account, webAppId, currency, perTask = 0, perMillisecond = 0, costTime, validFrom = 0 }) => {
    const time = costTime === undefined ? null : { costTime, msFemtos: perMillisecond };
    const price: Price = { currency, taskMicros: perTask, time };
    return { account, webAppId, validFromMs: validFrom, price };
  }),
);

const amountWords = `an amount of a currency such as "50EUR", of at most ${maxAmountDecimals} decimal digits`;
const budgetSchema = fields({
  account: text('the name of an account'),
  amount: parsed((words) => {
    const amount = parseMoney(words);
    return amount !== undefined && amount.micros > 0 ? amount : undefined;
  }, amountWords),
});

function keyOf({ account, webAppId, validFromMs }: ListedPrice): string {
  return JSON.stringify([account ?? null, webAppId, validFromMs]);
}

const schema = fields({
  prices: v.pipe(
    v.array(priceSchema, 'a list of prices'),
    // Of two prices for the same time, nothing says which one holds.
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const firsts = new Map<string, ListedPrice>();
      dataset.value.forEach((price, key) => {
        const first = firsts.get(keyOf(price)) ?? price;
        firsts.set(keyOf(price), first);
        if (isDeepStrictEqual(first.price, price.price)) return;
        addIssue({
          message: 'the only price of its app and account from that time on (validFrom)',
          input: price,
          path: [{ type: 'array', origin: 'value', input: dataset.value, key, value: price }],
        });
      });
    }),
  ),
  dailyBudgets: v.optional(
    v.pipe(
      v.array(budgetSchema, 'a list of budgets'),
      v.checkItems(({ account }, index, budgets) => {
        return budgets.findIndex((other) => other.account === account) === index;
      }, 'the only budget of its account'),
    ),
    [],
  ),
});

/** None when it is not set. */
export function readPrices(environment: Environment<'LONGHAUL_PRICES_FILE'>): PriceList {
  const content = environment.readJson('LONGHAUL_PRICES_FILE', { schema, isSecret: false });
  const budgets = content?.dailyBudgets.map(({ account, amount }) => [account, amount] as const);
  return new PriceList(content?.prices ?? [], new Map(budgets));
}

/** Null when there are none. Throws {@link ConfigError} with every problem. */
export function loadPrices(env: NodeJS.ProcessEnv): PriceList | null {
  const environment = new Environment(env, ['LONGHAUL_PRICES_FILE']);
  const prices = environment.usable(readPrices(environment));
  return environment.isSet('LONGHAUL_PRICES_FILE') ? prices : null;
}
