/** Tells the person at the terminal what takes so long. */
export interface Progress {
  /** One line that stays. */
  say(line: string): void;
  /** Shows the label, the current phase and the elapsed time until the work settles, and returns its outcome. */
  during<T>(label: string, phase: () => string, work: Promise<T>): Promise<T>;
}

/** Progress on standard error: a live line on a terminal, a plain line every half a minute elsewhere. */
export function createProgress(): Progress {
  const stream = process.stderr;
  const isTerminal = stream.isTTY;
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
        stream.write(isTerminal ? line.slice(0, (stream.columns || 80) - 1) : `${line}\n`);
      };
      const timer = setInterval(show, isTerminal ? 1_000 : 30_000);
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
function formatElapsed(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
