/**
 * `notYet`: the task or batch runs. `incomplete`: outputs are missing. `canceled`: a stopped task. `missing`: the
 * archive has nothing. `damaged`: not what it was. `otherBatch`: of another batch. `unwritable`: the folder it goes to.
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
