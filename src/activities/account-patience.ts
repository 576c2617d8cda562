/** The worker does not know the account; one that is started a moment later may. */
export class AccountUnknownError extends Error {
  constructor(account: string, known: Iterable<string>) {
    const names = [...known].join(', ');
    super(`The worker has no account "${account}"; it has: ${names}. Add it to LONGHAUL_ACCOUNTS_FILE.`);
    this.name = 'AccountUnknownError';
  }
}

/** More waiting steps than this are not remembered; the oldest then begins anew. */
const maxRemembered = 10_000;

/**
 * How long an unknown account or a refused key is tried again before it counts as final: a rolling restart brings
 * workers that know the account, and a key that is changed is refused for a while. Counted for each waiting step, from
 * the first time that it was refused in this worker.
 */
export class AccountPatience {
  readonly #limitMs: number;
  readonly #sinceMs = new Map<string, number>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** It was refused again: whether that has lasted too long. */
  isOver(step: string): boolean {
    const nowMs = Date.now();
    const sinceMs = this.#sinceMs.get(step) ?? nowMs;
    this.#sinceMs.set(step, sinceMs);
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size > maxRemembered && oldest !== undefined) this.#sinceMs.delete(oldest);
    const isOver = nowMs - sinceMs >= this.#limitMs;
    if (isOver) this.#sinceMs.delete(step);
    return isOver;
  }

  /** It went through, or failed for another reason. */
  forget(step: string): void {
    this.#sinceMs.delete(step);
  }
}
