import { MultiBar, type SingleBar } from 'cli-progress';
import type { Output } from './command-context';
import { fit } from './format';

/** A line by a name that stays its own, and what it says at a moment. */
export type ShownLine = readonly [name: string, text: (nowMs: number) => string];

const framesPerSecond = 5;
const narrowestColumns = 20;

/** Lines that renew themselves on a terminal; only what changed is written, in place, so nothing flickers. */
export class TerminalLines {
  private readonly bars: MultiBar;
  private readonly lines = new Map<string, SingleBar>();

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    const width = (): number => Math.max(narrowestColumns, (stream.columns ?? 80) - 1);
    this.bars = new MultiBar({
      stream,
      fps: framesPerSecond,
      hideCursor: true,
      clearOnComplete: true,
      format: (_options, _params, payload: { line: (nowMs: number) => string }) => fit(payload.line(now()), width()),
    });
  }

  /** Shows these lines; others disappear. A new one stands below those that are there. */
  show(lines: readonly ShownLine[]): void {
    const shown = new Set(lines.map(([name]) => name));
    for (const [name, line] of lines) {
      const payload = { line };
      const bar = this.lines.get(name) ?? this.bars.create(1, 0, payload);
      bar.update(payload);
      this.lines.set(name, bar);
    }
    for (const [name, bar] of this.lines) {
      if (shown.has(name)) continue;
      this.bars.remove(bar);
      this.lines.delete(name);
    }
  }

  /** Removes them from the terminal; what stands there afterwards is the caller's. */
  stop(): void {
    this.bars.stop();
  }
}
