import { type EnvelopeCodes, type RefusalMeaning, refusalMeaning } from '../core/service-dialect';
import { safeText } from '../core/text';
import type { Answer } from './endpoints';

/** What the refusal of a {@link ServiceApiError} means. */
export type ApiErrorCode = RefusalMeaning | 'TASK_STATE_CONFLICT';

/** Stable codes of errors, to switch on. Messages may change between versions. */
export type ServiceErrorCode =
  'INVALID_ARGUMENT' | 'CLOSED' | 'API_KEY_UNAVAILABLE' | 'UNREACHABLE' | 'TIMEOUT' | 'RESPONSE_INVALID' | ApiErrorCode;

/**
 * Base of every error that {@link ServiceClient} throws, except the caller's own abort reason.
 *
 * No message, property or cause holds an API key, a token, a temporary credential or the query of a URL.
 */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An argument cannot be used. Thrown before anything is sent; trying again does not help. */
export class ServiceArgumentError extends ServiceError {
  /** All problems: each names the argument, its value and what to give instead. */
  readonly problems: readonly string[];

  constructor(...problems: readonly string[]) {
    super('INVALID_ARGUMENT', problems.join(' '));
    this.problems = problems;
  }
}

/** The client was closed before the call. Nothing was sent. */
export class ServiceClosedError extends ServiceError {
  constructor() {
    super('CLOSED', 'the client of the service is closed; make another one, and close it after its last call');
  }
}

/** The API key function failed, or returned a key that does not fit into a header. Nothing was sent. */
export class ApiKeyUnavailableError extends ServiceError {
  constructor(problem: string) {
    super('API_KEY_UNAVAILABLE', `the API key cannot be used: ${problem}`);
  }
}

export interface ExchangeErrorOptions extends ErrorOptions {
  /** Whether the headers had been handed to the connection; known for creates only. */
  readonly requestSent?: boolean;
}

/** No complete reply because of the network: name not resolved, connection refused or reset, TLS failed. */
export class ServiceUnreachableError extends ServiceError {
  readonly requestSent?: boolean;

  constructor(message: string, options: ExchangeErrorOptions = {}) {
    super('UNREACHABLE', message, options);
    this.requestSent = options.requestSent;
  }
}

/** No complete reply within the time limit. */
export class ServiceTimeoutError extends ServiceError {
  readonly timeoutMs: number;
  readonly requestSent?: boolean;

  constructor(message: string, options: ExchangeErrorOptions & { readonly timeoutMs: number }) {
    super('TIMEOUT', message, options);
    this.timeoutMs = options.timeoutMs;
    this.requestSent = options.requestSent;
  }
}

/** A reply that the specification does not allow: not JSON, a field missing or of a wrong type, too large. */
export class ServiceResponseInvalidError extends ServiceError {
  /** Null when not even the head of the reply could be read. */
  readonly httpStatus: number | null;

  constructor(message: string, options: { readonly httpStatus: number | null }) {
    super('RESPONSE_INVALID', message);
    this.httpStatus = options.httpStatus;
  }
}

type ApiErrorDetails = Pick<ServiceApiError, 'httpStatus' | 'serviceCode' | 'retryAfterMs'>;

const remedies: Readonly<Record<ApiErrorCode, string>> = {
  API_ERROR:
    'Read what the service says; if the meaning of its code is known, give envelopeCodes, and successCodes where it is one of success.',
  UNAUTHORIZED: 'Give the API key of an account that may do this; trying again with this one does not help.',
  INVALID_REQUEST: 'Correct what the service names in the request; trying it again unchanged does not help.',
  INSUFFICIENT_BALANCE: 'Raise the balance of the account, then send it again.',
  ACCOUNT_SUSPENDED: 'Have the account opened again at the service, then send it again.',
  PERMISSION_DENIED: 'Give the account the permission for this at the service, then send it again.',
  TASK_STATE_CONFLICT:
    'cancelTask applies to a queued task, interruptTask to a running one: ask for its state by getTask, and send the other.',
  TASK_NOT_FOUND:
    'Compare the request id, and whether the API key is of the account that created the task; a task that was created seconds ago may not be visible yet.',
  APP_NOT_FOUND: 'Compare webAppId with the app at the service, and whether the account of the API key may use it.',
  NOT_FOUND: 'Compare baseUrl and paths with the address of the service.',
  OUTPUT_GONE: 'The results are not kept any longer: create the task again, which is paid anew.',
  QUEUE_FULL: 'Send it again when tasks of the account have left its queue.',
  RATE_LIMITED: 'Send it again later, and fewer requests at a time.',
  SERVICE_UNAVAILABLE:
    'Send it again later, a create only when it is known that no task came of it; if it lasts, look at the service and at what stands in front of it.',
};

/** The service refused the request, for a reason without a subclass. */
export class ServiceApiError extends ServiceError {
  readonly httpStatus: number;
  declare readonly code: ApiErrorCode;
  /** The code of the envelope (specification, section 2.1). */
  readonly serviceCode?: number;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;

  constructor(message: string, details: ApiErrorDetails, code: ApiErrorCode = 'API_ERROR') {
    super(code, message);
    this.httpStatus = details.httpStatus;
    this.serviceCode = details.serviceCode;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** What a person should do, derived from `code`; the words may change between versions. */
  get remedy(): string {
    return remedies[this.code];
  }
}

/** The API key is refused (HTTP 401, 403), or its account is suspended or may not do this; `code` tells which. */
export class UnauthorizedError extends ServiceApiError {}

/** The request itself is wrong (other HTTP 4xx, or an envelope code that says so). Final. */
export class InvalidRequestError extends ServiceApiError {}

/** A cancel or interrupt that does not apply to the task as it is (sections 4.4, 4.5), or not any more. */
export class TaskStateConflictError extends InvalidRequestError {}

/** The account has no balance left, or not enough. Final until the balance is raised. */
export class InsufficientBalanceError extends ServiceApiError {}

/** The task, the app or the address is not known to the service; `code` tells which. */
export class NotFoundError extends ServiceApiError {}

/** The results are no longer at the service (HTTP 410, or an envelope code that says so). Final. */
export class OutputGoneError extends ServiceApiError {}

/** Too many requests, or the account's queue is full (HTTP 429): worth another try after `retryAfterMs`. */
export class RateLimitedError extends ServiceApiError {}

/** The service or a proxy in front of it fails (HTTP 408, 5xx): worth another try. */
export class ServiceUnavailableError extends ServiceApiError {}

const classes: Readonly<Record<ApiErrorCode, typeof ServiceApiError>> = {
  API_ERROR: ServiceApiError,
  UNAUTHORIZED: UnauthorizedError,
  INVALID_REQUEST: InvalidRequestError,
  TASK_STATE_CONFLICT: TaskStateConflictError,
  INSUFFICIENT_BALANCE: InsufficientBalanceError,
  ACCOUNT_SUSPENDED: UnauthorizedError,
  PERMISSION_DENIED: UnauthorizedError,
  TASK_NOT_FOUND: NotFoundError,
  APP_NOT_FOUND: NotFoundError,
  NOT_FOUND: NotFoundError,
  OUTPUT_GONE: OutputGoneError,
  QUEUE_FULL: RateLimitedError,
  RATE_LIMITED: RateLimitedError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
};

export function toApiError(
  { endpoint, reply, refusesKey }: Answer,
  { code: serviceCode, message: said = '' }: { readonly code?: number; readonly message?: string },
  codes: EnvelopeCodes,
): ServiceApiError {
  const { httpStatus, retryAfterMs } = reply;
  const known = serviceCode === undefined ? undefined : codes[serviceCode];
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  const withoutMessage = isRedirect
    ? 'a redirect, which is not followed: correct the address of the service'
    : 'no message';
  let meaning: ApiErrorCode = refusalMeaning(httpStatus, serviceCode, codes, endpoint.isAboutTask);
  let words = safeText(said) || withoutMessage;
  if (httpStatus === 403 && !refusesKey && known === undefined) {
    meaning = 'API_ERROR';
    words = 'a gateway in front of it refused this request, not the API key';
  }
  // Cancel and interrupt are the PUTs, and have nothing to be wrong but the state of the task.
  if (meaning === 'INVALID_REQUEST' && endpoint.method === 'PUT') meaning = 'TASK_STATE_CONFLICT';
  const shownCode = serviceCode === undefined ? '' : `, code ${serviceCode}`;
  const message = `${endpoint.title}: the service refused (HTTP ${httpStatus}${shownCode}): ${words}`;
  return new classes[meaning](message, { httpStatus, serviceCode, retryAfterMs }, meaning);
}
