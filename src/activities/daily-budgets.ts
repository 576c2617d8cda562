import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import type { AccountDayInput, DayAnswer, DayRequest } from '../contract/account-day';
import {
  dailyBudgetProblem,
  type DailyRefusal,
  type DayOperation,
  type DayOutcome,
  type ExpectedCost,
  isGranted,
  utcDay,
} from '../money/day-operations';
import type { Money, Prices } from '../money/money';
import { errorMessage } from '../core/text';
import { DayRequests, toRefusal } from './account-day';
import { workerClock } from './clock';

/** The workflows of the days; made by the worker of Temporal's client. Each call may be repeated. */
export interface AccountDays {
  /** `undefined`: the day is not kept (any longer), and nothing was asked. */
  spend(of: AccountDayInput, request: DayRequest): Promise<DayAnswer | undefined>;
}

/** A create that may be sent, or a row that may be started. */
export interface Expense {
  readonly account: string;
  readonly webAppId: number;
  readonly workflowId: string;
  readonly createNumber: number;
}

export interface Granted {
  readonly outcome: DayOutcome;
  /** On which day it counts. */
  readonly day: string;
  /** Stands for this attempt. */
  readonly by: string;
  /** Undefined when it was granted. */
  readonly refusal: DailyRefusal | undefined;
}

/** Around midnight a task may have been created by another day's budget than its timestamp says. */
const aroundMidnightMs = 15 * 60_000;

/** How long an attempt waits for the day to confirm that it sent nothing. */
const releaseWithinMs = 1_000;
/** How often a report that must not be lost is repeated, and how long after the first time; doubled each time. */
const tellAttempts = 10;
const tellAgainMs = 1_000;

interface DailyBudgetOptions {
  readonly limits: ReadonlyMap<string, Money>;
  readonly prices: Prices | undefined;
  readonly days: AccountDays;
}

/**
 * What accounts may spend in a day (UTC), as this worker asks and tells it to the workflows of the days. Many tasks ask
 * at the same moment: each day has one request on its way, and the next one takes along what came meanwhile.
 */
export class DailyBudgets {
  readonly #options: DailyBudgetOptions;
  readonly #days = new Map<string, DayRequests>();

  constructor(options: DailyBudgetOptions) {
    this.#options = options;
  }

  /** Why a task can never be created within the account's daily budget; undefined when it can, and without one. */
  problem({ account, webAppId }: Pick<Expense, 'account' | 'webAppId'>): string | undefined {
    const limit = this.#options.limits.get(account);
    if (limit === undefined) return undefined;
    const currency = this.#options.prices?.find(account, webAppId, workerClock())?.currency;
    return dailyBudgetProblem({ account, webAppId }, limit, currency);
  }

  /**
   * Before a create is sent: whether it may be. Undefined: the account has no daily budget.
   *
   * @param nowMs - by Temporal's clock, which decides on the day: that of a worker may be wrong
   */
  async reserve(expense: Expense, nowMs: number): Promise<Granted | undefined> {
    return (await this.#ask('reserve', [expense], nowMs))[0];
  }

  /** Before rows are started: which of them may be, each as above. */
  async hold(expenses: readonly Expense[], nowMs: number): Promise<readonly (Granted | undefined)[]> {
    return await this.#ask('hold', expenses, nowMs);
  }

  /** A create that was granted was provably not taken. */
  async release({ account, workflowId, createNumber }: Expense, { day, by }: Granted): Promise<void> {
    await this.#send({ account, day }, { kind: 'release', by, ...createId(workflowId, createNumber) });
  }

  /** Rows that were granted are not started, or are over. */
  async unhold(expenses: readonly Expense[], day: string): Promise<void> {
    const sent = expenses.map(async ({ account, workflowId, createNumber }) => {
      await this.#send({ account, day }, { kind: 'unhold', ...createId(workflowId, createNumber) });
    });
    await Promise.all(sent);
  }

  /** A task is over that was created then, by the service's clock or Temporal's. */
  async settle(
    { account, workflowId, createNumber }: Pick<Expense, 'account' | 'workflowId' | 'createNumber'>,
    cost: Money | null,
    createdMs: number,
  ): Promise<void> {
    // The day that does not know the create takes no notice.
    const days = new Set([createdMs - aroundMidnightMs, createdMs, createdMs + aroundMidnightMs].map(utcDay));
    const sent = [...days].map(async (day) => {
      await this.#send({ account, day }, { kind: 'settle', ...createId(workflowId, createNumber), cost });
    });
    await Promise.all(sent);
  }

  async #ask(
    kind: 'reserve' | 'hold',
    expenses: readonly Expense[],
    nowMs: number,
  ): Promise<readonly (Granted | undefined)[]> {
    const day = utcDay(nowMs);
    const by = randomBytes(2).toString('hex');
    const answers = expenses.map(async ({ account, webAppId, workflowId, createNumber }) => {
      const limit = this.#options.limits.get(account);
      if (limit === undefined) return undefined;
      const expected = this.#expected(account, webAppId, nowMs);
      const operation = { kind, by, ...createId(workflowId, createNumber), ...expected };
      const { outcome, view } = await this.#requests({ account, day }, limit).send(operation);
      const refusal = isGranted(outcome)
        ? undefined
        : toRefusal({ account, day, nowMs, limit, expected, outcome, view });
      return { outcome, day, by, refusal };
    });
    return await Promise.all(answers);
  }

  #expected(account: string, app: number, nowMs: number): ExpectedCost {
    const price = this.#options.prices?.find(account, app, nowMs);
    return { app, taskMicros: price?.taskMicros ?? 0, isFixed: price?.time == null };
  }

  /** What is lost here stays reserved: it counts as expected until the day is over. */
  async #send(of: AccountDayInput, operation: DayOperation): Promise<void> {
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

/** What one attempt to create a task has of its account's daily budget; nothing where there is none. */
export class CreateReservation {
  readonly #budgets: DailyBudgets | undefined;
  readonly #expense: Expense;
  #granted: Granted | undefined;

  constructor(budgets: DailyBudgets | undefined, { account, webAppId, workflowId, createNumber }: Expense) {
    this.#budgets = budgets;
    this.#expense = { account, webAppId, workflowId, createNumber };
  }

  /** Why the create must not be sent now; undefined when it may be. */
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

  /** What counted before this attempt stays, as it may be of a create that was taken, unless that is disproven. */
  async release({ isProven = false } = {}): Promise<void> {
    const granted = this.#granted;
    this.#granted = undefined;
    if (granted === undefined || (granted.outcome !== 'granted' && !isProven)) return;
    const released = this.#budgets?.release(this.#expense, granted);
    await Promise.race([released, delay(releaseWithinMs, undefined, { ref: false })]);
  }
}

function createId(workflowId: string, create: number): { readonly task: string; readonly create: number } {
  return { task: createHash('sha256').update(workflowId).digest('hex').slice(0, 16), create };
}
