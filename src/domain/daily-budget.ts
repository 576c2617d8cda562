import { formatMoney, type Money } from './money';

/*
 * What an account may spend in a day (UTC), and what it has spent. Pure: the workflow of the day keeps it, and workers
 * ask it before they create a task.
 */

/** What is known of a task's cost before it is created. */
export interface ExpectedCost {
  readonly app: number;
  /** The part of its price that does not depend on a cost time. */
  readonly taskMicros: number;
  /** Whether there is no other part. */
  readonly isFixed: boolean;
}

/** Which create is meant. */
interface CreateId {
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

/** What one run of the day's workflow hands to the next; plain JSON. */
export interface DayState {
  readonly limit?: Money;
  readonly settledMicros: number;
  readonly settled: number;
  readonly apps: Readonly<Record<string, AppState>>;
  /** Of each create that runs, by task and number: its app, and the attempt that reserved it last. */
  readonly running: Readonly<Record<string, string>>;
  readonly held: Readonly<Record<string, Hold>>;
  readonly refusedSinceMs?: number;
}

interface Hold {
  readonly app: number;
  readonly untilMs: number;
}

interface AppState {
  readonly taskMicros: number;
  readonly isFixed: boolean;
  readonly largestMicros: number;
  /** When one of its creates was granted last. */
  readonly grantedMs?: number;
  /** Tasks that are over, by whether their cost is known. */
  readonly settled: number;
  readonly unknown: number;
}

const dayMs = 24 * 3_600_000;

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

/** While no cost of an app is known and its price depends on time, so many of its tasks run at most. */
const tasksBeforeFirstCost = 5;
/** Those may never tell a cost (uncertain, lost, terminated): after so long without any, one more may run. */
const oneMoreAfterMs = 15 * 60_000;
/** Clocks of Temporal's own machines may differ. */
const earlyMs = 60_000;
/** A row that has not come to its create by then asks again. */
const holdMs = 15 * 60_000;
/** What a state of continue-as-new can hold: some 30 bytes each. */
const maxTasks = 20_000;
const maxApps = 500;

const noApp: AppState = { taskMicros: 0, isFixed: true, largestMicros: 0, settled: 0, unknown: 0 };

/** The daily budget of an account, as it stands. */
export class DailyBudget {
  #limit: Money | undefined;
  #settledMicros: number;
  #settled: number;
  #refusedSinceMs: number | undefined;
  readonly #apps: Map<string, AppState>;
  readonly #running: Map<string, string>;
  readonly #held: Map<string, Hold>;
  /** How many tasks of each app run, or are held. */
  readonly #open = new Map<string, number>();

  constructor(state?: DayState) {
    this.#limit = state?.limit;
    this.#settledMicros = state?.settledMicros ?? 0;
    this.#settled = state?.settled ?? 0;
    this.#refusedSinceMs = state?.refusedSinceMs;
    this.#apps = new Map(Object.entries(state?.apps ?? {}));
    this.#running = new Map(Object.entries(state?.running ?? {}));
    this.#held = new Map(Object.entries(state?.held ?? {}));
    for (const running of this.#running.values()) this.#count(appOf(running), 1);
    for (const { app } of this.#held.values()) this.#count(app, 1);
  }

  get state(): DayState {
    return {
      ...(this.#limit !== undefined && { limit: this.#limit }),
      settledMicros: this.#settledMicros,
      settled: this.#settled,
      apps: Object.fromEntries(this.#apps),
      running: Object.fromEntries(this.#running),
      held: Object.fromEntries(this.#held),
      ...(this.#refusedSinceMs !== undefined && { refusedSinceMs: this.#refusedSinceMs }),
    };
  }

  /**
   * Takes in what a worker asks and tells, in this order. What is granted is expected to fit, with all that is settled,
   * reserved and held, into the limit that this very worker has.
   */
  apply(
    { limit, operations }: { readonly limit: Money; readonly operations: readonly DayOperation[] },
    nowMs: number,
    endsAtMs: number,
  ): DayOutcome[] {
    for (const [task, { untilMs }] of this.#held) if (untilMs <= nowMs) this.#unhold(task);
    const isOther = this.#limit !== undefined && this.#limit.currency !== limit.currency;
    if (!isOther) this.#limit = limit;
    return operations.map((operation) => {
      if (operation.kind !== 'reserve' && operation.kind !== 'hold') return this.#take(operation);
      const outcome = isOther ? 'otherCurrency' : this.#ask(operation, limit, nowMs, endsAtMs);
      if (isGranted(outcome)) this.#refusedSinceMs = undefined;
      else this.#refusedSinceMs ??= nowMs;
      return outcome;
    });
  }

  view(): DayView {
    const unknown = [...this.#apps.values()].reduce((sum, app) => sum + app.unknown, 0);
    return {
      limit: this.#limit ?? null,
      settledMicros: this.#settledSum(),
      reservedMicros: this.#reservedSum(),
      settled: this.#settled,
      ...{ unknown, running: this.#running.size, held: this.#held.size },
      refusedSince: this.#refusedSinceMs === undefined ? null : new Date(this.#refusedSinceMs).toISOString(),
    };
  }

  #ask(
    operation: Extract<DayOperation, { readonly kind: 'reserve' | 'hold' }>,
    limit: Money,
    nowMs: number,
    endsAtMs: number,
  ): DayOutcome {
    const { kind, task, app } = operation;
    const key = createKey(operation);
    if (this.#running.has(key)) {
      if (kind === 'reserve') this.#running.set(key, `${appOf(this.#running.get(key))} ${operation.by}`);
      return 'known';
    }
    if (kind === 'hold' && this.#held.has(task)) return 'known';
    // The create takes its place, or frees it.
    this.#unhold(task);
    if (nowMs >= endsAtMs) return 'over';
    if (nowMs < endsAtMs - dayMs - earlyMs) return 'notYet';
    const name = String(app);
    if (this.#running.size + this.#held.size >= maxTasks) return 'full';
    if (!this.#apps.has(name) && this.#apps.size >= maxApps) return 'full';
    const before = this.#apps.get(name);
    const { taskMicros, isFixed, ...known } = before ?? noApp;
    // Workers may have different prices: the higher one counts, once a task was granted at it.
    const price = { taskMicros: Math.max(taskMicros, operation.taskMicros), isFixed: isFixed && operation.isFixed };
    const expected = { ...known, ...price };
    this.#apps.set(name, expected);
    const refusal = this.#refusal(operation, expected, limit, nowMs);
    if (refusal !== undefined) {
      if (before === undefined) this.#apps.delete(name);
      else this.#apps.set(name, before);
      return refusal;
    }
    this.#apps.set(name, { ...expected, grantedMs: nowMs });
    if (kind === 'hold') this.#held.set(task, { app, untilMs: nowMs + holdMs });
    else this.#running.set(key, `${app} ${operation.by}`);
    this.#count(app, 1);
    return 'granted';
  }

  /** Why one more of this app may not run, whose price is in the sums already. */
  #refusal(
    { task, app, create }: CreateId & ExpectedCost,
    expected: AppState,
    limit: Money,
    nowMs: number,
  ): 'noRoom' | 'noCost' | undefined {
    if (this.#settledSum() + this.#reservedSum() + each(expected) > limit.micros) return 'noRoom';
    if (expected.isFixed || expected.settled > expected.unknown) return undefined;
    // Created once more, a task has the place of its earlier create.
    const isAgain = this.#running.has(createKey({ task, create: create - 1 }));
    const open = (this.#open.get(String(app)) ?? 0) + expected.unknown - (isAgain ? 1 : 0);
    const isLongAgo = nowMs - (expected.grantedMs ?? nowMs) >= oneMoreAfterMs;
    return open >= tasksBeforeFirstCost && !isLongAgo ? 'noCost' : undefined;
  }

  #take(operation: Exclude<DayOperation, { readonly kind: 'reserve' | 'hold' }>): 'done' {
    const key = createKey(operation);
    if (operation.kind === 'unhold') this.#unhold(operation.task);
    else if (operation.kind === 'release') {
      if (this.#running.get(key)?.endsWith(` ${operation.by}`) === true) this.#end(key);
    } else this.#settle(key, operation.cost);
    return 'done';
  }

  /** A create that is not reserved was settled before, or is of another day. */
  #settle(key: string, cost: Money | null): void {
    const name = this.#end(key);
    if (name === undefined) return;
    this.#settled += 1;
    const app = this.#apps.get(String(name)) ?? noApp;
    const isKnown = cost !== null && cost.currency === this.#limit?.currency;
    if (isKnown) this.#settledMicros = Math.min(this.#settledMicros + cost.micros, Number.MAX_SAFE_INTEGER);
    this.#apps.set(String(name), {
      ...app,
      settled: app.settled + 1,
      unknown: app.unknown + (isKnown ? 0 : 1),
      largestMicros: Math.max(app.largestMicros, isKnown ? cost.micros : 0),
    });
  }

  /** The app of a create that runs no more; undefined when it did not. */
  #end(key: string): number | undefined {
    const running = this.#running.get(key);
    if (running === undefined) return undefined;
    this.#running.delete(key);
    this.#count(appOf(running), -1);
    return appOf(running);
  }

  #unhold(task: string): void {
    const hold = this.#held.get(task);
    if (this.#held.delete(task) && hold !== undefined) this.#count(hold.app, -1);
  }

  #count(app: number, more: 1 | -1): void {
    this.#open.set(String(app), (this.#open.get(String(app)) ?? 0) + more);
  }

  #settledSum(): number {
    return this.#settledMicros + this.#sum(([, { unknown }]) => unknown);
  }

  #reservedSum(): number {
    return this.#sum(([app]) => this.#open.get(app) ?? 0);
  }

  #sum(tasks: (app: [string, AppState]) => number): number {
    return [...this.#apps].reduce((sum, app) => sum + tasks(app) * each(app[1]), 0);
  }
}

/** What a task of the app is expected to cost: as much as the most expensive one of the day, and no less than its price says. */
function each({ taskMicros, largestMicros }: AppState): number {
  return Math.max(taskMicros, largestMicros);
}

function appOf(running = ''): number {
  return Number.parseInt(running, 10);
}

function createKey({ task, create }: CreateId): string {
  return `${task}/${create}`;
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
