import type { BatchView } from '../../client/batch/batch-view';
import {
  type BatchFact,
  batchFacts,
  endedRows,
  lastFailures,
  paceText,
  rowsThatWait,
  stateWord,
} from '../../contract/batch/batch-facts';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { formatCount, printableLine } from '../../core/text';
import type { Output } from '../command-context';
import { fit, formatBar, formatClock, type ShownLine, TerminalLines, wrap } from '../terminal';

export interface ShownBatch extends Pick<BatchView, 'problem' | 'needPerson' | 'uploading' | 'isOver'> {
  readonly progress: BatchProgress;
}

export interface BatchDisplay {
  show(batch: ShownBatch): void;
  /** Says why nothing newer can be shown. */
  showProblem(message: string): void;
  /** Ends the display; afterwards the caller writes there. */
  stop(): void;
}

/** Redrawn lines on a terminal, plain lines elsewhere. */
export function openBatchDisplay(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): BatchDisplay {
  return stream.isTTY === true ? new TerminalDisplay(stream, now) : new LineDisplay(stream, now);
}

export function terminalFacts(batch: ShownBatch, nowMs: number): readonly BatchFact[] {
  return batchFacts(batch, { nowMs, words: printableLine, code: (text) => text });
}

const problemNames: readonly string[] = ['Wait for you', 'Problem', 'Daily budget'];

function linesOf(batch: ShownBatch, nowMs: number, names: readonly string[]): string[] {
  return terminalFacts(batch, nowMs)
    .filter(({ name }) => names.includes(name))
    .map(({ name, value }) => `${name.toLowerCase()}: ${value}`);
}

const barWidth = 24;
const maxWrappedLines = 5;

class TerminalDisplay implements BatchDisplay {
  readonly #lines: TerminalLines;
  readonly #now: () => number;
  /** Without the problem and the expected end, which would count down although the batch is not observed. */
  #known: readonly ShownLine[] = [];

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    this.#lines = new TerminalLines(stream, now);
    this.#now = now;
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const nowMs = this.#now();
    const first: readonly ShownLine[] = [
      (atMs) => `${barText(progress)} · ${formatClock(atMs - Date.parse(progress.startedAt))}`,
      () => countsLine(batch),
    ];
    const last = this.#wrapped(linesOf(batch, nowMs, ['Budget', 'Uploads']));
    this.#known = [...first, ...last];
    const problems = linesOf(batch, nowMs, problemNames);
    const [failure] = lastFailures(progress, printableLine);
    if (problems.length === 0 && failure !== undefined) problems.push(`last failure: ${failure}`);
    this.#lines.show([...this.#wrapped(problems), ...first, (atMs) => paceLine(batch, atMs), ...last]);
  }

  showProblem(message: string): void {
    this.#lines.show([...this.#known, ...this.#wrapped([message])]);
  }

  /** Not cut at the terminal's width: its end says what to do. */
  #wrapped(lines: readonly string[]): readonly ShownLine[] {
    return lines.flatMap((line) => wrap(line, this.#lines.width, maxWrappedLines).map((text) => () => text));
  }

  stop(): void {
    this.#lines.stop();
  }
}

/** Between two lines that differ in counts only. */
const lineEveryMs = 10_000;
const longestLine = 500;

/** A line when the state of the batch changes, and every ten seconds while rows start and end. */
class LineDisplay implements BatchDisplay {
  readonly #stream: Output;
  readonly #now: () => number;
  #lastState = '';
  #lastCounts = '';
  #lastProblem = '';
  #lastLineAtMs = -Infinity;

  constructor(stream: Output, now: () => number) {
    this.#stream = stream;
    this.#now = now;
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const nowMs = this.#now();
    const counts = `${endedRows(progress)} ${countsLine(batch)}`;
    const isDue = counts !== this.#lastCounts && nowMs - this.#lastLineAtMs >= lineEveryMs;
    if (progress.state !== this.#lastState || isDue) {
      this.#lastState = progress.state;
      this.#lastCounts = counts;
      this.#lastLineAtMs = nowMs;
      this.#write([
        `${formatClock(nowMs - Date.parse(progress.startedAt))}  ${countsLine(batch)}`,
        `${rowsText(progress)} (${Math.floor(endedShare(progress) * 100)} %)`,
        paceLine(batch, nowMs),
        ...linesOf(batch, nowMs, ['Budget', 'Uploads']),
      ]);
    }
    const problems = linesOf(batch, nowMs, problemNames);
    // How many rows have it, and which is the first, changes with each start of a row.
    const { problem, needPerson } = batch;
    const why = problem?.message.slice(problem.message.indexOf(': '));
    const reasons = [problem?.code, why, progress.dailyBudget?.words, needPerson];
    this.#showNew(problems, problems.length === 0 ? '' : JSON.stringify(reasons));
  }

  showProblem(message: string): void {
    this.#showNew([message], message);
  }

  #showNew(lines: readonly string[], reason: string): void {
    if (reason !== this.#lastProblem && lines.length > 0) this.#write(lines);
    this.#lastProblem = reason;
  }

  stop(): void {
    this.#lastState = '';
  }

  #write(parts: readonly string[]): void {
    this.#stream.write(`${fit(parts.join(' · '), longestLine)}\n`);
  }
}

/** `[█████░░░░░]  62 %  1,234 of 2,000 rows`. */
function barText(progress: BatchProgress): string {
  return `${formatBar(endedShare(progress), barWidth)}  ${rowsText(progress)}`;
}

/** `Running: 100 running, 600 waiting, 12 failed`. */
function countsLine({ progress, needPerson }: ShownBatch): string {
  const { state, running, waiting, failed, canceled } = progress;
  const person = rowsThatWait(progress, needPerson);
  const counts: readonly (readonly [number, string])[] = [
    [person, person === 1 ? 'waits for you' : 'wait for you'],
    [running - person, 'running'],
    [waiting, 'waiting'],
    [failed, 'failed'],
    [canceled, 'canceled'],
  ];
  const shown = counts.filter(([count, name]) => count > 0 || name === 'running');
  // The workflow tells in a moment how it ended.
  const name = state === 'Ended' ? '' : `${stateWord(state, running, person)}: `;
  return `${name}${shown.map(([count, words]) => `${formatCount(count)} ${words}`).join(', ')}`;
}

/** `12.3 rows a minute, about 1:05 left (until 14:32)`. */
function paceLine(batch: ShownBatch, nowMs: number): string {
  return paceText(batch, nowMs, (end) => {
    const until = new Date(end).toTimeString().slice(0, 5);
    return `about ${formatClock(Date.parse(end) - nowMs)} left (until ${until})`;
  });
}

function rowsText(progress: BatchProgress): string {
  return `${formatCount(endedRows(progress))} of ${formatCount(progress.rows)} rows`;
}

function endedShare(progress: BatchProgress): number {
  return progress.rows === 0 ? 1 : Math.min(1, endedRows(progress) / progress.rows);
}
