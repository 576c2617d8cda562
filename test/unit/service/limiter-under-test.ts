import type { CreateOutcome } from '../../../src/core/create-outcome';
import type { Refusal } from '../../../src/service/create-gate';
import {
  CreateLimiter,
  type CreateLimiterOptions,
  type CreateLimiterView,
  type HeldBack,
} from '../../../src/service/create-limiter';
import { refusedCreate } from '../../support/refused-create';

export const accepted: CreateOutcome = { outcome: 'accepted', requestId: 'r-1' };
export const queueFull = refusedCreate(503, 'queue full', { code: 30039 });
export const tooMany = { ...queueFull, httpStatus: 429, message: 'too many' };
export const noBalance: CreateOutcome = refusedCreate(402, 'no balance left');
export const failed: CreateOutcome = { outcome: 'uncertain', reason: 'HTTP 500' };
export const [app, otherApp] = [7, 8];

/** The limiter of an account's creates, and a clock that tests move. */
export class LimiterUnderTest {
  /** What the request that costs nothing comes to. */
  problem: Refusal | undefined;
  checks = 0;
  nowMs = 1_700_000_000_000;
  changes: [string, CreateLimiterView][] = [];
  limiter: CreateLimiter;

  constructor() {
    this.limiter = this.open();
  }

  /** Replaces the limiter by one with these options. */
  open(options: Partial<CreateLimiterOptions> = {}): CreateLimiter {
    this.changes = [];
    this.limiter = new CreateLimiter({
      perSecond: 1_000,
      patienceMs: 1,
      now: () => this.nowMs,
      random: () => 0,
      onChange: (...change) => void this.changes.push(change),
      ...options,
    });
    return this.limiter;
  }

  acquire(webAppId = app): Promise<HeldBack | undefined> {
    return this.limiter.acquire(webAppId, () => {
      this.checks += 1;
      return Promise.resolve(this.problem);
    });
  }

  report(outcome: CreateOutcome, webAppId = app): void {
    this.limiter.report(webAppId, outcome);
  }

  /** Creates that come at the same moment: whose turn it is. */
  async come(count: number): Promise<boolean[]> {
    const answers = await Promise.all(Array.from({ length: count }, () => this.acquire()));
    return answers.map((heldBack) => heldBack === undefined);
  }

  async heldBack(webAppId = app): Promise<HeldBack> {
    const answer = await this.acquire(webAppId);
    if (answer === undefined) throw new Error('It was its turn.');
    return answer;
  }

  /** One create is sent and comes to this. */
  async create(outcome: CreateOutcome, webAppId = app): Promise<void> {
    const heldBack = await this.acquire(webAppId);
    if (heldBack !== undefined) throw new Error(`It was held back: ${heldBack.reason}`);
    this.report(outcome, webAppId);
  }

  /** So many may be sent at once. */
  async grow(atOnce: number): Promise<void> {
    while (this.limiter.view().atOnce < atOnce) await this.create(accepted);
  }

  /** Creates are sent as soon as they may, for so long: how many. */
  async createFor(ms: number, outcome: CreateOutcome): Promise<number> {
    const untilMs = this.nowMs + ms;
    for (let sent = 0; ;) {
      const answer = await this.acquire();
      if (answer === undefined) {
        sent += 1;
        this.report(outcome);
      } else if (this.nowMs + answer.waitMs > untilMs) return sent;
      else this.nowMs += answer.waitMs;
    }
  }
}
