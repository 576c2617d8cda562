import { formatMoney, type Money } from './money';

/** What is known of a task's cost before it is created. */
export interface ExpectedCost {
  readonly app: number;
  /** The part of its price that does not depend on a cost time. */
  readonly taskMicros: number;
  /** Whether there is no other part. */
  readonly isFixed: boolean;
}

/** Which create is meant. */
export interface CreateId {
  /** 16 hexadecimal digits that stand for the task's workflow id. */
  readonly task: string;
  readonly create: number;
}

/** One thing that a worker asks or tells; each may be repeated. `by` stands for an attempt: 4 hexadecimal digits. */
export type DayOperation =
  /** Before a create is sent. What is granted counts until it is settled or released. */
  | ({ readonly kind: 'reserve'; readonly by: string } & CreateId & ExpectedCost)
  /** Before the task of a row is started: counts for a while, or until its create is reserved. */
  | ({ readonly kind: 'hold' } & CreateId & ExpectedCost)
  /** The task is over; null: its cost is not known. */
  | ({ readonly kind: 'settle'; readonly cost: Money | null } & CreateId)
  /** The create was provably not taken. Nothing, if another attempt has reserved it since. */
  | ({ readonly kind: 'release'; readonly by: string } & CreateId)
  /** The row was not started after all. */
  | ({ readonly kind: 'unhold' } & CreateId);

/** What came of an operation. */
export type DayOutcome =
  /** It counts from now on. */
  | 'granted'
  /** It counts already. */
  | 'known'
  /** A task more is expected to go beyond the limit. */
  | 'noRoom'
  /** The app's price depends on time, no cost is known yet today, and so many run already as may until then. */
  | 'noCost'
  /** More tasks or apps than one day keeps apart. */
  | 'full'
  /** The limit is one of another currency than the day began with. */
  | 'otherCurrency'
  /** The day is over, or has not begun: by the clock of the day's workflow, which is Temporal's. */
  | 'over'
  | 'notYet'
  /** Taken in: nothing was asked. */
  | 'done';

/** Whether the create may be sent, or the row started. */
export function isGranted(outcome: DayOutcome): boolean {
  return outcome === 'granted' || outcome === 'known';
}

/** Why a task of an account has to wait. */
export interface DailyRefusal {
  readonly account: string;
  /** For people. */
  readonly words: string;
  /** How long until it is worth asking again. */
  readonly waitMs: number;
}

/** What a day comes to. */
export interface DayView {
  /** As the last worker that asked has it; null before the first. */
  readonly limit: Money | null;
  /** What tasks that are over cost; where that is not known, as much as the most expensive one of their app. */
  readonly settledMicros: number;
  /** What tasks that run, or may start, are expected to cost. */
  readonly reservedMicros: number;
  readonly settled: number;
  /** Of the settled ones. */
  readonly unknown: number;
  readonly running: number;
  readonly held: number;
  /** ISO-8601: since when tasks are refused; null while none was, or one was granted since. */
  readonly refusedSince: string | null;
}

export const dayMs = 24 * 3_600_000;

/** The day of a moment, in UTC: `2026-03-01`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** When a day is over; NaN for what is no day. */
export function endOfDayMs(day: string): number {
  const startMs = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : NaN;
  // A day such as 2026-02-31 is read as one of the next month.
  return Number.isNaN(startMs) || utcDay(startMs) !== day ? NaN : startMs + dayMs;
}

/**
 * Why a task of this account and app can never be created within the account's daily budget; undefined when it can.
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
