/**
 * Why results cannot be had from an archive: `notYet` while the task or batch runs, `incomplete` while outputs are missing,
 * `canceled` for a task that was stopped, `missing` when the archive has nothing of it, `damaged` when what it has is not
 * what it was, `otherBatch` when it is of another batch, and `unwritable` for the folder that they go to.
 */
export type ResultsErrorCode =
  'notYet' | 'incomplete' | 'canceled' | 'missing' | 'damaged' | 'otherBatch' | 'unwritable';

/** Results cannot be had from an archive; the message says what to do. */
export class ResultsError extends Error {
  override readonly name = 'ResultsError';
  readonly code: ResultsErrorCode;

  constructor(code: ResultsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
