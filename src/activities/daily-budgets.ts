import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import { type AccountDayInput, type DayAnswer, type DayRequest, maxDayOperations } from '../contract/account-day';
import { errorMessage } from '../core/text';
import { formatDuration } from '../core/time';
import {
  dailyBudgetProblem,
  type DailyRefusal,
  type DayOperation,
  type DayOutcome,
  type DayView,
  endOfDayMs,
  type ExpectedCost,
  isGranted,
  utcDay,
} from '../money/day-operations';
import { formatMoney, type Money, type Prices } from '../money/money';
import { workerClock } from './clock';

/** The workflows of the days. Each call may be repeated. */
export interface AccountDays {
  /** `undefined`: the day is not kept (any longer), and nothing was asked. */
  spend(of: AccountDayInput, request: DayRequest): Promise<DayAnswer | undefined>;
}

export interface Expense {
  readonly account: string;
  readonly webAppId: number;
  readonly workflowId: string;
  readonly createNumber: number;
}

export interface Granted {
  readonly outcome: DayOutcome;
  readonly day: string;
  readonly by: string;
  readonly refusal: DailyRefusal | undefined;
}

/** Around midnight the task's timestamp may name another day than its reservation. */
const aroundMidnightMs = 15 * 60_000;
const releaseWithinMs = 1_000;
/** Repeats of a report that must not be lost; the pause doubles each time. */
const tellAttempts = 10;
const tellAgainMs = 1_000;
/** Each request is five events of the day's workflow. */
const collectMs = 50;
/** How often a used up budget is asked again: it may have been raised. */
const longestWaitMs = 5 * 60_000;
/** An app without known costs soon has one. */
const noCostWaitMs = 15_000;

interface DailyBudgetOptions {
  readonly limits: ReadonlyMap<string, Money>;
  readonly prices: Prices | undefined;
  readonly days: AccountDays;
}

/** Daily spending (UTC). Each day has one request in flight; the next one carries what came meanwhile. */
export class DailyBudgets {
  readonly #options: DailyBudgetOptions;
  readonly #days = new Map<string, DayRequests>();

  constructor(options: DailyBudgetOptions) {
    this.#options = options;
  }

  /** Why the daily budget can never allow the task; undefined when it can, and without one. */
  problem({ account, webAppId }: Pick<Expense, 'account' | 'webAppId'>): string | undefined {
    const limit = this.#options.limits.get(account);
    if (limit === undefined) return undefined;
    const currency = this.#options.prices?.find(account, webAppId, workerClock())?.currency;
    return dailyBudgetProblem({ account, webAppId }, limit, currency);
  }

  /**
   * Before a create is sent. Undefined: the account has no daily budget.
   *
   * @param nowMs - by Temporal's clock, which decides on the day: that of a worker may be wrong
   */
  async reserve(expense: Expense, nowMs: number): Promise<Granted | undefined> {
    return await this.#ask('reserve', expense, nowMs, attemptId());
  }

  async hold(expenses: readonly Expense[], nowMs: number): Promise<readonly (Granted | undefined)[]> {
    const by = attemptId();
    return await Promise.all(expenses.map((expense) => this.#ask('hold', expense, nowMs, by)));
  }

  async release({ account, workflowId, createNumber }: Expense, { day, by }: Granted): Promise<void> {
    await this.#tell({ account, day }, { kind: 'release', by, ...createId(workflowId, createNumber) });
  }

  async unhold(expenses: readonly Expense[], day: string): Promise<void> {
    const sent = expenses.map(({ account, workflowId, createNumber }) => {
      return this.#tell({ account, day }, { kind: 'unhold', ...createId(workflowId, createNumber) });
    });
    await Promise.all(sent);
  }

  /** A task that was created then, by the service's clock or Temporal's, is over. */
  async settle(
    { account, workflowId, createNumber }: Omit<Expense, 'webAppId'>,
    cost: Money | null,
    createdMs: number,
  ): Promise<void> {
    const days = new Set([createdMs - aroundMidnightMs, createdMs, createdMs + aroundMidnightMs].map(utcDay));
    const sent = [...days].map((day) => {
      return this.#tell({ account, day }, { kind: 'settle', ...createId(workflowId, createNumber), cost });
    });
    await Promise.all(sent);
  }

  async #ask(
    kind: 'reserve' | 'hold',
    { account, webAppId: app, workflowId, createNumber }: Expense,
    nowMs: number,
    by: string,
  ): Promise<Granted | undefined> {
    const day = utcDay(nowMs);
    const limit = this.#options.limits.get(account);
    if (limit === undefined) return undefined;
    const price = this.#options.prices?.find(account, app, nowMs);
    const expected = { app, taskMicros: price?.taskMicros ?? 0, isFixed: price?.time == null };
    const operation = { kind, by, ...createId(workflowId, createNumber), ...expected };
    const { outcome, view } = await this.#requests({ account, day }, limit).send(operation);
    if (isGranted(outcome)) return { outcome, day, by, refusal: undefined };
    return { outcome, day, by, refusal: toRefusal({ account, day }, { nowMs, limit, expected, outcome, view }) };
  }

  /** A lost report stays reserved until the day is over. */
  async #tell(of: AccountDayInput, operation: DayOperation): Promise<void> {
    const limit = this.#options.limits.get(of.account);
    if (limit === undefined) return;
    for (let attempt = 1; attempt <= tellAttempts; attempt += 1) {
      try {
        await this.#requests(of, limit).send(operation);
        return;
      } catch {
        await delay(tellAgainMs * 2 ** attempt, undefined, { ref: false });
      }
    }
  }

  #requests(of: AccountDayInput, limit: Money): DayRequests {
    const name = `${of.account} ${of.day}`;
    const known = this.#days.get(name);
    if (known !== undefined) return known;
    for (const [other, requests] of this.#days) if (requests.isIdle) this.#days.delete(other);
    const requests = new DayRequests((operations) => this.#options.days.spend(of, { limit, operations }));
    this.#days.set(name, requests);
    return requests;
  }
}

interface Answered {
  readonly outcome: DayOutcome;
  readonly view: DayView | undefined;
}

interface Waiting {
  readonly operation: DayOperation;
  readonly resolve: (answered: Answered) => void;
  readonly reject: (error: unknown) => void;
}

class DayRequests {
  readonly #send: (operations: readonly DayOperation[]) => Promise<DayAnswer | undefined>;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(send: (operations: readonly DayOperation[]) => Promise<DayAnswer | undefined>) {
    this.#send = send;
  }

  get isIdle(): boolean {
    return !this.#isSending && this.#waiting.length === 0;
  }

  async send(operation: DayOperation): Promise<Answered> {
    const answered = new Promise<Answered>((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject });
    });
    if (!this.#isSending) void this.#sendAll();
    return await answered;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    await delay(collectMs);
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0, maxDayOperations);
      try {
        const { outcomes = [], view } = (await this.#send(sent.map(({ operation }) => operation))) ?? {};
        for (const [index, { resolve }] of sent.entries()) resolve({ outcome: outcomes[index] ?? 'done', view });
      } catch (error) {
        for (const { reject } of sent) reject(error);
      }
    }
    this.#isSending = false;
  }
}

interface Refused extends Answered {
  readonly nowMs: number;
  readonly limit: Money;
  readonly expected: ExpectedCost;
}

function toRefusal({ account, day }: AccountDayInput, refused: Refused): DailyRefusal {
  const { nowMs, limit, expected, outcome, view } = refused;
  const { settledMicros = 0, reservedMicros = 0, running = 0, held = 0, unknown = 0 } = view ?? {};
  const untilMidnightMs = Math.max(1_000, endOfDayMs(day) - nowMs);
  const waitMs = Math.min(outcome === 'noCost' ? noCostWaitMs : longestWaitMs, untilMidnightMs);
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const refusal = (words: string): DailyRefusal => {
    const again = `; asked again in ${formatDuration(waitMs)}`;
    return { account, waitMs, words: `The daily budget of the account "${account}"${words}${again}` };
  };
  switch (outcome) {
    case 'noCost':
      return refusal(
        `: no cost of app ${expected.app} is known yet today (${running} tasks run, ${unknown} ended without one), so few run until one is, and one more every 15 minutes; check costTime in LONGHAUL_PRICES_FILE if it stays so`,
      );
    case 'over':
    case 'notYet': {
      // Usually the task waited for a worker beyond midnight: its next attempt is of the new day.
      const words = `The daily budget of the account "${account}": ${day} (UTC) is not today by Temporal’s clock; asked again`;
      return { account, waitMs: 1_000, words };
    }
    case 'full':
      return refusal(` keeps no more apps or rows apart: ${running} tasks run, ${held} rows are being started`);
    case 'otherCurrency':
      return refusal(
        ` is ${formatMoney(limit)}, and ${day} began with one in ${view?.limit?.currency ?? 'another currency'}: change it back, or wait until tomorrow (UTC)`,
      );
    default:
      return refusal(
        ` is reached: ${money(settledMicros)} of ${formatMoney(limit)} are spent on ${day} (UTC), and ${money(reservedMicros)} expected for tasks that run; it goes on at midnight UTC, or when dailyBudgets in LONGHAUL_PRICES_FILE is raised and the workers are restarted`,
      );
  }
}

export class CreateReservation {
  readonly #budgets: DailyBudgets | undefined;
  readonly #expense: Expense;
  #granted: Granted | undefined;

  constructor(budgets: DailyBudgets | undefined, { account, webAppId, workflowId, createNumber }: Expense) {
    this.#budgets = budgets;
    this.#expense = { account, webAppId, workflowId, createNumber };
  }

  async make(): Promise<Pick<DailyRefusal, 'words' | 'waitMs'> | undefined> {
    try {
      const granted = await this.#budgets?.reserve(this.#expense, activityInfo().currentAttemptScheduledTimestampMs);
      if (granted?.refusal === undefined) this.#granted = granted;
      return granted?.refusal;
    } catch (error) {
      const whose = `the daily budget of the account "${this.#expense.account}"`;
      return { words: `The create was not sent: ${whose} could not be asked (${errorMessage(error)})`, waitMs: 0 };
    }
  }

  /** Keeps an earlier reservation, as it may be of a create that was taken, unless that is disproven. */
  async release({ isProven = false } = {}): Promise<void> {
    const granted = this.#granted;
    this.#granted = undefined;
    if (granted === undefined || (granted.outcome !== 'granted' && !isProven)) return;
    const released = this.#budgets?.release(this.#expense, granted);
    await Promise.race([released, delay(releaseWithinMs, undefined, { ref: false })]);
  }
}

function attemptId(): string {
  return randomBytes(2).toString('base64url').slice(0, 2);
}

function createId(workflowId: string, create: number): { readonly task: string; readonly create: number } {
  return { task: createHash('sha256').update(workflowId).digest('base64url').slice(0, 10), create };
}
