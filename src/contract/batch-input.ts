/** A file of prepared rows, as a worker reaches it. */
export interface RowsReference {
  /** A path under the worker's input roots, or an `s3:` URI. Its index stands beside it. */
  readonly location: string;
  /** SHA-256 (hex) of every row's key and digest, in order: the same rows, the same digest. */
  readonly digest: string;
  readonly rows: number;
  readonly pages: number;
}

/** Every duration and threshold of the batch workflow; for tests and special cases. */
export interface BatchTuning {
  /** How long free places wait for company before rows are started for them, in milliseconds. */
  readonly refillMs: number;
  /** How often the oldest running rows are looked at, for those that ended without a word, in milliseconds. */
  readonly lookEveryMs: number;
  /** So many ended rows are recorded at a time. */
  readonly recordRows: number;
  /** How many bytes of records one call takes; Temporal refuses a call of more than 2 MB. @default 1000000 */
  readonly recordBytes: number;
  /** Longest pause between two attempts of an activity, in milliseconds. */
  readonly retryMaxMs: number;
  /** A run this long continues as new at the next quiet moment. */
  readonly continueAsNewAfterEvents: number;
}

/** Input of the `batch` workflow; plain JSON. */
export interface BatchInput {
  /** As in the workflow's id `batch:<id>`. */
  readonly id: string;
  readonly rows: RowsReference;
  /** The row file as the caller named it, for people. */
  readonly source?: string;
  /** Rows that were left out because they cannot become tasks. */
  readonly badRows?: number;
  /** Rows at the same time, 1 to 500. Default: 100. */
  readonly concurrency?: number;
  /** A folder inside the worker's archive for the outputs of rows that name none. Default: `batches/<id>/outputs`. */
  readonly archive?: string;
  /** Template of the archived files' names. */
  readonly names?: string;
  /** How the end of rows is noticed that do not say. Default: `activity`. */
  readonly watch?: 'timer' | 'activity';
  /** Start rows again that the batch's record has as failed. May be paid anew. */
  readonly retryFailed?: boolean;
  /** Start rows again whose content changed under a key that was run before. May be paid anew. */
  readonly allowChanged?: boolean;
  readonly tuning?: Partial<BatchTuning>;
}

/** What a row's task knows of its batch. */
export interface BatchMembership {
  readonly id: string;
  /** The row's key. */
  readonly key: string;
  /** How the archived files are named; absent: `{requestId}/{index}{ext}`. */
  readonly names?: OutputNaming;
}

/** A template of names, and what it can ask for. */
export interface OutputNaming {
  readonly template: string;
  /** Columns of the row that the template asks for. */
  readonly columns: Readonly<Record<string, string>>;
}
