import type { CreateOutcome } from '../core/create-outcome';

/** What has to change: the account (balance, suspension, key, permission), by a person, or the service. */
export type RefusalCause = 'account' | 'service';

/** A create that was not taken, or a check that keeps the next one from being sent. */
export interface Refusal {
  readonly cause: RefusalCause;
  /** Without URLs and secrets. */
  readonly reason: string;
  /** A create may have been taken: no other is risked soon. */
  readonly isUncertain?: true;
  /** The service asked to wait: another create tells best whether that is over. */
  readonly isForNow?: true;
  readonly retryAfterMs: number;
}

export function isOfAccount(outcome: CreateOutcome): boolean {
  return (
    outcome.outcome === 'rejected' && !outcome.retryable && (outcome.scope === 'account' || outcome.scope === 'key')
  );
}

/** A wrong address, or a gateway that does not reach the service: any create would be refused. */
export function isOfWay(outcome: CreateOutcome): boolean {
  return outcome.outcome === 'rejected' && !outcome.retryable && outcome.scope === 'way';
}

/** undefined: the service takes creates, whether or not it took this one. */
export function refusalIn(outcome: CreateOutcome): Refusal | undefined {
  switch (outcome.outcome) {
    case 'accepted':
      return undefined;
    case 'rejected': {
      const { httpStatus, message, retryable, retryAfterMs = 0 } = outcome;
      const reason = `the service refused the last create (HTTP ${httpStatus}: ${message})`;
      if (isOfAccount(outcome)) {
        const settled = 'what waits goes on by itself once that is settled with the service';
        return { cause: 'account', reason: `${reason}; ${settled}`, retryAfterMs };
      }
      if (isOfWay(outcome)) return { cause: 'service', reason, retryAfterMs };
      return retryable ? { cause: 'service', reason, isForNow: true, retryAfterMs } : undefined;
    }
    case 'notSent':
      return { cause: 'service', reason: `the last create could not be sent: ${outcome.reason}`, retryAfterMs: 0 };
    case 'uncertain': {
      const reason = `the last create got no usable answer: ${outcome.reason}`;
      return { cause: 'service', reason, isUncertain: true, retryAfterMs: 0 };
    }
  }
}

/** `probing`: a pause is over, and one create at a time is sent until one succeeds. */
export type CreateLimiterState = 'open' | 'closed' | 'probing';

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

export class CreateGate {
  closedUntilMs = 0;
  last: Refusal = { cause: 'service', reason: '', retryAfterMs: 0 };
  readonly #now: () => number;
  readonly #uncertainPausesMs: readonly number[];
  #refusals = 0;
  #uncertain = 0;

  constructor(now: () => number, uncertainPausesMs: readonly number[]) {
    this.#now = now;
    this.#uncertainPausesMs = uncertainPausesMs;
  }

  get state(): CreateLimiterState {
    if (this.#now() < this.closedUntilMs) return 'closed';
    return this.#refusals > 0 ? 'probing' : 'open';
  }

  /** Whether a request that costs nothing has to succeed before the next create. */
  get needsCheck(): boolean {
    return this.#refusals > 0 && this.last.isForNow !== true;
  }

  /** Whether more than one create in a row was refused: one alone may be a chance. */
  get isRepeated(): boolean {
    return this.#refusals > 1 || this.#uncertain > 1;
  }

  /** Undefined: sent before it closed. `isRepeated`: of the app refused last; the pause does not grow. */
  close(refusal: Refusal, workers: number, isRepeated = false): 'closed' | 'still closed' | undefined {
    const nowMs = this.#now();
    const askedMs = nowMs + refusal.retryAfterMs;
    if (this.state === 'closed') {
      this.closedUntilMs = Math.max(this.closedUntilMs, askedMs);
      return undefined;
    }
    const change = this.#refusals === 0 ? 'closed' : 'still closed';
    if (this.#refusals === 0 || !isRepeated) this.#refusals += 1;
    let pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#refusals - 1, 20));
    if (refusal.isUncertain === true) {
      pauseMs = workers * (this.#uncertainPausesMs[this.#uncertain] ?? this.#uncertainPausesMs.at(-1) ?? 0);
      this.#uncertain += 1;
    }
    this.last = refusal;
    this.closedUntilMs = Math.max(askedMs, nowMs + pauseMs);
    return change;
  }

  /** A create was taken, or rejected for its own content. Returns whether the gate was not open. */
  open(): boolean {
    const wasShut = this.#refusals > 0;
    this.#refusals = 0;
    this.#uncertain = 0;
    this.closedUntilMs = 0;
    return wasShut;
  }
}
