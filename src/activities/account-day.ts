import { setTimeout as delay } from 'node:timers/promises';
import { type AccountDayInput, type DayAnswer, maxDayOperations } from '../contract/account-day';
import {
  type DailyRefusal,
  type DayOperation,
  type DayOutcome,
  type DayView,
  endOfDayMs,
  type ExpectedCost,
} from '../money/day-operations';
import { formatMoney, type Money } from '../money/money';
import { formatDuration } from '../core/time';

/** While a budget is used up it is asked again this often: it may have been raised. */
const longestWaitMs = 5 * 60_000;
/** An app whose costs are not known yet soon has one that is. */
const noCostWaitMs = 15_000;

/** So long a request waits for others to the same day. */
const collectMs = 50;

/** An operation's outcome, and how the day stood after the request that it was in. */
interface Answered {
  readonly outcome: DayOutcome;
  readonly view: DayView | undefined;
}

interface Waiting {
  readonly operation: DayOperation;
  readonly resolve: (answered: Answered) => void;
  readonly reject: (error: unknown) => void;
}

export class DayRequests {
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
    // Those that ask in the same moment go together: each request is five events of the day's workflow.
    await delay(collectMs);
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.slice(0, maxDayOperations);
      this.#waiting = this.#waiting.slice(sent.length);
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

interface Refused extends AccountDayInput {
  readonly nowMs: number;
  readonly limit: Money;
  readonly expected: ExpectedCost;
  readonly outcome: DayOutcome;
  readonly view: DayView | undefined;
}

export function toRefusal({ account, day, nowMs, limit, expected, outcome, view }: Refused): DailyRefusal {
  const untilMidnightMs = Math.max(1_000, endOfDayMs(day) - nowMs);
  const waitMs = Math.min(outcome === 'noCost' ? noCostWaitMs : longestWaitMs, untilMidnightMs);
  const again = `; asked again in ${formatDuration(waitMs)}`;
  const money = (micros: number): string => formatMoney({ currency: limit.currency, micros });
  const { settledMicros = 0, reservedMicros = 0 } = view ?? {};
  const figures = `${money(settledMicros)} of ${formatMoney(limit)} are spent on ${day} (UTC), and ${money(reservedMicros)} expected for tasks that run`;
  const whose = `The daily budget of the account "${account}"`;
  switch (outcome) {
    case 'noCost':
      return {
        account,
        waitMs,
        words: `${whose}: no cost of app ${expected.app} is known yet today (${view?.running ?? 0} tasks run, ${view?.unknown ?? 0} ended without one), so few run until one is, and one more every 15 minutes; check costTime in LONGHAUL_PRICES_FILE if it stays so${again}`,
      };
    case 'over':
    case 'notYet': {
      // Usually a task that waited for a worker beyond midnight: its next attempt is of the new day.
      const soonMs = 1_000;
      return { account, waitMs: soonMs, words: `${whose}: ${day} (UTC) is not today by Temporal’s clock; asked again` };
    }
    case 'full':
      return { account, waitMs, words: `${whose} keeps no more tasks apart: ${view?.running ?? 0} run${again}` };
    case 'otherCurrency':
      return {
        account,
        waitMs,
        words: `${whose} is ${formatMoney(limit)}, and ${day} began with one in ${view?.limit?.currency ?? 'another currency'}: change it back, or wait until tomorrow (UTC)${again}`,
      };
    default:
      return {
        account,
        waitMs,
        words: `${whose} is reached: ${figures}; it goes on at midnight UTC, or when dailyBudgets in LONGHAUL_PRICES_FILE is raised and the workers are restarted${again}`,
      };
  }
}
