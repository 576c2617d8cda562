export interface MinimumRate {
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

export interface WatchedTransfer {
  /** Undefined: any rate. */
  readonly rate: MinimumRate | undefined;
  /** After so many, only the reply is awaited. */
  readonly totalBytes?: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether it waits for who takes the bytes: what passes then says nothing about its rate. */
  readonly isBlocked?: () => boolean;
  /** Gets the rate and the required one, in words. */
  readonly tooSlow: (rates: string) => Error;
}

const samplesPerWindow = 12;
/** For the reply, once everything was sent. */
const answerWindows = 5;

/** Aborts a transfer that becomes too slow, which no timeout tells. It reports its bytes so far, also from 0 again. */
export async function atMinimumRate<Result>(
  { rate, totalBytes, signal, isBlocked = () => false, tooSlow }: WatchedTransfer,
  transfer: (signal: AbortSignal | undefined, onProgress: (bytes: number) => void) => Promise<Result>,
): Promise<Result> {
  if (rate === undefined) return await transfer(signal, () => undefined);
  const { bytesPerSecond, windowMs } = rate;
  const slow = new AbortController();
  let bytes = 0;
  let seen = [0];
  let samplesAtEnd = 0;
  /** The rate over the last window if it is too low. */
  const sample = (): number | undefined => {
    if (bytes === totalBytes) {
      samplesAtEnd += 1;
      return samplesAtEnd > answerWindows * samplesPerWindow ? 0 : undefined;
    }
    const isAgain = bytes < (seen.at(-1) ?? 0) || samplesAtEnd > 0 || isBlocked();
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
