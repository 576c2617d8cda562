import type { BatchPrices, BatchSpending } from '../../money/batch-budget';
import type { DailyRefusal } from '../../money/day-operations';
import type { AppFigures } from '../../money/estimate';
import type { Money } from '../../money/money';
import { type PlacedKeys, type RowPlace, shownKey } from '../../core/batch/row-place';
import { formatCountOf, shellWord } from '../../core/text';
import type { Problem } from '../problem';
import type { BatchCommand } from './batch-command';
import type { RowChoice, RowsReference } from './batch-input';
import type { RowDefaults } from './parse-batch-input';
import type { RowEnd, RowRecord, RowUploads, RunningRow } from './batch-rows';

// These stand in histories: no row's content, only what the batch needs of it, and what changed in a few rows.

export interface PlacedKey extends RowPlace {
  readonly key: string;
  /** As the row gave it, where its task has another one. Absent: the same. */
  readonly originalKey?: string | undefined;
}

/** An input of a row that changed, or another field of it; the values are shortened, as JSON, without secrets. */
export interface ChangedInput {
  readonly key: string;
  /** The columns of the row file that a template makes it of. Absent: the key is the column. */
  readonly columns?: readonly string[];
  readonly before: string;
  readonly now: string;
}

/** A row with another content than is on record under its key; of some it is known which inputs changed. */
export interface ChangedRow extends PlacedKey {
  readonly changedInputs?: readonly ChangedInput[];
}

/** Keys of rows that are not on record, beside keys on record that no row has: rows may have been renamed. */
export interface RenamedRows {
  readonly newRows: number;
  readonly firstNew: readonly PlacedKey[];
  /** Keys on record that no row has, and the first of them. */
  readonly missingRows: number;
  readonly firstMissing: readonly { readonly key: string; readonly originalKey?: string | undefined }[];
}

/** `RowsChanged`, before any start: a row may be paid under another content or key, and `choice` does not allow it. */
export interface OpenBatchInput {
  readonly id: string;
  readonly rows: RowsReference;
  readonly source?: string | null;
  readonly choice: RowChoice;
  readonly command?: BatchCommand | null;
}
export interface OpenBatchResult {
  /** Rows on record as succeeded, with the same content. Absent: none. */
  readonly succeeded?: number;
  /** Rows on record whose keys no row has any more. */
  readonly gone: number;
  /** What the rows on record cost. Absent: nothing. */
  readonly spending?: BatchSpending;
  readonly prices: BatchPrices;
  /** Why rows can never run within the daily budget of their account. Absent: nothing is in the way. */
  readonly dailyProblem?: string;
}

/** Where among the prepared rows the next one to start stands. */
export interface RowCursor {
  readonly page: number;
  /** Rows of this page that are behind already. */
  readonly skip: number;
}

/** `new`: not on record; `failed`: on record, not succeeded; `retryable`: of these, failed in this run and fixable. */
export type StartMode = 'new' | 'failed' | 'retryable';

/** `startRows`: starts the next rows, each as a task of its own, and says which of them run now. */
export interface StartRowsInput {
  readonly id: string;
  readonly rows: RowsReference;
  readonly cursor: RowCursor;
  /** So many at most; one page at most. */
  readonly limit: number;
  readonly mode: StartMode;
  readonly choice: RowChoice;
  readonly defaults: RowDefaults;
  /** With mode `retryable`: since when rows failed in this run of the batch; ISO-8601. */
  readonly since?: string;
  /** Refuses to start rows whose price is not known in the currency of this budget. Absent: the batch has none. */
  readonly budget?: Money;
  /** Starts nothing: of the rows that it would start, says what became of those that have a task already. */
  readonly onlyFound?: boolean;
}
export interface StartRowsResult {
  /** Started now, or found running. */
  readonly running: readonly RunningRow[];
  /** Found over, or refused, without being on record. */
  readonly ended: readonly RowRecord[];
  /** So many of `ended`, from the first on, are on record already. */
  readonly left: number;
  /** On record already, and left as they are. */
  readonly onRecord: { readonly success: number; readonly failed: number; readonly canceled: number };
  /** Null after the last row. */
  readonly next: RowCursor | null;
  /** Why the next row is not started, although there is a place for it. Absent: nothing is in the way. */
  readonly dailyBudget?: DailyRefusal;
}

export interface RowEndCursor {
  /** ISO-8601, by Temporal's clock. */
  readonly closedAfter: string;
  /** The runs that closed since and were read already: the last characters of their ids. */
  readonly seenRuns: readonly string[];
}

export interface AwaitRowEndsInput {
  readonly id: string;
  readonly from: RowEndCursor;
  /** Returns with so many ends, or `collectMs` after the first of them. */
  readonly enough: number;
  readonly collectMs: number;
}
export interface AwaitRowEndsResult {
  readonly ended: readonly RowEnd[];
  readonly next: RowEndCursor;
}

/** `pollRows`: the ends of those rows whose tasks are over. */
export interface PollRowsInput {
  readonly id: string;
  readonly keys: readonly string[];
}
export interface PollRowsResult {
  readonly ended: readonly RowEnd[];
  /** So many of the keys, from the first on, were polled: more ends would not fit into one result. Absent: all. */
  readonly polled?: number;
  /** How many of the polled rows run, by `LonghaulStatus`. */
  readonly states?: Readonly<Record<string, number>>;
  readonly problem?: RowProblem;
}

/** Rows that cannot go on now: a step waits for its next attempt or is paused, or the queries of a watch fail. */
export interface RowProblem extends PlacedKeys {
  readonly rows: number;
  /** Of the row that has had one longest, `key`; redacted, on one line. */
  readonly problem: Problem;
}

/** Both together, with the problem of the row that has had it longest. */
export function addRowProblem(one: RowProblem | undefined, other: RowProblem | undefined): RowProblem | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const isOlder = (other.problem.since ?? '') < (one.problem.since ?? '');
  return { ...(isOlder ? other : one), rows: one.rows + other.rows };
}

/** The problem of a batch of which rows have one. */
export function problemOfRows(batchId: string, rows: RowProblem): Problem {
  const first = rows.rows === 1 ? shownKey(rows) : `the first (${shownKey(rows)})`;
  return {
    ...rows.problem,
    message: `${formatCountOf(rows.rows, 'row')}, ${first}: ${rows.problem.message}`,
    remedy: `longhaul list --batch ${shellWord(batchId)} --problem names them.`,
  };
}

/** `cancelBatch`: has Temporal cancel the batch's own workflow: it goes on for a run that was canceled. */
export interface CancelBatchInput {
  readonly id: string;
}

/** `recordRows`: keeps how rows ended, in the archive, page by page. Repeating it changes nothing. */
export interface RecordRowsInput {
  readonly id: string;
  /** Of the rows. */
  readonly digest: string;
  readonly records: readonly RowRecord[];
}

export interface ReportBatchInput {
  readonly id: string;
  readonly rows: RowsReference;
  readonly source?: string | null;
  /** Of the command that started it; null when it is not known. */
  readonly files?: readonly string[] | null;
  readonly ending?: 'completed' | 'drained' | 'stopped';
  /** Rows of the row file that were left out, because they cannot become tasks. */
  readonly badRows?: number;
}

/** What the tasks of a batch cost, in each currency. */
export interface BatchCosts {
  readonly sums: readonly Money[];
  /** Of which for rows that brought no result. */
  readonly withoutResult: readonly Money[];
  readonly knownRows: number;
  /** Rows with a task at the service whose cost is not known. */
  readonly unknownRows: number;
  /** What rows on record cost that are not among the batch's rows any more; in none of the other figures. */
  readonly goneRows?: { readonly rows: number; readonly sums: readonly Money[]; readonly unknownRows: number };
}

export interface ReportBatchResult {
  /** The result files, for people; empty when there are none: the batch was stopped before it compared its rows. */
  readonly jsonl: string;
  readonly csv: string;
  /** The report for a browser. */
  readonly html?: string;
  readonly costs?: BatchCosts;
  /** What the rows of each app took and cost, of the first 20 apps. */
  readonly apps?: readonly AppFigures[];
  readonly success: number;
  readonly failed: number;
  readonly canceled: number;
  readonly notStarted: number;
  readonly outputs: number;
  readonly outputBytes: number;
  /** Outputs of all rows that the service reports as failed. */
  readonly failedOutputs?: number;
  /** Of all rows on record that are among the batch's, also those that an earlier run ended; as far as they tell. */
  readonly uploads: RowUploads;
  /** How many rows failed with each type of failure. */
  readonly failures: Readonly<Record<string, number>>;
  /** Those that took longest, longest first. */
  readonly slowest: readonly (PlacedKey & { readonly ms: number })[];
  /** The first of those that did not succeed. */
  readonly unsuccessful: readonly (PlacedKey & { readonly type: string; readonly message: string })[];
}

/** The batch's activities, by their durable names. */
export interface BatchActivities {
  readonly openBatch: (input: OpenBatchInput) => Promise<OpenBatchResult>;
  readonly startRows: (input: StartRowsInput) => Promise<StartRowsResult>;
  readonly awaitRowEnds: (input: AwaitRowEndsInput) => Promise<AwaitRowEndsResult>;
  readonly pollRows: (input: PollRowsInput) => Promise<PollRowsResult>;
  /** Asks each row's task to stop; their ends come as ever. */
  readonly stopRows: (input: PollRowsInput) => Promise<void>;
  readonly cancelBatch: (input: CancelBatchInput) => Promise<void>;
  readonly recordRows: (input: RecordRowsInput) => Promise<void>;
  readonly reportBatch: (input: ReportBatchInput) => Promise<ReportBatchResult>;
}
