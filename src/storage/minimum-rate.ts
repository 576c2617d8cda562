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
 * Runs a transfer and aborts it when it becomes too slow, which neither an idle timeout nor a total one tells. The transfer
 * gets the signal that ends it, and calls back with the bytes moved so far, also from 0 again.
 */
export async function atMinimumRate<Result>(
  { rate, totalBytes, signal, tooSlow }: WatchedTransfer,
  transfer: (signal: AbortSignal | undefined, onProgress: (bytes: number) => void) => Promise<Result>,
): Promise<Result> {
  if (rate === undefined) return await transfer(signal, () => undefined);
  const { bytesPerSecond, windowMs } = rate;
  const slow = new AbortController();
  let bytes = 0;
  /** The bytes moved at each sample of one window. */
  let seen = [0];
  let samplesAtEnd = 0;
  /** The rate over the last window if it is too low. */
  const sample = (): number | undefined => {
    if (bytes === totalBytes) {
      samplesAtEnd += 1;
      return samplesAtEnd > answerWindows * samplesPerWindow ? 0 : undefined;
    }
    const isAgain = bytes < (seen.at(-1) ?? 0) || samplesAtEnd > 0;
    samplesAtEnd = 0;
    seen = [...(isAgain ? [] : seen), bytes];
    if (seen.length <= samplesPerWindow) return undefined;
    const measured = Math.floor((bytes - (seen.shift() ?? 0)) / (windowMs / 1000));
    return measured < bytesPerSecond ? measured : undefined;
  };
  const timer = setInterval(() => {
    const measured = sample();
    if (measured === undefined) return;
    const rates = `${measured} bytes a second over ${windowMs / 1000} s, where ${bytesPerSecond} are the least`;
    slow.abort(tooSlow(rates));
  }, windowMs / samplesPerWindow);
  try {
    const either = signal === undefined ? slow.signal : AbortSignal.any([slow.signal, signal]);
    return await transfer(either, (moved) => {
      bytes = moved;
    });
  } finally {
    clearInterval(timer);
  }
}
