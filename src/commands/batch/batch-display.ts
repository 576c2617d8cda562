import type { BatchProgress } from '../../contract/batch-messages';
import type { Output } from '../command-context';
import { fit } from '../format';
import { type ShownLine, TerminalLines } from '../terminal-lines';
import {
  barLine,
  countsLine,
  endedRows,
  lastFailureLine,
  paceLine,
  progressLine,
  type ShownBatch,
  troubleLine,
  uploadLine,
} from './batch-line';

/** Where a person sees how a batch is getting on. */
export interface BatchDisplay {
  /** Shows the batch as it stands now. */
  show(batch: ShownBatch): void;
  /** Says why nothing newer can be shown. */
  showTrouble(words: string): void;
  /** Ends the display; what stands there afterwards is the caller's. */
  stop(): void;
}

/** A display that fits the stream: one that redraws itself on a terminal, plain lines elsewhere. */
export function openBatchDisplay(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): BatchDisplay {
  return stream.isTTY === true ? new TerminalDisplay(stream, now) : new LineDisplay(stream, now);
}

function elapsedMs({ startedAt }: BatchProgress, nowMs: number): number {
  return nowMs - Date.parse(startedAt);
}

/** The bar, the counts, the pace, and what is wrong. */
class TerminalDisplay implements BatchDisplay {
  private readonly lines: TerminalLines;
  private shown: readonly ShownLine[] = [];

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    this.lines = new TerminalLines(stream, now);
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const uploads = uploadLine(batch);
    const trouble = troubleLine(batch) ?? lastFailureLine(progress);
    this.shown = [
      ['bar', (nowMs) => barLine(progress, elapsedMs(progress, nowMs))],
      ['counts', () => countsLine(progress)],
      ['pace', (nowMs) => paceLine(progress, nowMs)],
      ...line('uploads', uploads),
    ];
    this.lines.show([...this.shown, ...line('trouble', trouble)]);
  }

  showTrouble(words: string): void {
    // An end that was told before would count on although nothing is known of the batch.
    const known = this.shown.filter(([name]) => name !== 'pace');
    this.lines.show([...known, ['trouble', () => words]]);
  }

  stop(): void {
    this.lines.stop();
  }
}

/** One of the lines that are not always there. */
function line(name: string, words: string | undefined): readonly ShownLine[] {
  return words === undefined ? [] : [[name, () => words]];
}

/** Between two lines that tell of no more than other counts. */
const lineEveryMs = 10_000;
const longestLine = 500;

/** A line when the batch changes what it does, and every ten seconds while rows start and end: what a log can hold. */
class LineDisplay implements BatchDisplay {
  private readonly stream: Output;
  private readonly now: () => number;
  private lastState = '';
  private lastCounts = '';
  private lastTrouble: string | undefined;
  private lastLineAtMs = -Infinity;

  constructor(stream: Output, now: () => number) {
    this.stream = stream;
    this.now = now;
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const nowMs = this.now();
    const counts = `${endedRows(progress)} ${countsLine(progress)}`;
    const isDue = counts !== this.lastCounts && nowMs - this.lastLineAtMs >= lineEveryMs;
    if (progress.state !== this.lastState || isDue) {
      this.lastState = progress.state;
      this.lastCounts = counts;
      this.lastLineAtMs = nowMs;
      this.write(progressLine(batch, elapsedMs(progress, nowMs), nowMs));
    }
    const trouble = troubleLine(batch);
    if (trouble === undefined) this.lastTrouble = undefined;
    else this.showTrouble(trouble);
  }

  showTrouble(words: string): void {
    if (words === this.lastTrouble) return;
    this.lastTrouble = words;
    this.write(words);
  }

  stop(): void {
    this.lastState = '';
  }

  private write(line: string): void {
    this.stream.write(`${fit(line, longestLine)}\n`);
  }
}
