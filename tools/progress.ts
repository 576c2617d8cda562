/** Tells the person at the terminal what takes so long. */
export interface Progress {
  /** One line that stays. */
  say(line: string): void;
  /** Shows the label, the current phase and the elapsed time until the work settles, and returns its outcome. */
  during<T>(label: string, phase: () => string, work: Promise<T>): Promise<T>;
}

/** The part of a terminal's (or file's) stream that progress is shown on. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): boolean;
}

/** Pauses between two reads of the phase: a terminal shows one live line, anything else gets a plain line each time. */
export interface ProgressPace {
  /** @default 1000 */
  readonly terminalMs?: number;
  /** @default 30000 */
  readonly plainMs?: number;
}

/** Progress on a stream, by default standard error: a live line on a terminal, plain lines now and then elsewhere. */
export function createProgress(stream: ProgressStream = process.stderr, pace: ProgressPace = {}): Progress {
  const { terminalMs = 1000, plainMs = 30_000 } = pace;
  const isTerminal = stream.isTTY === true;
  const clear = (): void => {
    if (isTerminal) stream.write('\r\x1b[2K');
  };
  return {
    say: (line) => {
      clear();
      stream.write(`${line}\n`);
    },
    during: async (label, phase, work) => {
      const startedAt = Date.now();
      const show = (): void => {
        const line = `  ${label}: ${phase()} (${formatElapsed(Date.now() - startedAt)})`;
        clear();
        // One column stays free, or some terminals wrap the line and the next clearing misses a part.
        stream.write(isTerminal ? line.slice(0, (stream.columns ?? 80) - 1) : `${line}\n`);
      };
      const timer = setInterval(show, isTerminal ? terminalMs : plainMs);
      try {
        return await work;
      } finally {
        clearInterval(timer);
        clear();
      }
    },
  };
}

/** Progress that is not shown. */
export const silentProgress: Progress = { say: () => undefined, during: (_label, _phase, work) => work };

/** Minutes and seconds, such as `3:07`. */
export function formatElapsed(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
