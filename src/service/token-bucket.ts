/** Options of a {@link TokenBucket}. */
export interface TokenBucketOptions {
  /** On average; above 0, and below 1 for less than one a second. */
  readonly perSecond: number;
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * So many a second, and after a quiet second as many at once: a token bucket that says when the next place is free
 * instead of waiting for it. A place may be taken before it is due; the ones after it are due later then.
 */
export class TokenBucket {
  readonly #perMs: number;
  readonly #most: number;
  readonly #now: () => number;
  /** Below zero: so many places are taken that are not yet due. */
  #free: number;
  #atMs: number;

  constructor({ perSecond, now = Date.now }: TokenBucketOptions) {
    this.#perMs = perSecond / 1_000;
    this.#most = Math.max(1, perSecond);
    this.#now = now;
    this.#free = this.#most;
    this.#atMs = now();
  }

  /** How long until the next `places` are free together, in whole milliseconds; 0: they are. */
  untilMs(places = 1): number {
    this.#refill();
    return Math.max(0, Math.ceil((places - this.#free) / this.#perMs));
  }

  /** Takes the next place. */
  take(): void {
    this.#refill();
    this.#free -= 1;
  }

  #refill(): void {
    const nowMs = this.#now();
    // A clock that was set back gives nothing, and takes nothing.
    this.#free = Math.min(this.#most, this.#free + Math.max(0, nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
  }
}
