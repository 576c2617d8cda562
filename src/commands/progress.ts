import { MultiBar, type SingleBar } from 'cli-progress';
import type { TaskView } from '../client/task-view';
import type { Output } from './command-context';
import { fit } from './format';
import { detailWords, stateWords, statusLine, transferLine } from './status-line';

/** Where a person sees how a task is getting on. */
export interface Progress {
  /** Shows the task as it stands now. */
  show(view: TaskView): void;
  /** Ends the display; what stands there afterwards is the caller's. */
  stop(): void;
}

const framesPerSecond = 5;
const narrowestColumns = 20;

/** A display that fits the stream: one that redraws itself on a terminal, plain lines elsewhere. */
export function openProgress(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): Progress {
  return stream.isTTY === true ? new TerminalProgress(stream, now) : new LineProgress(stream, now);
}

/** How long the task has taken so far, or took. */
function elapsedMs({ startedAt, endedAt }: TaskView, nowMs: number): number {
  return (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt);
}

/** A line for the task and one for each transfer; only what changed is written, in place, so nothing flickers. */
class TerminalProgress implements Progress {
  private readonly bars: MultiBar;
  private readonly transfers = new Map<string, SingleBar>();
  private status: SingleBar | undefined;

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

  show(view: TaskView): void {
    const line = (nowMs: number): string => statusLine(view, elapsedMs(view, nowMs));
    this.status ??= this.bars.create(1, 0, { line });
    this.status.update({ line });
    const shown = new Set<string>();
    for (const transfer of view.transfers) {
      const key = `${transfer.transfer} ${transfer.name}`;
      shown.add(key);
      const payload = { line: () => transferLine(transfer) };
      const bar = this.transfers.get(key) ?? this.bars.create(1, 0, payload);
      bar.update(payload);
      this.transfers.set(key, bar);
    }
    for (const [key, bar] of this.transfers) {
      if (shown.has(key)) continue;
      this.bars.remove(bar);
      this.transfers.delete(key);
    }
  }

  stop(): void {
    this.bars.stop();
  }
}

/** A line for every change, and nothing in between: what a log or a file can hold. */
class LineProgress implements Progress {
  private readonly stream: Output;
  private readonly now: () => number;
  private last = '';
  private readonly transfers = new Set<string>();

  constructor(stream: Output, now: () => number) {
    this.stream = stream;
    this.now = now;
  }

  show(view: TaskView): void {
    const state = [stateWords(view), ...detailWords(view)].join(' · ');
    if (state !== this.last) {
      this.last = state;
      this.stream.write(`${fit(statusLine(view, elapsedMs(view, this.now())), 500)}\n`);
    }
    for (const transfer of view.transfers) {
      const key = `${transfer.transfer} ${transfer.name}`;
      if (this.transfers.has(key)) continue;
      this.transfers.add(key);
      this.stream.write(`${transferLine(transfer)}\n`);
    }
  }

  stop(): void {
    this.transfers.clear();
  }
}
