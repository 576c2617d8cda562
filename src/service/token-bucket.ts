/** Milliseconds since 1970, as this process saw it when it began: setting the system's clock does not move it. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

/** Options of a {@link TokenBucket}. */
export interface TokenBucketOptions {
  /** On average; above 0, and below 1 for less than one a second. */
  readonly perSecond: number;
  /** The clock, in milliseconds. @default {@link steadyNow} */
  readonly now?: () => number;
}

/**
 * A token bucket that holds one second's worth, and says when the next place is free instead of waiting for it. A place
 * may be taken before it is due; the ones after it are due later then.
 */
export class TokenBucket {
  readonly #now: () => number;
  #perSecond: number;
  /** Below zero: places that are taken before they are due. */
  #free: number;
  #atMs: number;

  constructor({ perSecond, now = steadyNow }: TokenBucketOptions) {
    this.#now = now;
    this.#atMs = now();
    this.#perSecond = perSecond;
    this.#free = this.#most;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  get #most(): number {
    return Math.max(1, this.#perSecond);
  }

  /** What is free stays so, up to one second's worth of the new rate. */
  setRate(perSecond: number): void {
    this.#refill();
    this.#perSecond = perSecond;
    this.#free = Math.min(this.#free, this.#most);
  }

  /** How long until the next `places` are free together, in whole milliseconds; 0: they are. */
  untilMs(places = 1): number {
    this.#refill();
    return Math.max(0, Math.ceil((places - this.#free) / (this.#perSecond / 1_000)));
  }

  /** Takes the next place. */
  take(): void {
    this.#refill();
    this.#free -= 1;
  }

  #refill(): void {
    const nowMs = this.#now();
    // A clock that is set back adds and removes nothing.
    this.#free = Math.min(this.#most, this.#free + Math.max(0, nowMs - this.#atMs) * (this.#perSecond / 1_000));
    this.#atMs = nowMs;
  }
}

/** A rate for people; a part of one may have many digits. */
export function formatRate(perSecond: number): string {
  return `${Number(perSecond.toPrecision(3))} a second`;
}
