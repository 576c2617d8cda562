/** How slow a transfer may be. */
export interface MinimumRate {
  readonly bytesPerSecond: number;
  /** Over which time the rate is measured. */
  readonly windowMs: number;
}

/** The transfer to measure. */
export interface WatchedTransfer {
  /** Undefined: it may be as slow as it likes. */
  readonly rate: MinimumRate | undefined;
  /** After so many were sent, only the reply is awaited. */
  readonly totalBytes?: number;
  readonly signal?: AbortSignal | undefined;
  /** The error that ends one that is too slow; gets its rate and the required one, in words. */
  readonly tooSlow: (rates: string) => Error;
}

/** The rate is sampled this often within its window. */
const samplesPerWindow = 12;
/** How long the reply may take once everything was sent, in windows. */
const answerWindows = 5;

/**
 * Runs a transfer and aborts it when it becomes too slow. An idle timeout does not end a transfer that sends a byte now
 * and then, and a total timeout depends on the size.
 *
 * @param transfer - gets the signal that ends it, and calls back with the bytes moved so far, also from 0 again.
 */
export async function atMinimumRate<Result>(
  { rate, totalBytes, signal, tooSlow }: WatchedTransfer,
  transfer: (signal: AbortSignal | undefined, onProgress: (bytes: number) => void) => Promise<Result>,
): Promise<Result> {
  if (rate === undefined) return await transfer(signal, () => undefined);
  const { bytesPerSecond, windowMs } = rate;
  const slow = new AbortController();
  const pace = new Pace(rate, totalBytes);
  const timer = setInterval(() => {
    const measured = pace.sample();
    if (measured === undefined) return;
    const rates = `${measured} bytes a second over ${windowMs / 1000} s, where ${bytesPerSecond} are the least`;
    slow.abort(tooSlow(rates));
  }, windowMs / samplesPerWindow);
  try {
    return await transfer(AbortSignal.any([slow.signal, ...(signal === undefined ? [] : [signal])]), (bytes) => {
      pace.bytes = bytes;
    });
  } finally {
    clearInterval(timer);
  }
}

/** The bytes moved at each sample of one window. */
class Pace {
  bytes = 0;
  readonly #rate: MinimumRate;
  readonly #totalBytes: number | undefined;
  readonly #seen: number[] = [0];
  #samplesAtEnd = 0;

  constructor(rate: MinimumRate, totalBytes: number | undefined) {
    this.#rate = rate;
    this.#totalBytes = totalBytes;
  }

  /** The rate over the last window if it is too low. */
  sample(): number | undefined {
    if (this.bytes === this.#totalBytes) {
      this.#samplesAtEnd += 1;
      return this.#samplesAtEnd > answerWindows * samplesPerWindow ? 0 : undefined;
    }
    const { bytesPerSecond, windowMs } = this.#rate;
    const isAgain = this.bytes < (this.#seen.at(-1) ?? 0) || this.#samplesAtEnd > 0;
    this.#samplesAtEnd = 0;
    if (isAgain) this.#seen.length = 0;
    this.#seen.push(this.bytes);
    if (this.#seen.length <= samplesPerWindow) return undefined;
    const oldest = this.#seen.shift() ?? 0;
    const measured = Math.floor((this.bytes - oldest) / (windowMs / 1000));
    return measured < bytesPerSecond ? measured : undefined;
  }
}
