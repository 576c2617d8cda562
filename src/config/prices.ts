import { readFileSync } from 'node:fs';
import * as z from 'zod';
import {
  maxAmountDecimals,
  maxTimeDecimals,
  type Money,
  parseDecimal,
  parseMoney,
  type Price,
  type Prices,
} from '../money/money';
import { ConfigError, readVariables } from './environment';
import { fields, readJsonFile, type ReadTextFile } from './json-file';
import { variables } from './variables';

/** A price as `LONGHAUL_PRICES_FILE` has it. */
interface ListedPrice {
  /** Undefined for every account. */
  readonly account: string | undefined;
  readonly webAppId: number;
  /** Milliseconds since 1970. */
  readonly validFromMs: number;
  readonly price: Price;
}

/** The prices of `LONGHAUL_PRICES_FILE`. */
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
  const message = `a text with a decimal number such as "0.02", of at most ${decimals} decimal digits`;
  return z.string(message).transform((text, context) => {
    const parts = parseDecimal(text, decimals);
    if (parts !== undefined) return parts;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

const priceSchema = fields({
  account: z.string().min(1, 'the name of an account').optional(),
  webAppId: z.number('the number of an app').int('the number of an app'),
  currency: z
    .string('three capital letters, such as "EUR"')
    .regex(/^[A-Z]{3}$/, 'three capital letters, such as "EUR"'),
  perTask: decimal(maxAmountDecimals).optional(),
  perMillisecond: decimal(maxTimeDecimals).optional(),
  costTime: z.string().min(1, 'the name of a cost time, such as "total_cost_time"').optional(),
  validFrom: z.union([z.iso.date(), z.iso.datetime({ offset: true })], 'a date such as "2026-01-31"').optional(),
})
  .superRefine(({ perTask, perMillisecond, costTime }, context) => {
    if (perTask === undefined && perMillisecond === undefined) {
      context.addIssue({ code: 'custom', path: ['perTask'], message: 'an amount, or perMillisecond has one' });
    }
    if ((perMillisecond === undefined) !== (costTime === undefined)) {
      const message = 'given together with perMillisecond, or neither';
      context.addIssue({ code: 'custom', path: ['costTime'], message });
    }
  })
  .transform(({ account, webAppId, currency, perTask = 0, perMillisecond, costTime, validFrom }): ListedPrice => {
    const time = costTime === undefined ? null : { costTime, msFemtos: perMillisecond ?? 0 };
    const validFromMs = validFrom === undefined ? 0 : Date.parse(validFrom);
    return { account, webAppId, validFromMs, price: { currency, taskMicros: perTask, time } };
  });

const budgetSchema = fields({
  account: z.string('the name of an account').min(1, 'the name of an account'),
  amount: z.string('an amount of a currency such as "50EUR"').transform((text, context) => {
    const amount = parseMoney(text);
    if (amount !== undefined && amount.micros > 0) return amount;
    const message = `an amount of a currency such as "50EUR", of at most ${maxAmountDecimals} decimal digits`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }),
});

/** Of two prices for the same time, nothing says which one holds. */
const pricesSchema = z.array(priceSchema, 'a list of prices').superRefine((prices, context) => {
  const known = new Map<string, string>();
  for (const [index, { account = null, webAppId, validFromMs, price }] of prices.entries()) {
    const name = JSON.stringify([account, webAppId, validFromMs]);
    const own = JSON.stringify(price);
    if ((known.get(name) ?? own) !== own) {
      const message = 'an app that has no other price from the same time on (validFrom)';
      context.addIssue({ code: 'custom', path: [index, 'webAppId'], message });
    }
    known.set(name, own);
  }
});

const fileSchema = fields({
  prices: pricesSchema,
  dailyBudgets: z
    .array(budgetSchema, 'a list of budgets')
    .superRefine((budgets, context) => {
      const accounts = budgets.map(({ account }) => account);
      const index = accounts.findIndex((account, place) => accounts.indexOf(account) < place);
      if (index < 0) return;
      context.addIssue({ code: 'custom', path: [index, 'account'], message: 'an account that has no other budget' });
    })
    .default([]),
});

const pricesFile = { schema: fileSchema, remedy: variables.LONGHAUL_PRICES_FILE.remedy, isSecret: false };

/** Reads `LONGHAUL_PRICES_FILE`. Complaints, each with its field and what it should be, go to `problems`. */
export function readPrices(file: string | undefined, readTextFile: ReadTextFile, problems: string[]): PriceList {
  if (file === undefined) return new PriceList([]);
  const content = readJsonFile({ what: 'LONGHAUL_PRICES_FILE', file }, pricesFile, readTextFile, problems);
  if (content === undefined) return new PriceList([]);
  return new PriceList(content.prices, new Map(content.dailyBudgets.map(({ account, amount }) => [account, amount])));
}

/** The prices that the command line knows; null when it has none. Throws {@link ConfigError} with every problem. */
export function loadPrices(env: NodeJS.ProcessEnv): PriceList | null {
  const { values, problems } = readVariables(env, ['LONGHAUL_PRICES_FILE']);
  const { LONGHAUL_PRICES_FILE: file } = values;
  const prices = readPrices(file, (path) => readFileSync(path, 'utf8'), problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return file === undefined ? null : prices;
}
