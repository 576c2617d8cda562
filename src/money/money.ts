/** An exact amount in one currency, in whole millionths: never a floating-point number. */
export interface Money {
  /** ISO 4217: three capital letters. */
  readonly currency: string;
  /** Whole millionths of a unit; a safe integer, not negative. */
  readonly micros: number;
}

export function isMoney(value: unknown): value is Money {
  if (typeof value !== 'object' || value === null) return false;
  const { currency, micros } = value as { readonly currency?: unknown; readonly micros?: unknown };
  return (
    typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && Number.isSafeInteger(micros) && Number(micros) >= 0
  );
}

/** The price of a task of one app: an amount per task, and one per millisecond of one of its cost times. */
export interface Price {
  readonly currency: string;
  readonly taskMicros: number;
  /** Null when only tasks are charged. */
  readonly time: {
    /** The name of a cost time of the service (specification, section 2.5), such as `total_cost_time`. */
    readonly costTime: string;
    /** Whole billionths of a millionth of a unit. */
    readonly msFemtos: number;
  } | null;
}

const microsInUnit = 1_000_000n;
const femtosInMicro = 1_000_000_000n;

export interface Prices {
  /** The price of a task created at this time; null when not known, which does not mean free. */
  find(account: string, webAppId: number, atMs: number): Price | null;
}

export const maxTimeDecimals = 15;
export const maxAmountDecimals = 6;

/** Reads a decimal as whole parts, `10 ** decimals` a unit. `undefined` for other text, more digits, or too large. */
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

/** A task's cost to the nearest millionth, halves up. `undefined` without the cost time that its price is for. */
export function taskCost(price: Price, costTimes: Readonly<Record<string, number>>): Money | undefined {
  const { currency, taskMicros, time } = price;
  if (time === null) return { currency, micros: taskMicros };
  const ms = Object.hasOwn(costTimes, time.costTime) ? costTimes[time.costTime] : undefined;
  if (ms === undefined || !Number.isSafeInteger(ms) || ms < 0) return undefined;
  const femtos = BigInt(time.msFemtos) * BigInt(ms);
  const micros = BigInt(taskMicros) + (femtos + femtosInMicro / 2n) / femtosInMicro;
  return micros > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : { currency, micros: Number(micros) };
}

export function formatMoney(money: Money): string {
  return `${formatAmount(money)} ${money.currency}`;
}

/** The amount alone, with at least two decimal digits. */
export function formatAmount({ micros }: Pick<Money, 'micros'>): string {
  const whole = BigInt(micros) / microsInUnit;
  const digits = String(BigInt(micros) % microsInUnit).padStart(6, '0');
  let end = digits.length;
  while (end > 2 && digits[end - 1] === '0') end -= 1;
  return `${whole}.${digits.slice(0, end)}`;
}

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
