import { mostFrequent, stalledForMs } from '../../core/batch/batch-pace';
import { formatRowPlace, shownKey } from '../../core/batch/row-place';
import { statesThatWait } from '../../core/task-state';
import { formatBytes, formatCount, formatCountOf } from '../../core/text';
import { formatDuration, formatMinute, formatMoment } from '../../core/time';
import { formatBudget } from '../../money/batch-budget';
import { formatMoney } from '../../money/money';
import { formatProblem, type Problem } from '../problem';
import type { BatchProgress } from './batch-messages';
import { listWaiting } from './batch-repairs';

export interface KnownBatch {
  readonly progress: BatchProgress;
  readonly isOver: boolean;
  /** Rows whose tasks wait for a decision. Default: as of the last poll. */
  readonly needPerson?: number;
  readonly uploading?: number;
  /** Default: as of the last poll. */
  readonly problem?: Problem | null;
}

export interface FactStyle {
  readonly nowMs: number;
  /** Makes words of rows and of the service safe to show. */
  readonly words: (text: string) => string;
  readonly code: (text: string) => string;
}

export interface BatchFact {
  readonly name: string;
  readonly value: string;
}
/** In the order in which they are shown; one without a value is not. */
type Facts = Readonly<Record<string, string | false | undefined>>;

const maxTypes = 10;
/** With fewer ended rows, the expected end changes with each of them. */
const minEndedRows = 5;
/** One row in ten that goes on gives no pace for the others. */
const nearlyAll = 0.9;

export function batchFacts(batch: KnownBatch, style: FactStyle): readonly BatchFact[] {
  const { progress, uploading = 0 } = batch;
  const { uploads, report } = progress;
  const isOpen = !batch.isOver && progress.state !== 'Ended';
  const uploadingNow = uploading === 0 ? '' : `${formatCountOf(uploading, 'row')} now, `;
  const facts: Facts = {
    ...(isOpen ? blockedFacts(batch, style) : {}),
    ...rowFacts(batch, isOpen, style),
    ...(isOpen ? openFacts(batch, style) : {}),
    Table: report !== null && report.csv !== '' && style.words(report.csv),
    Report: report?.html !== undefined && style.words(report.html),
    Uploads:
      uploading + uploads.files + uploads.shared > 0 &&
      `${uploadingNow}${formatCountOf(uploads.files, 'file')} (${formatBytes(uploads.bytes)}) sent, ${formatCount(uploads.shared)} shared`,
    ...moneyFacts(progress, isOpen, style),
    Failures: failuresText(progress, style.words),
  };
  return Object.entries(facts).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [{ name, value }],
  );
}

/** What a person must do, or know, first. */
function blockedFacts(batch: KnownBatch, { nowMs, words, code }: FactStyle): Facts {
  const { progress, problem = progress.problem } = batch;
  const waiting = batch.needPerson ?? rowsThatWait(progress);
  const polled = batch.problem === undefined ? asOf(progress) : '';
  return {
    'Wait for you': waiting > 0 && `${formatCountOf(waiting, 'row')}: ${code(listWaiting(progress.batchId))}`,
    // Those that wait for a person are counted above.
    Problem: problem !== null && problem.code !== 'NeedsPerson' && `${words(formatProblem(problem, nowMs))}${polled}`,
  };
}

/** Of the last poll of the rows that run. */
function asOf({ rowStates, lastMovedAt }: BatchProgress): string {
  if (rowStates === undefined) return '';
  const isOlder = lastMovedAt != null && lastMovedAt > rowStates.asOf;
  return `; as of ${formatMinute(rowStates.asOf)}${isOlder ? ', and rows have started or ended since' : ''}`;
}

function rowFacts({ progress, needPerson }: KnownBatch, isOpen: boolean, { code }: FactStyle): Facts {
  const { batchId, state, rows, badRows, success, failed, canceled, running, waiting, concurrency } = progress;
  const { toRetry = 0, pausedAt, attempt, lastMovedAt } = progress;
  const ended = endedRows(progress);
  const percent = rows === 0 ? 100 : Math.floor((100 * ended) / rows);
  const leftOut = badRows === 0 ? '' : `, ${formatCountOf(badRows, 'bad row')} left out`;
  const person = isOpen ? rowsThatWait(progress, needPerson) : 0;
  const forPerson = person === 0 ? '' : `, ${formatCount(person)} waiting for you`;
  const most = isOpen ? ` (at most ${concurrency})` : '';
  const counts = `${formatCount(running - person)} running${most}${forPerson}, ${formatCount(waiting)} waiting`;
  const since = pausedAt === undefined ? '' : `since ${formatMoment(pausedAt)}; `;
  const isAgain = attempt !== undefined && attempt.number > 1 && isOpen;
  const again = isAgain ? '; rows that failed run again, and count as running, no longer as ended' : '';
  return {
    Rows: `${formatCount(ended)} of ${formatCount(rows)} ended (${percent} %)${leftOut}`,
    Ended: `${formatCount(success)} succeeded, ${formatCount(failed)} failed, ${formatCount(canceled)} canceled`,
    // The counts change only when a row starts or ends.
    Now: isOpen && lastMovedAt != null ? `${counts}; as of ${formatMoment(lastMovedAt)}` : counts,
    Paused:
      isOpen &&
      state === 'Paused' &&
      `${since}to go on: ${code(`longhaul batch resume ${batchId}`)}, or the update ${code('resume')}`,
    'To try again': isOpen && toRetry > 0 && `${formatCountOf(toRetry, 'row')} so far, once every row had its turn`,
    Attempt: attempt !== undefined && attempt.of > 1 && `${attempt.number} of ${attempt.of}${again}`,
  };
}

function openFacts({ progress, needPerson }: KnownBatch, { nowMs }: FactStyle): Facts {
  const { running, rowStates, report } = progress;
  const states = mostFrequent(running > 0 ? (rowStates?.counts ?? {}) : {});
  return {
    'Running rows':
      states.length > 0 &&
      `${states.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ')}${asOf(progress)}`,
    Pace: report === null && paceText({ progress, needPerson }, nowMs),
  };
}

function moneyFacts(progress: BatchProgress, isOpen: boolean, { words, code }: FactStyle): Facts {
  const { batchId, state, budget, dailyBudget, costs, running } = progress;
  const raise = `to go on: ${code(`longhaul batch set-budget ${batchId} AMOUNT`)}, or the update ${code('setBudget')}`;
  const remedy = state === 'BudgetReached' ? `; ${raise}; to end it: ${code(`longhaul batch drain ${batchId}`)}` : '';
  const open = budget && `${formatBudget(budget, running)}${remedy}`;
  const over = budget && formatBudget({ ...budget, places: Math.max(1, budget.places) }, 0);
  return {
    Budget: (isOpen ? open : over) ?? false,
    'Daily budget': isOpen && dailyBudget !== undefined && words(dailyBudget.words),
    Costs: budget == null && costs && costs.sums.length > 0 && costs.sums.map(formatMoney).join(' and '),
  };
}

/** By type. While the batch runs they are counted by attempt: a row that failed twice is one that failed. */
function failuresText({ failures, failed, report }: BatchProgress, words: FactStyle['words']): string | false {
  const types = mostFrequent(report?.failures ?? failures);
  const count = types.reduce((sum, [, times]) => sum + times, 0);
  const shown = types.slice(0, maxTypes).map(([type, times]) => `${formatCount(times)} ${words(type)}`);
  return shown.length > 0 && `${shown.join(', ')}${count === failed ? '' : '; of this run, each attempt counted'}`;
}

export function endedRows({ success, failed, canceled }: BatchProgress): number {
  return success + failed + canceled;
}

/** For a person's decision: as listed, or else as of the last poll. */
export function rowsThatWait(
  { running, rowStates }: { readonly running: number; readonly rowStates?: BatchProgress['rowStates'] },
  needPerson?: number,
): number {
  const polled = statesThatWait.reduce((sum, state) => sum + (rowStates?.counts[state] ?? 0), 0);
  return Math.min(running, needPerson ?? polled);
}

/** Not running while every row that was started waits for a person. */
export function stateWord(state: string, running: number, person: number): string {
  return state === 'Running' && person > 0 && person >= running ? 'Waiting for you' : state;
}

/** No end while no row starts or ends, or nearly none can go on. */
export function paceText(
  { progress, needPerson }: Pick<KnownBatch, 'progress' | 'needPerson'>,
  nowMs: number,
  formatEnd = (iso: string): string => `over at about ${formatMinute(iso)}`,
): string {
  const { perMinute, state, running, rowStates, expectedEnd } = progress;
  if (state === 'BudgetReached' && running === 0) return 'no row starts until the budget is raised';
  const blocked = rowsThatWait(progress, needPerson) + (rowStates?.problem?.rows ?? 0);
  if (blocked > 0 && blocked >= nearlyAll * running) return 'no end can be estimated';
  const stalledMs = stalledForMs(progress, nowMs);
  if (stalledMs !== null) {
    return `no row has started or ended for ${formatDuration(stalledMs)}, so no end can be estimated`;
  }
  const ended = endedRows(progress);
  if (perMinute === null) return ended === 0 ? 'no row has ended yet' : 'no row has ended since the start';
  const pace = `${perMinute >= 10 ? formatCount(Math.round(perMinute)) : perMinute.toFixed(1)} rows a minute`;
  return expectedEnd === null || ended < minEndedRows ? pace : `${pace}, ${formatEnd(expectedEnd)}`;
}

export function lastFailures({ lastFailures: failures }: BatchProgress, words: FactStyle['words']): readonly string[] {
  // A row that was tried several times is among them once for each.
  const latest = failures.filter(({ key }, index) => failures.findIndex((other) => other.key === key) === index);
  const rowsByMessage = new Map<string, string[]>();
  for (const row of latest) {
    const rows = rowsByMessage.get(row.message) ?? [];
    rowsByMessage.set(row.message, [...rows, `${words(shownKey(row))} (${formatRowPlace(row)})`]);
  }
  return [...rowsByMessage].map(([message, rows]) => {
    const count = rows.length === 1 ? '' : `${rows.length} rows, `;
    return `${count}${rows.join(', ')}: ${words(message)}`;
  });
}
