import type { TaskView } from '../client/task-view';
import type { Output } from './command-context';
import { fit } from './format';
import { detailWords, stateWords, statusLine, transferLine } from './status-line';
import { type ShownLine, TerminalLines } from './terminal-lines';

/** Where a person sees how a task is getting on. */
export interface Progress {
  /** Shows the task as it stands now. */
  show(view: TaskView): void;
  /** Ends the display; what stands there afterwards is the caller's. */
  stop(): void;
}

/** A display that fits the stream: one that redraws itself on a terminal, plain lines elsewhere. */
export function openProgress(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): Progress {
  return stream.isTTY === true ? new TerminalProgress(stream, now) : new LineProgress(stream, now);
}

/** How long the task has taken so far, or took. */
function elapsedMs({ startedAt, endedAt }: TaskView, nowMs: number): number {
  return (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt);
}

/** A line for the task and one for each transfer. */
class TerminalProgress implements Progress {
  private readonly lines: TerminalLines;

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    this.lines = new TerminalLines(stream, now);
  }

  show(view: TaskView): void {
    this.lines.show([
      ['status', (nowMs) => statusLine(view, elapsedMs(view, nowMs))],
      ...view.transfers.map((transfer): ShownLine => [
        `${transfer.transfer} ${transfer.name}`,
        () => transferLine(transfer),
      ]),
    ]);
  }

  stop(): void {
    this.lines.stop();
  }
}

const longestLine = 500;

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
      this.write(statusLine(view, elapsedMs(view, this.now())));
    }
    for (const transfer of view.transfers) {
      const key = `${transfer.transfer} ${transfer.name}`;
      if (this.transfers.has(key)) continue;
      this.transfers.add(key);
      this.write(transferLine(transfer));
    }
  }

  stop(): void {
    this.transfers.clear();
  }

  private write(line: string): void {
    this.stream.write(`${fit(line, longestLine)}\n`);
  }
}
