/**
 * What became of the one attempt to create a task: the four values of the design, as plain data that may enter a
 * workflow history. It holds no URL and no secret.
 */
export type CreateOutcome = CreateAccepted | CreateNotSent | CreateRejected | CreateUncertain;

/** The service took the task and named it: it exists, it is queued, it will be charged. */
export interface CreateAccepted {
  readonly outcome: 'accepted';
  readonly requestId: string;
}

/** Provably no byte of the request left this process, so no task exists and sending it again is safe. */
export interface CreateNotSent {
  readonly outcome: 'notSent';
  /** In words, with the system's error code where there is one. */
  readonly reason: string;
}

/** The service said no: no task exists. */
export interface CreateRejected {
  readonly outcome: 'rejected';
  /** Whether the same request may be accepted later (too many requests, queue full, unavailable). */
  readonly retryable: boolean;
  readonly httpStatus: number;
  /** The code of the reply's envelope, where it had one. */
  readonly code?: number;
  /** The service's own words, without secrets and bounded; the HTTP status when it said nothing. */
  readonly message: string;
  /** It is the API key that was refused; absent otherwise. */
  readonly keyRefused?: true;
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** The request left and no usable answer came: a task may exist and be charged. Never sent again by itself. */
export interface CreateUncertain {
  readonly outcome: 'uncertain';
  /** In words, with the system's error code or the HTTP status where there is one. */
  readonly reason: string;
  /** It asked for a callback, which may still bring the request id at the task's end. */
  readonly callbackAsked?: boolean;
}
