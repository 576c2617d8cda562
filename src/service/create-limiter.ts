import type { CreateOutcome } from '../domain/create-outcome';
import { formatRate, steadyNow, TokenBucket } from './token-bucket';

/**
 * `open`: creates are sent. `closed`: none is sent until a moment. `probing`: that moment has passed, and one create at
 * a time is sent until one succeeds.
 */
export type CreateLimiterState = 'open' | 'closed' | 'probing';

/** The state of a limiter, for people. */
export interface CreateLimiterView {
  readonly state: CreateLimiterState;
  /** ISO-8601: until when it is closed; null when it is not. */
  readonly closedUntil: string | null;
  /** Why it is not open; null when it is. */
  readonly reason: string | null;
  /** How many creates wait here for their turn. */
  readonly waiting: number;
  /** How many creates are on their way. */
  readonly unanswered: number;
  /** How many of these there may be now. */
  readonly atOnce: number;
  /** Whether creates are late because of it: it is not open, and some wait here, are to come again or are on their way. */
  readonly isHoldingBack: boolean;
}

/** Called when a limiter closes or opens: once each, however many creates wait. */
export type CreateLimiterListener = (change: 'closed' | 'still closed' | 'opened', limiter: CreateLimiterView) => void;

/** What a limiter is made of. */
export interface CreateLimiterOptions {
  /** Creates a second, on average. */
  readonly perSecond: number;
  readonly onChange?: CreateLimiterListener;
  /** How long a create may wait here for its turn. @default 2000 */
  readonly patienceMs?: number;
  /** How many creates may wait here: each holds a slot of the worker, which other activities need, too. @default 100 */
  readonly mostWaiting?: number;
  /** The clock, in milliseconds since 1970. @default {@link steadyNow} */
  readonly now?: () => number;
  /** Numbers in [0, 1). @default Math.random */
  readonly random?: () => number;
}

/** It is not this create's turn soon enough. */
export interface HeldBack {
  /** When to try again, from now; at least 1. */
  readonly waitMs: number;
  /** What it waits for; without URLs and secrets. */
  readonly reason: string;
  /** Nothing is wrong: those before it are sent first. */
  readonly isInTurn: boolean;
}

interface Waiting {
  readonly settle: (heldBack: HeldBack | undefined) => void;
  readonly giveUp: NodeJS.Timeout;
}

/** How long it stays closed after the first refusal; doubles with each further one, up to {@link longestPauseMs}. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** Concurrent creates at the start; each reply allows one more. */
const firstAtOnce = 4;
const mostAtOnce = 64;
const usualMostWaiting = 100;
const usualPatienceMs = 2_000;
/** The least pause before another attempt while the limiter is open. */
const leastReturnMs = 500;
/** A create that was held back and has not come again so long after its time is gone: stopped, or sent by another worker. */
const missingAfterMs = 30_000;
/** Turns further off than this are spread at random. */
const farMs = 30_000;

/**
 * Limits the creates of one account in one worker: by rate, by concurrency, and to none while the service refuses or
 * fails them.
 *
 * A create that is refused for now, or fails, closes it, for as long as the service asks and at least for a pause that
 * doubles. Then one create is sent; what becomes of it opens the limiter or closes it again. The concurrency begins
 * with a few and doubles with each round of replies, so that a failing service gets a handful however many tasks start,
 * and a healthy one all of them within moments.
 */
export class CreateLimiter {
  readonly #rate: TokenBucket;
  #perSecond: number;
  readonly #onChange: CreateLimiterListener;
  readonly #patienceMs: number;
  readonly #mostWaiting: number;
  readonly #now: () => number;
  readonly #random: () => number;
  /** First come, first served. */
  readonly #waiting = new Set<Waiting>();
  #nextPlace: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #atOnce = firstAtOnce;
  /** Refusals since the last create that was answered. */
  #refusals = 0;
  #closedUntilMs = 0;
  #lastFailure = '';
  /** When the create that was held back last tries again. */
  #lastReturnMs = 0;
  /** When the last of all that were held back tries again, also of those from before the last refusal. */
  #heldBackUntilMs = 0;

  constructor(options: CreateLimiterOptions) {
    const { perSecond, onChange = () => undefined, patienceMs = usualPatienceMs } = options;
    const { now = steadyNow, random = Math.random, mostWaiting = usualMostWaiting } = options;
    this.#rate = new TokenBucket({ perSecond, now });
    this.#perSecond = perSecond;
    this.#onChange = onChange;
    this.#patienceMs = patienceMs;
    this.#mostWaiting = mostWaiting;
    this.#now = now;
    this.#random = random;
  }

  /**
   * Waits shortly for the turn of a create. `undefined`: it is its turn, and {@link report} or {@link withdraw} must
   * follow.
   */
  async acquire(): Promise<HeldBack | undefined> {
    const isSoon = this.#rate.untilMs(this.#waiting.size + 1) <= this.#patienceMs;
    if (this.#state() !== 'open' && !this.#hasRoom()) return this.heldBack();
    if (!isSoon || this.#waiting.size >= this.#mostWaiting) return this.heldBack();
    return await new Promise((resolve) => {
      const waiting: Waiting = {
        settle: (heldBack) => {
          clearTimeout(waiting.giveUp);
          this.#waiting.delete(waiting);
          resolve(heldBack);
        },
        giveUp: setTimeout(() => {
          waiting.settle(this.heldBack());
          this.#serve();
        }, this.#patienceMs),
      };
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  /** Changes how many creates a second are sent, on average. */
  setRate(perSecond: number): void {
    this.#perSecond = perSecond;
    this.#rate.setRate(perSecond);
    this.#serve();
  }

  /** What became of a create whose turn it was. Its messages must be free of URLs and secrets. */
  report(outcome: CreateOutcome): void {
    this.#unanswered -= 1;
    switch (outcome.outcome) {
      case 'accepted':
        this.#answered();
        break;
      case 'rejected':
        // A final rejection concerns that task only: the service answers.
        if (outcome.retryable) this.#refused(formatRefusal(outcome), outcome.retryAfterMs);
        else this.#answered();
        break;
      case 'notSent':
        this.#refused(`the last create could not be sent: ${outcome.reason}`);
        break;
      case 'uncertain':
        this.#refused(`the last create got no usable answer: ${outcome.reason}`);
        break;
    }
    this.#serve();
  }

  /** A create whose turn it was is not sent after all. */
  withdraw(): void {
    this.#unanswered -= 1;
    this.#serve();
  }

  /** When a create that is held back should try again, and why. The times of several creates are spread by the rate. */
  heldBack(): HeldBack {
    const nowMs = this.#now();
    const closedMs = this.#closedUntilMs - nowMs;
    const placeMs = this.#rate.untilMs(this.#waiting.size + 1);
    const earliestMs = nowMs + (closedMs > 0 ? closedMs : Math.max(placeMs, leastReturnMs));
    this.#lastReturnMs = Math.max(earliestMs, this.#lastReturnMs + 1_000 / this.#perSecond);
    const isFar = this.#lastReturnMs > earliestMs + farMs;
    const returnMs = isFar ? earliestMs + farMs * this.#random() : this.#lastReturnMs;
    this.#heldBackUntilMs = Math.max(this.#heldBackUntilMs, returnMs);
    const waitMs = Math.max(1, Math.ceil(returnMs - nowMs));
    return { waitMs, reason: this.#reason(), isInTurn: this.#state() === 'open' };
  }

  /** Its state, for people. */
  view(): CreateLimiterView {
    const state = this.#state();
    return {
      state,
      closedUntil: state === 'closed' ? new Date(this.#closedUntilMs).toISOString() : null,
      reason: state === 'open' ? null : this.#lastFailure,
      waiting: this.#waiting.size,
      unanswered: this.#unanswered,
      atOnce: this.#atOnce,
      isHoldingBack: state !== 'open' && this.#isAnyLate(),
    };
  }

  #isAnyLate(): boolean {
    const isHeldBack = this.#now() < this.#heldBackUntilMs + missingAfterMs;
    return isHeldBack || this.#waiting.size > 0 || this.#unanswered > 0;
  }

  #state(): CreateLimiterState {
    if (this.#now() < this.#closedUntilMs) return 'closed';
    return this.#refusals > 0 ? 'probing' : 'open';
  }

  #hasRoom(): boolean {
    return this.#state() !== 'closed' && this.#unanswered < this.#atOnce;
  }

  /** Lets those go on whose turn it is; once it is closed, all get the time of their next attempt. */
  #serve(): void {
    for (const waiting of this.#waiting) {
      if (this.#state() === 'closed') {
        waiting.settle(this.heldBack());
      } else if (this.#hasRoom() && this.#rate.untilMs() === 0) {
        this.#rate.take();
        this.#unanswered += 1;
        waiting.settle(undefined);
      } else break;
    }
    this.#serveAtNextPlace();
  }

  #serveAtNextPlace(): void {
    clearTimeout(this.#nextPlace);
    if (this.#waiting.size === 0 || !this.#hasRoom()) return;
    this.#nextPlace = setTimeout(() => {
      this.#serve();
    }, this.#rate.untilMs());
  }

  #answered(): void {
    // A reply to a create that was sent before the limiter closed does not open it.
    if (this.#state() === 'closed') return;
    const wasClosed = this.#refusals > 0;
    this.#refusals = 0;
    this.#atOnce = Math.min(mostAtOnce, this.#atOnce + 1);
    if (wasClosed) this.#onChange('opened', this.view());
  }

  #refused(failure: string, retryAfterMs = 0): void {
    const nowMs = this.#now();
    if (nowMs < this.#closedUntilMs) {
      // It was sent before the limiter closed; a longer Retry-After still counts.
      this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + retryAfterMs);
      return;
    }
    const wasClosed = this.#refusals > 0;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#refusals, 20));
    this.#refusals += 1;
    this.#atOnce = 1;
    this.#lastFailure = failure;
    this.#closedUntilMs = nowMs + Math.max(retryAfterMs, pauseMs);
    this.#lastReturnMs = 0;
    this.#onChange(wasClosed ? 'still closed' : 'closed', this.view());
  }

  #reason(): string {
    switch (this.#state()) {
      case 'closed':
        return this.#lastFailure;
      case 'probing':
        return `${this.#lastFailure}; another one is to show whether it takes them again`;
      case 'open':
        return this.#unanswered >= this.#atOnce
          ? `${this.#unanswered} creates wait for the service’s answer`
          : `creates are limited to ${formatRate(this.#perSecond)} in this worker`;
    }
  }
}

function formatRefusal({ httpStatus, message }: { readonly httpStatus: number; readonly message: string }): string {
  return `the service refused the last create (HTTP ${httpStatus}: ${message})`;
}
