import { setTimeout as delay } from 'node:timers/promises';
import { RateLimitedError, ServiceApiError, ServiceUnavailableError } from './errors';
import { Rate, type RateOptions } from './rate';

/**
 * A query was not sent, for the account has no place free for it soon enough. Ask again later.
 *
 * @internal exported for tests
 */
export class PollHeldBackError extends Error {
  /** When there will be a place, from now. */
  readonly retryInMs: number;

  constructor(words: string, retryInMs: number) {
    super(`the query was not sent: ${words}`);
    this.name = 'PollHeldBackError';
    this.retryInMs = retryInMs;
  }
}

/** A limiter as people look at it. */
export interface PollLimiterView {
  readonly perSecond: number;
  /** ISO-8601: until when the service asked for no queries; null when it did not. */
  readonly heldBackUntil: string | null;
}

/** How long queries rest when the service says "too many" and not until when. */
const usualRestMs = 1_000;

/**
 * What holds back the queries for tasks' states of one account in one worker: so many a second, and none while the
 * service asks to wait (`Retry-After`). Stops and archives do not pass through it.
 */
export class PollLimiter {
  readonly #rate: Rate;
  readonly #perSecond: number;
  readonly #now: () => number;
  #restUntilMs = 0;

  constructor(options: RateOptions) {
    this.#rate = new Rate(options);
    this.#perSecond = options.perSecond;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Sends a query at the next free place, and heeds what the service says to it. `query` is told how long it waited.
   *
   * @throws PollHeldBackError, at once, when the place is further off than `patienceMs`.
   */
  async run<T>(query: (waitedMs: number) => Promise<T>, patienceMs: number): Promise<T> {
    const waitMs = this.#takePlace(patienceMs);
    if (waitMs > 0) await delay(waitMs);
    try {
      return await query(waitMs);
    } catch (error) {
      this.#heed(error);
      throw error;
    }
  }

  /** As people look at it. */
  view(): PollLimiterView {
    const isResting = this.#now() < this.#restUntilMs;
    return {
      perSecond: this.#perSecond,
      heldBackUntil: isResting ? new Date(this.#restUntilMs).toISOString() : null,
    };
  }

  #takePlace(patienceMs: number): number {
    const restMs = Math.max(0, this.#restUntilMs - this.#now());
    const waitMs = Math.max(restMs, this.#rate.untilMs());
    if (waitMs > patienceMs) {
      const why = restMs > 0 ? 'the service asked for fewer' : `queries are limited to ${this.#perSecond} a second`;
      throw new PollHeldBackError(why, waitMs);
    }
    this.#rate.take();
    return waitMs;
  }

  #heed(error: unknown): void {
    const asksToWait = error instanceof RateLimitedError || error instanceof ServiceUnavailableError;
    if (!asksToWait || !(error instanceof ServiceApiError)) return;
    const restMs = error.retryAfterMs ?? (error instanceof RateLimitedError ? usualRestMs : 0);
    this.#restUntilMs = Math.max(this.#restUntilMs, this.#now() + restMs);
  }
}
