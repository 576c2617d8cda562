/**
 * `notYet` while the task or batch runs, `incomplete` while outputs are missing, `canceled` for a stopped task,
 * `missing` when the archive has nothing of it, `damaged` when it is not what it was, `otherBatch` when it is of another
 * batch, `unwritable` for the folder it goes to.
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
