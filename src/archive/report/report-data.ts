import type { RowPlace } from '../../core/batch/row-place';
import type { Money } from '../../money/money';
import type { RowEnd } from '../row-end';

/** An archived file of a row, as the page shows it. */
export interface ReportFile {
  /** Its name in the archive, without the folders before it. */
  readonly name: string;
  /** A relative URL; null when the page cannot lead there. */
  readonly href: string | null;
  readonly bytes: number;
}

/** What a row took. Whole micro-units of a currency; null when its price is not known. */
export type ReportCost = readonly [currency: string, micros: number] | null;

/** A row of the batch as the report tells it. */
export interface ReportRow extends RowPlace {
  /** As the row gave it. */
  readonly key: string;
  readonly state: RowEnd['status'] | 'NotStarted';
  readonly workflowId: string;
  readonly requestId: string | null;
  readonly failure: { readonly type: string; readonly message: string } | null;
  /** The first of them, bounded; the manifest has all. */
  readonly files: readonly ReportFile[];
  readonly fileCount: number;
  /** Outputs that the service reports as failed. */
  readonly failedOutputs: number;
  readonly manifest: string | null;
  /** Milliseconds since 1970; null for a row that was never started. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  /** How long the task queued at the service, in milliseconds. */
  readonly queuedMs: number | null;
  readonly cost: ReportCost;
  /** The part of `cost` that brought no result. */
  readonly lostCost: ReportCost;
  /** What stands in the row file, by column, shortened; absent where that is no table, or is not at hand. */
  readonly cells?: readonly ReportPair[];
}

/** A command line for the reader of the report, and what it does. */
export interface ReportCommand {
  readonly does: string;
  readonly command: string;
}

/** What the report says about the batch as a whole. */
export interface ReportFacts {
  readonly batch: string;
  /** `completed`, `drained` or `stopped`. */
  readonly ending: string;
  /** The row file; null when it is not known. */
  readonly source: string | null;
  /** Rows of the row file that were left out, because they cannot become tasks; null when that is not known. */
  readonly leftOut: number | null;
  /** Rows on record that are not among these any more; absent when there are none, or that is not known. */
  readonly goneRows?: { readonly rows: number; readonly sums: readonly Money[]; readonly unknownRows: number } | null;
  /** No run of it has ended: the rows are those that are on record so far. */
  readonly isPartial?: boolean;
  readonly archive: string;
  /** ISO-8601. */
  readonly madeAt: string;
  readonly commands: readonly ReportCommand[];
  /** By failure type, what repairs rows that failed so; the first is the usual one. */
  readonly repairs: Readonly<Record<string, readonly ReportCommand[]>>;
  /** A workflow's page in Temporal's Web UI is this and its id, percent-encoded; null when its address is not known. */
  readonly workflowPages: string | null;
}

/** A name and what it says. */
export type ReportPair = readonly [name: string, value: string];
