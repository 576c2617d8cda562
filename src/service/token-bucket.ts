/** Milliseconds since 1970; unlike `Date.now`, not moved when the system's clock is set. */
export function steadyNow(): number {
  return performance.timeOrigin + performance.now();
}

export interface TokenBucketOptions {
  /** On average; above 0, and below 1 for less than one a second. */
  readonly perSecond: number;
  /** Milliseconds. @default {@link steadyNow} */
  readonly now?: () => number;
}

/** Holds one second's worth. A place may be taken before it is due; later ones are delayed then. */
export class TokenBucket {
  readonly #now: () => number;
  #perSecond: number;
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

  /** Whole milliseconds until `places` are free together; 0: they are. */
  untilMs(places = 1): number {
    this.#refill();
    return Math.max(0, Math.ceil((places - this.#free) / (this.#perSecond / 1_000)));
  }

  take(): void {
    this.#refill();
    this.#free -= 1;
  }

  #refill(): void {
    const nowMs = this.#now();
    this.#free = Math.min(this.#most, this.#free + Math.max(0, nowMs - this.#atMs) * (this.#perSecond / 1_000));
    this.#atMs = nowMs;
  }
}

/** For people; at most three digits. */
export function formatRate(perSecond: number): string {
  return `${Number(perSecond.toPrecision(3))} a second`;
}
