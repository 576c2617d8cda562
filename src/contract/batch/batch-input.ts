/** A file of prepared rows, as a worker reaches it. */
export interface RowsReference {
  /** A path under the worker's input roots, or an `s3:` URI. Its index stands beside it. */
  readonly location: string;
  /**
   * SHA-256 (hex) of every row's key and digest, in order: the same rows, the same digest.
   *
   * @pattern ^[A-Za-z0-9]{1,128}$
   */
  readonly digest: string;
  /**
   * @asType integer
   * @minimum 0
   */
  readonly rows: number;
  /**
   * @asType integer
   * @minimum 0
   */
  readonly pages: number;
}

/** Every duration and threshold of the batch workflow; for tests and special cases. */
export interface BatchTuning {
  /** How long ends of rows are collected before free places are filled, in milliseconds. */
  readonly refillMs: number;
  /** How often the running rows are polled, for those whose end was missed, in milliseconds. */
  readonly pollEveryMs: number;
  /** So many ended rows are recorded at a time. */
  readonly recordRows: number;
  /** How many bytes of records one call takes; Temporal refuses a call of more than 2 MB. @default 1000000 */
  readonly recordBytes: number;
  /** Longest pause between two attempts of an activity, in milliseconds. */
  readonly retryMaxMs: number;
  /** A run this long continues as new soon. */
  readonly continueAsNewAfterEvents: number;
}

/** Which rows a run starts beside those that are not on record. */
export interface RowChoice {
  /** Start rows again that the batch's record has as failed. May be paid anew. */
  readonly retryFailed?: boolean;
  /**
   * Start only rows again that were refused before anything was paid: no others that failed, and none that was never
   * started. Means nothing beside `retryFailed`.
   */
  readonly retryUnpaid?: boolean;
  /** Start rows again whose content changed under a key that was run before. May be paid anew. */
  readonly allowChanged?: boolean;
  /** Start rows whose keys are not on record although keys on record are missing: they are other rows. */
  readonly allowNew?: boolean;
}

/** Input of the `batch` workflow; plain JSON. */
export interface BatchInput extends RowChoice {
  /**
   * As in the workflow's id `batch:<id>`.
   *
   * @pattern ^(?![.])[A-Za-z0-9._-]{1,80}$
   */
  readonly id: string;
  readonly rows: RowsReference;
  /** The row file as the caller named it, for people. */
  readonly source?: string;
  /**
   * Rows that were left out because they cannot become tasks.
   *
   * @asType integer
   * @minimum 0
   */
  readonly badRows?: number;
  /**
   * Rows at the same time. Default: 100.
   *
   * @asType integer
   * @minimum 1
   * @maximum 500
   */
  readonly concurrency?: number;
  /** A folder inside the worker's archive for the outputs of rows that name none. Default: `batches/<id>/outputs`. */
  readonly archive?: string;
  /** Template of the archived files' names. */
  readonly names?: string;
  /** How the end of rows is noticed that do not say. Default: `activity`. */
  readonly watch?: 'timer' | 'activity';
  /**
   * How often a row is tried that fails in a way that another attempt may fix. Default: 1.
   *
   * @asType integer
   * @minimum 1
   * @maximum 10
   */
  readonly attempts?: number;
  /** What the batch may cost, such as `20EUR`; no row is started that is expected to cost more. Default: no limit. */
  readonly budget?: string;
  /**
   * The webhook of the workers' configuration that is sent once, when the batch ends. Default: none.
   *
   * @pattern ^[A-Za-z0-9._-]{1,80}$
   */
  readonly webhook?: string;
  readonly tuning?: Partial<BatchTuning>;
}
