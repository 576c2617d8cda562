/** An amount of one currency, exact: no floating-point number ever holds a part of a unit. */
export interface Money {
  /** Three capital letters, as ISO 4217 has it. */
  readonly currency: string;
  /** Whole millionths of a unit; a safe integer, not negative. */
  readonly micros: number;
}

/** Whether a value has the form of {@link Money}. */
export function isMoney(value: unknown): value is Money {
  if (typeof value !== 'object' || value === null) return false;
  const { currency, micros } = value as { readonly currency?: unknown; readonly micros?: unknown };
  return (
    typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && Number.isSafeInteger(micros) && Number(micros) >= 0
  );
}

/** What a task of one app costs: an amount for each task, and one for each millisecond of one of its cost times. */
export interface Price {
  readonly currency: string;
  /** Whole millionths of a unit for each task. */
  readonly taskMicros: number;
  /** What each millisecond costs; null when only tasks are counted. */
  readonly time: {
    /** Its name among the service's cost times (specification, section 2.5), such as `total_cost_time`. */
    readonly costTime: string;
    /** Whole billionths of a millionth of a unit, so that a price of fractions of a millionth is exact. */
    readonly msFemtos: number;
  } | null;
}

const microsInUnit = 1_000_000n;
const femtosInMicro = 1_000_000_000n;

/** What tasks cost. */
export interface Prices {
  /** The price of a task that is created at this time; null when none is known, which is not the same as free. */
  find(account: string, webAppId: number, atMs: number): Price | null;
}

/** The decimal digits of a unit that a price for a millisecond may have. */
export const maxTimeDecimals = 15;
/** The decimal digits of a unit that an amount may have. */
export const maxAmountDecimals = 6;

/**
 * Reads a decimal number such as `0.02` as whole parts of a unit, of which a unit has `10 ** decimals`. `undefined` for
 * anything else, for more digits than `decimals`, and for what is too large to be exact.
 */
export function parseDecimal(text: string, decimals: number): number | undefined {
  const found = /^(\d{1,12})(?:\.(\d+))?$/.exec(text);
  if (found === null) return undefined;
  const [, whole = '', fraction = ''] = found;
  if (fraction.length > decimals) return undefined;
  const parts = Number(BigInt(whole + fraction.padEnd(decimals, '0')));
  return Number.isSafeInteger(parts) ? parts : undefined;
}

/** Reads an amount such as `20EUR` or `20.50 EUR`; `undefined` for anything else. */
export function parseMoney(text: string): Money | undefined {
  const found = /^([\d.]{1,32}) ?([A-Z]{3})$/.exec(text.trim());
  if (found === null) return undefined;
  const [, amount = '', currency = ''] = found;
  const micros = parseDecimal(amount, maxAmountDecimals);
  return micros === undefined ? undefined : { currency, micros };
}

/**
 * What a task cost, to the nearest millionth of a unit, halves upwards. `undefined` when the service has not given the cost
 * time that its price is for.
 */
export function taskCost(price: Price, costTimes: Readonly<Record<string, number>>): Money | undefined {
  const { currency, taskMicros, time } = price;
  if (time === null) return { currency, micros: taskMicros };
  const ms = Object.hasOwn(costTimes, time.costTime) ? costTimes[time.costTime] : undefined;
  if (ms === undefined || !Number.isSafeInteger(ms) || ms < 0) return undefined;
  const femtos = BigInt(time.msFemtos) * BigInt(ms);
  const micros = BigInt(taskMicros) + (femtos + femtosInMicro / 2n) / femtosInMicro;
  return micros > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : { currency, micros: Number(micros) };
}

/** Such as `295.878734 EUR`. */
export function formatMoney(money: Money): string {
  return `${formatAmount(money)} ${money.currency}`;
}

/** The amount alone: at least two decimal digits, and no more than it has. */
export function formatAmount({ micros }: Pick<Money, 'micros'>): string {
  const whole = BigInt(micros) / microsInUnit;
  const digits = String(BigInt(micros) % microsInUnit).padStart(6, '0');
  let end = digits.length;
  while (end > 2 && digits[end - 1] === '0') end -= 1;
  return `${whole}.${digits.slice(0, end)}`;
}

/** Sums of several currencies, in the order of their names. */
export class MoneySums {
  readonly #sums = new Map<string, number>();

  add({ currency, micros }: Money): void {
    this.#sums.set(currency, (this.#sums.get(currency) ?? 0) + micros);
  }

  list(): readonly Money[] {
    const sums = [...this.#sums].sort(([one], [other]) => (one < other ? -1 : 1));
    return sums.map(([currency, micros]) => ({ currency, micros }));
  }
}
