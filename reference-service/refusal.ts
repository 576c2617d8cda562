/** One way of saying no: the envelope's `code` and the HTTP status beside it. */
export interface RefusalCode {
  readonly code: number;
  readonly httpStatus: number;
}

/**
 * Every refusal of the service by name. Specification section 7 shows neither codes nor statuses, so these are
 * decisions; the option `refusals` changes any of them.
 */
export const REFUSALS = {
  badParameter: { code: 20015, httpStatus: 400 },
  keyMissing: { code: 20052, httpStatus: 401 },
  keyUnknown: { code: 20093, httpStatus: 401 },
  keyDisabled: { code: 20094, httpStatus: 403 },
  appNotFound: { code: 20224, httpStatus: 404 },
  objectNotFound: { code: 20404, httpStatus: 404 },
  routeNotFound: { code: 20405, httpStatus: 404 },
  taskNotFound: { code: 30009, httpStatus: 404 },
  taskNotQueued: { code: 30010, httpStatus: 409 },
  taskNotRunning: { code: 30011, httpStatus: 409 },
  queueFull: { code: 30039, httpStatus: 503 },
  outputGone: { code: 30046, httpStatus: 410 },
  rateLimited: { code: 50600, httpStatus: 429 },
  internalError: { code: 50000, httpStatus: 500 },
} as const satisfies Record<string, RefusalCode>;

/** The name of a refusal, a key of {@link REFUSALS}. */
export type RefusalName = keyof typeof REFUSALS;

/** A request the service does not carry out. The message is sent to the caller, so it must hold no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: RefusalName;
  /** Whole seconds for the `Retry-After` header, when waiting helps. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: RefusalName, message: string, retryAfterSeconds?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
