import type { RowPlace } from '../../core/batch/row-place';
import type { Money } from '../../money/money';
import type { RowEnd } from '../row-end';

export interface ReportFile {
  /** In the archive, without the folders before it. */
  readonly name: string;
  /** As results.csv names it. */
  readonly path: string;
  /** A relative URL; null when the page cannot lead there. */
  readonly href: string | null;
  readonly bytes: number;
}

/** Whole micro-units of a currency; null when the price is not known. */
export type ReportCost = readonly [currency: string, micros: number] | null;

export interface ReportRow extends RowPlace {
  readonly key: string;
  readonly state: RowEnd['status'] | 'NotStarted';
  readonly workflowId: string;
  readonly requestId: string | null;
  readonly failure: { readonly type: string; readonly message: string } | null;
  readonly files: readonly ReportFile[];
  readonly fileCount: number;
  readonly failedOutputs: number;
  readonly manifest: string | null;
  /** Milliseconds since 1970; null for a row that was never started. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly queuedMs: number | null;
  readonly cost: ReportCost;
  readonly lostCost: ReportCost;
  /** Of the row file, by column, shortened; empty where that is no table, or is not at hand. */
  readonly cells: readonly ReportPair[];
}

export interface ReportCommand {
  readonly does: string;
  readonly command: string;
}

export interface ReportFacts {
  readonly batch: string;
  /** `completed`, `drained` or `stopped`. */
  readonly ending: string;
  /** The row file; null when it is not known. */
  readonly source: string | null;
  /** Of the command that started it; null when it is not known. */
  readonly files: readonly string[] | null;
  /** Rows that cannot become tasks; null when their number is not known. */
  readonly leftOut: number | null;
  /** Rows on record that are not among these any more; absent when there are none, or that is not known. */
  readonly goneRows?: { readonly rows: number; readonly sums: readonly Money[]; readonly unknownRows: number } | null;
  /** No run of it has ended: the rows are those on record so far. */
  readonly isPartial?: boolean;
  readonly archive: string;
  /** ISO-8601. */
  readonly madeAt: string;
  readonly commands: readonly ReportCommand[];
  /** By failure type, the usual repair first. */
  readonly repairs: Readonly<Record<string, readonly ReportCommand[]>>;
  /** Followed by a workflow's id, percent-encoded; null when the address is not known. */
  readonly workflowPages: string | null;
}

export type ReportPair = readonly [name: string, value: string];
