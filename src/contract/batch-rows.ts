/** A row that runs: what the batch needs to know of it. */
export interface RunningRow {
  readonly key: string;
  /** Its place among the rows of the file, from 0. */
  readonly index: number;
  /** Of the row file, from 1. */
  readonly line: number;
  /** Of the prepared rows; the row's end is recorded under it. */
  readonly page: number;
  readonly digest: string;
}

/** How a row ended. `Failed` with whatever the task's failure says. */
export type RowStatus = 'Success' | 'Failed' | 'Canceled';

/** One archived file of a row. */
export interface RowOutput {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What the upload of a row's input files took. */
export interface RowUploads {
  /** Files that were uploaded. */
  readonly files: number;
  /** Of those. */
  readonly bytes: number;
  /** Files that needed no upload: another row's, of the same content, was there. */
  readonly shared: number;
}

export const noUploads: RowUploads = { files: 0, bytes: 0, shared: 0 };

export function addUploads(one: RowUploads, other: RowUploads): RowUploads {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes, shared: one.shared + other.shared };
}

/** What a task tells its batch when it ends: the signal `rowEnded`. Bounded, since it stands in the batch's history. */
export interface RowEnd {
  readonly key: string;
  readonly status: RowStatus;
  readonly requestId: string | null;
  readonly createNumber: number;
  /** The type of the task's failure and its words, shortened; null when it completed. */
  readonly failure: { readonly type: string; readonly message: string } | null;
  /** The first {@link maxRowOutputs}, as far as {@link maxRowOutputBytes} go; the manifest has all. */
  readonly outputs: readonly RowOutput[];
  readonly outputCount: number;
  /** Of all outputs. */
  readonly outputBytes: number;
  /** Outputs that the service reports as failed; absent when there are none. */
  readonly failedOutputCount?: number | undefined;
  readonly manifest: string | null;
  /** Null where the task itself could not tell. */
  readonly uploads: RowUploads | null;
  /** ISO-8601. */
  readonly startedAt: string;
  readonly endedAt: string;
}

/** A row and how it ended: one line of the batch's record, and of its result file. */
export interface RowRecord extends RowEnd, RunningRow {}

export const maxRowOutputs = 20;
/** Of the outputs in one end, as JSON, in bytes: ends are carried through histories, hundreds at a time. */
export const maxRowOutputBytes = 16_000;
export const maxRowWords = 300;
/** So many types of failure are counted by themselves; the rest as `Other`. */
export const maxFailureTypes = 50;
