/**
 * One time limit and one caller's signal as a single signal. Unlike `AbortSignal.any`, nothing of it stays attached
 * to a long-lived caller's signal once `clear` was called.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #isExpired = false;

  constructor(timeoutMs: number, caller?: AbortSignal) {
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      this.#isExpired = true;
      this.#controller.abort();
    }, timeoutMs);
    if (caller?.aborted === true) this.#controller.abort();
    else caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
  }

  /** Aborted when the time is over or the caller aborts. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the time was over before the caller aborted and before `clear`. */
  get isExpired(): boolean {
    return this.#isExpired;
  }

  /** What `work` comes to, or a rejection as soon as the signal is aborted, whether or not `work` notices. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        reject(new Error('aborted'));
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the time limit and lets go of the caller's signal. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }

  readonly #onCallerAbort = (): void => {
    clearTimeout(this.#timer);
    this.#controller.abort();
  };
}
