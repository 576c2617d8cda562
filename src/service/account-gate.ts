import { setTimeout as sleep } from 'node:timers/promises';
import { CreateLimiter, type CreateLimiterOptions, type CreateLimiterView } from './create-limiter';
import { RateLimitedError, ServiceTimeoutError, ServiceUnavailableError } from './errors';
import { formatRate, steadyNow, TokenBucket, type TokenBucketOptions } from './token-bucket';

export interface AccountRates {
  /** Per second, for all workers of a task queue together. */
  readonly createsPerSecond: number;
  readonly pollsPerSecond: number;
  /** Most concurrent uploads in this worker. @default as many as come */
  readonly uploadsAtOnce?: number;
}

/** So long after the last end that a callback told first, none are expected. */
const heardMs = 600_000;

/** Whether the service's callbacks come, by the ends of an account's tasks that this worker saw. */
export class CallbackNews {
  readonly #now: () => number;
  #heardAtMs = -Infinity;

  constructor(now = steadyNow) {
    this.#now = now;
  }

  /** An end that a callback told first, or none did: then all tasks are polled as usual at once. */
  ended(isTold: boolean): void {
    this.#heardAtMs = isTold ? this.#now() : -Infinity;
  }

  get come(): boolean {
    return this.#now() - this.#heardAtMs < heardMs;
  }
}

export class AccountGate {
  readonly callbacks = new CallbackNews();
  readonly creates: CreateLimiter;
  readonly polls: PollLimiter;
  readonly uploads: UploadSlots;
  readonly #rates: AccountRates;

  constructor(rates: AccountRates, creates: Omit<CreateLimiterOptions, 'perSecond'> = {}) {
    this.#rates = rates;
    this.creates = new CreateLimiter({ ...creates, perSecond: rates.createsPerSecond });
    this.polls = new PollLimiter({ perSecond: rates.pollsPerSecond });
    this.uploads = new UploadSlots(rates.uploadsAtOnce);
  }

  shareAmong(workers: number): void {
    this.creates.setRate(this.#rates.createsPerSecond / workers, workers);
    this.polls.setRate(this.#rates.pollsPerSecond / workers);
  }

  view(): { readonly creates: CreateLimiterView; readonly polls: PollLimiterView } {
    return { creates: this.creates.view(), polls: this.polls.view() };
  }
}

abstract class HeldBackError extends Error {
  readonly retryInMs: number;

  constructor(message: string, retryInMs: number) {
    super(message);
    this.name = new.target.name;
    this.retryInMs = retryInMs;
  }
}

/** A query was not sent; `isUnanswered`: the service answers none in time, otherwise others come first. */
export class PollHeldBackError extends HeldBackError {
  readonly isUnanswered: boolean;

  constructor(words: string, retryInMs: number, isUnanswered = false) {
    super(`the query was not sent: ${words}`, retryInMs);
    this.isUnanswered = isUnanswered;
  }
}

export class UploadHeldBackError extends HeldBackError {}

export interface PollLimiterView {
  readonly perSecond: number;
  /** ISO-8601: until when the service asked for no queries; null when it did not. */
  readonly heldBackUntil: string | null;
  /** ISO-8601: since when queries time out, so that only one at a time is sent; null when they are answered. */
  readonly stalledSince: string | null;
  readonly unanswered: number;
}

const usualRestMs = 1_000;

const timeoutsUntilStalled = 3;
/** Pause between two queries to a stalled service; doubles up to the longest. */
const firstProbePauseMs = 500;
const longestProbePauseMs = 10_000;
/** Fewer than the client's connections, so that stops and archives always find a free one. */
const maxUnanswered = 48;
/** A task whose query has not come for so long after its place was due has ended, or another worker watches it. */
const bookedMs = 60_000;

interface QueryTurn {
  /** Its query keeps the place that is beyond the patience for when it comes again. Absent: no place is kept. */
  readonly task?: string;
  /** Ends the wait only. */
  readonly signal?: AbortSignal;
}

/**
 * Limits the queries of one account in one worker by rate, concurrency and the service's `Retry-After`. While queries
 * time out, only one at a time is sent, as each would hold a slot of the worker; the first reply ends that. Stops and
 * archives are not limited.
 */
export class PollLimiter {
  readonly #rate: TokenBucket;
  readonly #now: () => number;
  #inTurn = 0;
  readonly #line: (() => void)[] = [];
  /** When the places of tasks are due that came before them, in the order of the places. */
  readonly #booked = new Map<string, number>();
  #restUntilMs = 0;
  #unanswered = 0;
  #timeouts = 0;
  #stalledSinceMs: number | undefined;
  #nextProbeMs = 0;

  constructor(options: TokenBucketOptions) {
    this.#rate = new TokenBucket(options);
    this.#now = options.now ?? steadyNow;
  }

  setRate(perSecond: number): void {
    this.#rate.setRate(perSecond);
  }

  /** Sends a query in its turn; throws PollHeldBackError if it is beyond the patience. */
  async run<T>(
    query: (waitedMs: number) => Promise<T>,
    patienceMs: number,
    { task, signal }: QueryTurn = {},
  ): Promise<T> {
    this.#requireAnswers();
    const restMs = this.#restUntilMs - this.#now();
    if (restMs > patienceMs) {
      const until = new Date(this.#restUntilMs).toISOString();
      throw new PollHeldBackError(`the service asked for none until ${until}`, restMs);
    }
    const placeMs = this.#placeMs(task, patienceMs);
    if (placeMs > patienceMs) {
      const words = `queries are limited to ${formatRate(this.#rate.perSecond)} in this worker`;
      throw new PollHeldBackError(words, placeMs);
    }
    const waitMs = Math.max(0, restMs, placeMs);
    if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    this.#unanswered += 1;
    try {
      const answer = await query(waitMs);
      this.#recover();
      return answer;
    } catch (error) {
      if (error instanceof ServiceTimeoutError) this.#stall();
      // Any other error is a reply, or comes at once.
      else this.#recover();
      if (error instanceof RateLimitedError || error instanceof ServiceUnavailableError) {
        const askedMs = error.retryAfterMs ?? (error instanceof RateLimitedError ? usualRestMs : 0);
        this.#restUntilMs = Math.max(this.#restUntilMs, this.#now() + askedMs);
        // Places that come due meanwhile would all be used at once.
        if (askedMs > 0) this.#booked.clear();
      }
      throw error;
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** As `run`, but waits for its turn: first come, first served. */
  async runInLine<T>(query: () => Promise<T>, patienceMs: number, turn: QueryTurn): Promise<T> {
    if (this.#inTurn < maxUnanswered) this.#inTurn += 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
    try {
      turn.signal?.throwIfAborted();
      return await this.run(query, patienceMs, turn);
    } finally {
      const next = this.#line.shift();
      if (next === undefined) this.#inTurn -= 1;
      else next();
    }
  }

  view(): PollLimiterView {
    return {
      perSecond: this.#rate.perSecond,
      heldBackUntil: this.#now() < this.#restUntilMs ? new Date(this.#restUntilMs).toISOString() : null,
      stalledSince: this.#stalledSinceMs === undefined ? null : new Date(this.#stalledSinceMs).toISOString(),
      unanswered: this.#unanswered,
    };
  }

  /** Takes a place and says how far off it is; one beyond the patience is booked for the task, or left to others. */
  #placeMs(task: string | undefined, patienceMs: number): number {
    const nowMs = this.#now();
    for (const [other, dueMs] of this.#booked) {
      if (nowMs - dueMs < bookedMs) break;
      this.#booked.delete(other);
    }
    const bookedAtMs = task === undefined ? undefined : this.#booked.get(task);
    const placeMs = bookedAtMs === undefined ? this.#rate.untilMs() : Math.max(0, bookedAtMs - nowMs);
    if (placeMs <= patienceMs) {
      if (task === undefined || !this.#booked.delete(task)) this.#rate.take();
    } else if (task !== undefined && bookedAtMs === undefined) {
      this.#booked.set(task, nowMs + placeMs);
      this.#rate.take();
    }
    return placeMs;
  }

  #requireAnswers(): void {
    const nowMs = this.#now();
    if (this.#stalledSinceMs === undefined) {
      if (this.#unanswered < maxUnanswered) return;
      throw new PollHeldBackError(`${this.#unanswered} others wait for the service’s answer`, firstProbePauseMs, true);
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
}

/** When a refused upload tries again: later, the more are refused. */
const soonestRetryMs = 2_000;
const latestRetryMs = 30_000;
const retryPerRefusalMs = 200;

/** Limits one account's uploads: slow ones must not take all slots, which Temporal's fairness does not prevent. */
export class UploadSlots {
  readonly #mostAtOnce: number;
  #running = 0;
  #refused = 0;
  #sinceMs = performance.now();

  constructor(mostAtOnce = Number.POSITIVE_INFINITY) {
    this.#mostAtOnce = mostAtOnce;
  }

  /** Throws UploadHeldBackError at once when the share is used up: waiting here would hold a slot. */
  async run<Result>(upload: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#mostAtOnce) {
      if (performance.now() - this.#sinceMs > latestRetryMs) this.#refused = 0;
      if (this.#refused === 0) this.#sinceMs = performance.now();
      this.#refused += 1;
      const delayMs = Math.min(latestRetryMs, Math.max(soonestRetryMs, this.#refused * retryPerRefusalMs));
      const words = `${this.#mostAtOnce} uploads of the account run in this worker, as many as one account may have`;
      throw new UploadHeldBackError(words, Math.round(delayMs * (0.75 + Math.random() / 2)));
    }
    this.#running += 1;
    try {
      return await upload();
    } finally {
      this.#running -= 1;
    }
  }
}
