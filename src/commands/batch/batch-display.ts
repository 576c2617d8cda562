import type { BatchView } from '../../client/batch/batch-view';
import { formatHeldUp, type HeldUpRows } from '../../contract/batch/batch-activities';
import type { BatchProgress } from '../../contract/batch/batch-messages';
import { expectedEnd, mostFrequent, stalledForMs } from '../../core/batch/batch-pace';
import { formatRowPlace, shownKey } from '../../core/batch/row-place';
import { formatBudget } from '../../money/batch-budget';
import { statesThatWait } from '../../core/task-state';
import { formatBytes, formatCount, formatCountOf, printableLine } from '../../core/text';
import type { Output } from '../command-context';
import { formatRetry } from '../task/task-text';
import { fit, formatBar, formatClock, type ShownLine, TerminalLines, wrap } from '../terminal';

/** A display of a batch's progress. */
export interface BatchDisplay {
  /** Shows the batch as it stands now. */
  show(batch: ShownBatch): void;
  /** Says why nothing newer can be shown. */
  showProblem(message: string): void;
  /** Ends the display; afterwards the caller writes there. */
  stop(): void;
}

/** A display for the stream: redrawn lines on a terminal, plain lines elsewhere. */
export function openBatchDisplay(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): BatchDisplay {
  return stream.isTTY === true ? new TerminalDisplay(stream, now) : new LineDisplay(stream, now);
}

function elapsedMs({ startedAt }: BatchProgress, nowMs: number): number {
  return nowMs - Date.parse(startedAt);
}

/** The bar, the counts, the pace, and what is wrong. */
class TerminalDisplay implements BatchDisplay {
  readonly #lines: TerminalLines;
  /** Without the problem and the expected end. */
  #known: readonly ShownLine[] = [];

  constructor(stream: Output & NodeJS.WritableStream, now: () => number) {
    this.#lines = new TerminalLines(stream, now);
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const uploads = uploadLine(batch);
    const first: readonly ShownLine[] = [
      (nowMs) => barLine(progress, elapsedMs(progress, nowMs)),
      () => countsLine(progress),
    ];
    const last: readonly ShownLine[] = [
      // Once it is reached, the problem says so.
      ...this.#wrapped(progress.state === 'BudgetReached' ? undefined : budgetLine(progress)),
      ...(uploads === undefined ? [] : [() => uploads]),
    ];
    const problem = problemLine(batch) ?? lastFailureLine(progress);
    this.#known = [...first, ...last];
    this.#lines.show([...first, (nowMs) => paceLine(progress, nowMs), ...last, ...this.#wrapped(problem)]);
  }

  showProblem(message: string): void {
    // The expected end would count down although the batch is not observed now.
    this.#lines.show([...this.#known, ...this.#wrapped(message)]);
  }

  /** Not cut at the terminal's width: what is wrong says what to do at its end. */
  #wrapped(message: string | undefined): readonly ShownLine[] {
    if (message === undefined) return [];
    return wrap(message, this.#lines.width, maxWrappedLines).map((text) => () => text);
  }

  stop(): void {
    this.#lines.stop();
  }
}

const maxWrappedLines = 4;

/** Between two lines that differ in counts only. */
const lineEveryMs = 10_000;
const longestLine = 500;

/** A plain line when the state of the batch changes, and every ten seconds while rows start and end, for logs. */
class LineDisplay implements BatchDisplay {
  readonly #stream: Output;
  readonly #now: () => number;
  #lastState = '';
  #lastCounts = '';
  #lastProblem: string | undefined;
  #lastLineAtMs = -Infinity;

  constructor(stream: Output, now: () => number) {
    this.#stream = stream;
    this.#now = now;
  }

  show(batch: ShownBatch): void {
    const { progress } = batch;
    const nowMs = this.#now();
    const counts = `${endedRows(progress)} ${countsLine(progress)}`;
    const isDue = counts !== this.#lastCounts && nowMs - this.#lastLineAtMs >= lineEveryMs;
    if (progress.state !== this.#lastState || isDue) {
      this.#lastState = progress.state;
      this.#lastCounts = counts;
      this.#lastLineAtMs = nowMs;
      const parts = [
        `${formatClock(elapsedMs(progress, nowMs))}  ${countsLine(progress)}`,
        `${formatRows(progress)} (${Math.floor(endedShare(progress) * 100)} %)`,
        paceLine(progress, nowMs),
        budgetLine(progress),
        uploadLine(batch),
      ];
      this.#write(parts.filter((part) => part !== undefined).join(' · '));
    }
    const problem = problemLine(batch);
    if (problem === undefined) this.#lastProblem = undefined;
    else this.#showNew(problem, `${findProblem(batch)?.words} ${heldUp(batch)?.words}`);
  }

  showProblem(message: string): void {
    this.#showNew(message, message);
  }

  /** Which rows are held up for the same reason changes with each start of a row. */
  #showNew(message: string, reason: string): void {
    if (reason === this.#lastProblem) return;
    this.#lastProblem = reason;
    this.#write(message);
  }

  stop(): void {
    this.#lastState = '';
  }

  #write(line: string): void {
    this.#stream.write(`${fit(line, longestLine)}\n`);
  }
}

/** The state of a batch, for display. */
export interface ShownBatch extends Pick<BatchView, 'retrying' | 'needPerson' | 'uploading' | 'createsHeldUp'> {
  readonly progress: BatchProgress;
}

const barWidth = 24;
const longestKey = 40;

/** Such as `1 row`, `1,234 rows`. */
export function formatRowCount(rows: number): string {
  return formatCountOf(rows, 'row');
}

/** Rows that have ended, however. */
function endedRows({ success, failed, canceled }: BatchProgress): number {
  return success + failed + canceled;
}

/** The overall bar: `[█████░░░░░]  62 %  1,234 of 2,000 rows · 0:42`. */
export function barLine(progress: BatchProgress, elapsedMs: number): string {
  return `${formatBar(endedShare(progress), barWidth)}  ${formatRows(progress)} · ${formatClock(elapsedMs)}`;
}

/** `Running: 100 running, 600 waiting, 12 failed`. */
export function countsLine({ state, running, waiting, failed, canceled }: BatchProgress): string {
  const stopped = canceled === 0 ? '' : `, ${formatCount(canceled)} canceled`;
  const counts = `${formatCount(running)} running, ${formatCount(waiting)} waiting, ${formatCount(failed)} failed`;
  // How it ended is the word of its workflow, which is over in a moment.
  return `${state === 'Ended' ? '' : `${state}: `}${counts}${stopped}`;
}

/** By fewer rows, the end that is expected changes with each of them. */
const minEndedRows = 5;
/** One row in ten that goes on makes no pace for the others. */
const nearlyAll = 0.9;

/** `12.3 rows a minute, about 1:05 left (until 14:32)`; no end while no row starts or ends, or nearly none can go on. */
export function paceLine(progress: BatchProgress, nowMs: number): string {
  const { perMinute, state, running, rowStates } = progress;
  if (state === 'BudgetReached' && running === 0) return 'no row starts until the budget is raised';
  const waiting = statesThatWait.reduce((sum, one) => sum + (rowStates?.counts[one] ?? 0), 0);
  const stuck = Math.min(running, waiting + (rowStates?.heldUp?.rows ?? 0));
  if (stuck > 0 && stuck >= nearlyAll * running)
    return `${formatCount(stuck)} of ${formatCountOf(running, 'row')} that run are held up or wait for a person, so no end can be estimated`;
  const stalledMs = stalledForMs(progress, nowMs);
  if (stalledMs !== null)
    return `no row has started or ended for ${formatClock(stalledMs)}, so no end can be estimated`;
  if (perMinute === null)
    return endedRows(progress) === 0 ? 'no row has ended yet' : 'no row has ended since the start';
  const pace = `${perMinute >= 10 ? formatCount(Math.round(perMinute)) : perMinute.toFixed(1)} rows a minute`;
  const endAt = endOf(progress, nowMs);
  if (endAt === null || endedRows(progress) < minEndedRows) return pace;
  const endMs = Date.parse(endAt);
  const until = new Date(endMs).toTimeString().slice(0, 5);
  return `${pace}, about ${formatClock(endMs - nowMs)} left (until ${until})`;
}

/** Where no more rows are started, those that run are all that is left. */
function endOf(progress: BatchProgress, nowMs: number): string | null {
  const { state, running, rowStates, perMinute } = progress;
  if (state !== 'Draining' && state !== 'Stopping') return progress.expectedEnd;
  const open = { running, waiting: 0, mayStart: false, heldUp: rowStates?.heldUp?.rows ?? 0 };
  return expectedEnd(open, perMinute, nowMs);
}

/** `3 Running, 1 CreateUncertain; as of 0:42 ago`; undefined when it is not known, and when none runs. */
export function statesLine({ running, rowStates }: BatchProgress, nowMs: number): string | undefined {
  if (rowStates === undefined || running === 0) return undefined;
  // A row that began since is not among them.
  if (Object.keys(rowStates.counts).length === 0) return undefined;
  const counts = mostFrequent(rowStates.counts).map(([state, count]) => `${formatCount(count)} ${state}`);
  const age = formatClock(Math.max(0, nowMs - Date.parse(rowStates.asOf)));
  return `${counts.join(', ')}; as of ${age} ago`;
}

/** `3 rows, the first since …: createTask: …`; undefined while every running row can go on, as far as that is known. */
export function heldUpText(batch: ShownBatch): string | undefined {
  const rows = heldUp(batch);
  return rows && formatHeldUp(rows, printableLine);
}

function heldUp({ progress: { running, rowStates }, createsHeldUp }: ShownBatch): HeldUpRows | undefined {
  return running === 0 ? undefined : (createsHeldUp ?? rowStates?.heldUp);
}

/** `5 rows now, 1,234 files (3.4 GB) sent, 766 shared`; undefined where nothing is uploaded. */
export function formatUploads({ progress, uploading }: ShownBatch): string | undefined {
  const { files, bytes, shared } = progress.uploads;
  if (uploading + files + shared === 0) return undefined;
  const now = uploading === 0 ? '' : `${formatRowCount(uploading)} now, `;
  return `${now}${formatCountOf(files, 'file')} (${formatBytes(bytes)}) sent, ${formatCount(shared)} shared`;
}

/**
 * The same as a line.
 *
 * @internal exported for tests
 */
export function uploadLine(batch: ShownBatch): string | undefined {
  const message = formatUploads(batch);
  return message === undefined ? undefined : `uploads: ${message}`;
}

/** What is in the way of a batch; `budget` and `dailyBudget` are told of elsewhere, too. */
export interface BatchProblem {
  readonly kind: 'retrying' | 'failing' | 'budget' | 'person' | 'dailyBudget';
  readonly words: string;
}

/** The current problem, beside rows that are held up; undefined when there is none. */
export function findProblem({ progress, retrying, needPerson }: ShownBatch): BatchProblem | undefined {
  const { batchId, budget, dailyBudget } = progress;
  const [retry] = retrying;
  if (retry !== undefined) return { kind: 'retrying', words: formatRetry(retry) };
  if (progress.problem !== null) return { kind: 'failing', words: progress.problem };
  if (budget != null && progress.state === 'BudgetReached') {
    const words = `${formatBudget(budget, 0)}; longhaul batch set-budget ${batchId} AMOUNT, or drain to end it`;
    return { kind: 'budget', words };
  }
  if (needPerson > 0) {
    const who = `${formatCount(needPerson)} ${needPerson === 1 ? 'row waits' : 'rows wait'} for a person`;
    return { kind: 'person', words: `${who}; longhaul list --batch ${batchId} --needs-person` };
  }
  return dailyBudget && { kind: 'dailyBudget', words: dailyBudget.words };
}

/**
 * The same as a line, with the rows that are held up.
 *
 * @internal exported for tests
 */
export function problemLine(batch: ShownBatch): string | undefined {
  const rows = heldUpText(batch);
  const problems = [findProblem(batch)?.words, rows && `held up: ${rows}`].filter((words) => words !== undefined);
  return problems.length === 0 ? undefined : `problem: ${problems.join('; ')}`;
}

/**
 * The last row that failed.
 *
 * @internal exported for tests
 */
export function lastFailureLine({ lastFailures: [last] }: BatchProgress): string | undefined {
  return last && `last failure: ${fit(shownKey(last), longestKey)} (${formatRowPlace(last)}): ${last.message}`;
}

/**
 * What the batch may cost and has cost; undefined without a budget.
 *
 * @internal exported for tests
 */
export function budgetLine({ budget, running }: BatchProgress): string | undefined {
  return budget == null ? undefined : `budget: ${formatBudget(budget, running)}`;
}

function formatRows(progress: BatchProgress): string {
  return `${formatCount(endedRows(progress))} of ${formatCount(progress.rows)} rows`;
}

function endedShare(progress: BatchProgress): number {
  return progress.rows === 0 ? 1 : Math.min(1, endedRows(progress) / progress.rows);
}
