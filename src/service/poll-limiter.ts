import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimitedError, ServiceApiError, ServiceTimeoutError, ServiceUnavailableError } from './errors';
import { formatRate, steadyNow, TokenBucket, type TokenBucketOptions } from './token-bucket';

/** A query was not sent, because the limiter has no place for it soon enough. */
export class PollHeldBackError extends Error {
  /** When there will be a place, from now. */
  readonly retryInMs: number;
  /** Whether that is because the service answers no query, rather than because others have their turn first. */
  readonly isUnanswered: boolean;

  constructor(words: string, retryInMs: number, isUnanswered = false) {
    super(`the query was not sent: ${words}`);
    this.name = 'PollHeldBackError';
    this.retryInMs = retryInMs;
    this.isUnanswered = isUnanswered;
  }
}

/** The state of a limiter, for people. */
export interface PollLimiterView {
  readonly perSecond: number;
  /** ISO-8601: until when the service asked for no queries; null when it did not. */
  readonly heldBackUntil: string | null;
  /** ISO-8601: since when queries get no answer in time, so that only one at a time is sent; null when they do. */
  readonly stalledSince: string | null;
  /** How many queries wait for their answer. */
  readonly unanswered: number;
}

/** How long queries pause after a 429 without `Retry-After`. */
const usualRestMs = 1_000;

/** Timeouts in a row after which the service counts as stalled. */
const timeoutsUntilStalled = 3;
/** Between two queries to a stalled service; doubles up to the longest. */
const firstProbePauseMs = 500;
const longestProbePauseMs = 10_000;
/** Fewer than the client's connections, so that stops and archives always find a free one. */
const maxUnanswered = 48;

/**
 * Limits the queries for tasks' states of one account in one worker: by rate, by concurrency, and to none while the
 * service asks to wait (`Retry-After`). While queries time out, all but one at a time are held back at once: each would
 * occupy a slot of the worker until its own timeout. The first reply ends that. Stops and archives are not limited.
 */
export class PollLimiter {
  readonly #rate: TokenBucket;
  #perSecond: number;
  readonly #now: () => number;
  /** Queries of {@link runInLine} that run, and the callbacks of those that wait. */
  #inTurn = 0;
  readonly #line: (() => void)[] = [];
  #restUntilMs = 0;
  #unanswered = 0;
  /** Queries in a row that timed out. */
  #timeouts = 0;
  #stalledSinceMs: number | undefined;
  #nextProbeMs = 0;

  constructor(options: TokenBucketOptions) {
    this.#rate = new TokenBucket(options);
    this.#perSecond = options.perSecond;
    this.#now = options.now ?? steadyNow;
  }

  /** Changes how many queries a second are sent, on average. */
  setRate(perSecond: number): void {
    this.#perSecond = perSecond;
    this.#rate.setRate(perSecond);
  }

  /**
   * Sends a query at the next free place, and follows the service's Retry-After. `query` gets the time it waited. The
   * signal ends the wait; it leaves alone a query that was sent.
   *
   * @throws PollHeldBackError, at once, when the place is further off than `patienceMs`.
   */
  async run<T>(query: (waitedMs: number) => Promise<T>, patienceMs: number, signal?: AbortSignal): Promise<T> {
    const waitMs = this.#takePlace(patienceMs);
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    this.#unanswered += 1;
    try {
      const answer = await query(waitMs);
      this.#recover();
      return answer;
    } catch (error) {
      if (error instanceof ServiceTimeoutError) this.#stall();
      // Any other error is a reply, or comes without delay.
      else this.#recover();
      this.#heed(error);
      throw error;
    } finally {
      this.#unanswered -= 1;
    }
  }

  /**
   * As `run`, for callers that may wait: first come, first served, behind as many as may be without an answer at a
   * time. Thousands of tasks get their turns in order, however low the rate is.
   */
  async runInLine<T>(query: () => Promise<T>, patienceMs: number, signal: AbortSignal): Promise<T> {
    if (this.#inTurn < maxUnanswered) this.#inTurn += 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      signal.throwIfAborted();
      return await this.run(query, patienceMs, signal);
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#inTurn -= 1;
      else next();
    }
  }

  /** Its state, for people. */
  view(): PollLimiterView {
    const isResting = this.#now() < this.#restUntilMs;
    const stalledSinceMs = this.#stalledSinceMs;
    return {
      perSecond: this.#perSecond,
      heldBackUntil: isResting ? new Date(this.#restUntilMs).toISOString() : null,
      stalledSince: stalledSinceMs === undefined ? null : new Date(stalledSinceMs).toISOString(),
      unanswered: this.#unanswered,
    };
  }

  #takePlace(patienceMs: number): number {
    this.#requireAnswers();
    const restMs = Math.max(0, this.#restUntilMs - this.#now());
    const waitMs = Math.max(restMs, this.#rate.untilMs());
    if (waitMs > patienceMs) {
      const why =
        restMs > 0
          ? `the service asked for none until ${new Date(this.#restUntilMs).toISOString()}`
          : `queries are limited to ${formatRate(this.#perSecond)} in this worker`;
      throw new PollHeldBackError(why, waitMs);
    }
    this.#rate.take();
    return waitMs;
  }

  /** Throws while too many queries are unanswered. */
  #requireAnswers(): void {
    const nowMs = this.#now();
    if (this.#stalledSinceMs === undefined) {
      if (this.#unanswered < maxUnanswered) return;
      throw new PollHeldBackError(`${this.#unanswered} others wait for the service’s answer`, firstProbePauseMs);
    }
    if (nowMs >= this.#nextProbeMs && this.#unanswered === 0) {
      this.#nextProbeMs = nowMs + firstProbePauseMs;
      return;
    }
    const since = new Date(this.#stalledSinceMs).toISOString();
    const retryInMs = Math.max(firstProbePauseMs, this.#nextProbeMs - nowMs);
    throw new PollHeldBackError(`the service has answered no query in time since ${since}`, retryInMs, true);
  }

  #stall(): void {
    const nowMs = this.#now();
    this.#timeouts += 1;
    if (this.#timeouts < timeoutsUntilStalled) return;
    this.#stalledSinceMs ??= nowMs;
    const pauseMs = firstProbePauseMs * 2 ** Math.min(20, this.#timeouts - timeoutsUntilStalled);
    this.#nextProbeMs = nowMs + Math.min(longestProbePauseMs, pauseMs);
  }

  #recover(): void {
    this.#timeouts = 0;
    this.#stalledSinceMs = undefined;
    this.#nextProbeMs = 0;
  }

  #heed(error: unknown): void {
    const asksToWait = error instanceof RateLimitedError || error instanceof ServiceUnavailableError;
    if (!asksToWait || !(error instanceof ServiceApiError)) return;
    const restMs = error.retryAfterMs ?? (error instanceof RateLimitedError ? usualRestMs : 0);
    this.#restUntilMs = Math.max(this.#restUntilMs, this.#now() + restMs);
  }
}
