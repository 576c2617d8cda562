import { formatMoney, type Money } from './money';

export interface ExpectedCost {
  readonly app: number;
  /** The part of its price that does not depend on a cost time. */
  readonly taskMicros: number;
  readonly isFixed: boolean;
}

export interface CreateId {
  /** 10 characters of base64url, of a hash of the task's workflow id. */
  readonly task: string;
  readonly create: number;
}

/** What a worker asks or tells; may be repeated. `by` identifies the attempt: 2 characters of base64url. */
export type DayOperation =
  /** Before a create is sent. Counts until it is settled or released. */
  | ({ readonly kind: 'reserve'; readonly by: string } & CreateId & ExpectedCost)
  /** Before a row's task is started. Counts for a while, or until its create is reserved. */
  | ({ readonly kind: 'hold' } & CreateId & ExpectedCost)
  /** The task is over; null: its cost is not known. */
  | ({ readonly kind: 'settle'; readonly cost: Money | null } & CreateId)
  /** The create was provably not taken. No effect once another attempt has reserved it. */
  | ({ readonly kind: 'release'; readonly by: string } & CreateId)
  | ({ readonly kind: 'unhold' } & CreateId);

export type DayOutcome =
  | 'granted'
  | 'known'
  /** One more task is expected to exceed the limit. */
  | 'noRoom'
  /** The price depends on time, no cost is known yet today, and the most tasks allowed until then run. */
  | 'noCost'
  /** More apps or held rows than the state of a day can hold. */
  | 'full'
  /** The day began with a limit in another currency. */
  | 'otherCurrency'
  /** The day is over, or has not begun, by Temporal's clock. */
  | 'over'
  | 'notYet'
  | 'done';

export function isGranted(outcome: DayOutcome): boolean {
  return outcome === 'granted' || outcome === 'known';
}

export interface DailyRefusal {
  readonly account: string;
  readonly words: string;
  /** When it is worth asking again, from now. */
  readonly waitMs: number;
}

export interface DayView {
  /** The limit of the last worker that asked; null before the first. */
  readonly limit: Money | null;
  /** Cost of ended tasks; an unknown cost counts as the highest one of its app. */
  readonly settledMicros: number;
  /** Expected cost of tasks that run or may start. */
  readonly reservedMicros: number;
  readonly settled: number;
  /** Of the settled ones. */
  readonly unknown: number;
  readonly running: number;
  readonly held: number;
  /** ISO-8601: since when tasks are refused; null when none was, or one was granted since. */
  readonly refusedSince: string | null;
}

export const dayMs = 24 * 3_600_000;

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** NaN for an invalid day. */
export function endOfDayMs(day: string): number {
  const startMs = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN;
  // `Date.parse` reads 2026-02-31 as a day of March.
  return Number.isNaN(startMs) || utcDay(startMs) !== day ? NaN : startMs + dayMs;
}

/**
 * Why the account's daily budget can never allow a task of this app; undefined when it can.
 *
 * @param currency - of the app's price; undefined when none is known.
 */
export function dailyBudgetProblem(
  { account, webAppId }: { readonly account: string; readonly webAppId: number },
  limit: Money,
  currency: string | undefined,
): string | undefined {
  if (currency === limit.currency) return undefined;
  const has = currency === undefined ? 'has no known price' : `has a price in ${currency}`;
  return (
    `the account "${account}" has a daily budget of ${formatMoney(limit)}, and app ${webAppId} ${has}: give it one in ` +
    `${limit.currency} in LONGHAUL_PRICES_FILE of the workers, or take the account out of its dailyBudgets.`
  );
}
