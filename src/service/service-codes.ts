import type { CreatePolicy } from '../domain/create-outcome';
import { safeText } from '../domain/text';
import type { Endpoint } from './endpoints';
import {
  type ApiErrorCode,
  InsufficientBalanceError,
  InvalidRequestError,
  NotFoundError,
  OutputGoneError,
  RateLimitedError,
  ServiceApiError,
  ServiceUnavailableError,
  UnauthorizedError,
} from './errors';
import type { HttpReply } from './exchange';

/** What envelope codes mean: code → meaning. */
export type EnvelopeCodes = Readonly<Record<number, ApiErrorCode>>;

/**
 * The specification shows no code but 20000 (section 7). These were seen in clients of similar services; they only
 * refine what the HTTP status leaves open and every one can be overridden in the client's options.
 */
export const defaultEnvelopeCodes: EnvelopeCodes = {
  20015: 'INVALID_REQUEST',
  20049: 'INSUFFICIENT_BALANCE',
  20050: 'INSUFFICIENT_BALANCE',
  20051: 'INSUFFICIENT_BALANCE',
  20052: 'UNAUTHORIZED',
  20093: 'UNAUTHORIZED',
  20094: 'UNAUTHORIZED',
  20224: 'APP_NOT_FOUND',
  30009: 'TASK_NOT_FOUND',
  30039: 'QUEUE_FULL',
  30040: 'QUEUE_FULL',
  30046: 'OUTPUT_GONE',
  50600: 'RATE_LIMITED',
  50601: 'RATE_LIMITED',
  50602: 'RATE_LIMITED',
  50603: 'RATE_LIMITED',
  50604: 'RATE_LIMITED',
};

/** Envelope codes of success (specification, section 2.1). */
export const defaultSuccessCodes: readonly number[] = [20000];

/** What a create's classification depends on. */
export function toCreatePolicy(codes: EnvelopeCodes): CreatePolicy {
  const listCodes = (matches: (meaning: ApiErrorCode) => boolean): readonly number[] =>
    Object.entries(codes)
      .filter(([, meaning]) => matches(meaning))
      .map(([code]) => Number(code));
  return {
    retryableCodes: listCodes(isForNow),
    keyCodes: listCodes((meaning) => meaning === 'UNAUTHORIZED'),
    otherCodes: listCodes((meaning) => meaning !== 'UNAUTHORIZED' && !isForNow(meaning)),
  };
}

/** Whether it means "not now": what is refused so may be sent again later. */
function isForNow(meaning: ApiErrorCode): boolean {
  return meaning === 'QUEUE_FULL' || meaning === 'RATE_LIMITED';
}

/** The envelope of a refusal, as far as the body was one. */
export interface Refusal {
  readonly code?: number | undefined;
  readonly message?: string | undefined;
}

const classes: Readonly<Record<ApiErrorCode, typeof ServiceApiError>> = {
  API_ERROR: ServiceApiError,
  UNAUTHORIZED: UnauthorizedError,
  INVALID_REQUEST: InvalidRequestError,
  INSUFFICIENT_BALANCE: InsufficientBalanceError,
  TASK_NOT_FOUND: NotFoundError,
  APP_NOT_FOUND: NotFoundError,
  NOT_FOUND: NotFoundError,
  OUTPUT_GONE: OutputGoneError,
  QUEUE_FULL: RateLimitedError,
  RATE_LIMITED: RateLimitedError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
};

/** Turns a refusal into the error that names its meaning. */
export function toApiError(
  endpoint: Endpoint,
  reply: HttpReply,
  refusal: Refusal,
  codes: EnvelopeCodes,
): ServiceApiError {
  const known = refusal.code === undefined ? undefined : codes[refusal.code];
  const meaning = classify(reply.httpStatus, known, endpoint, refusal);
  const words = safeText(refusal.message ?? '') || unsaid(reply.httpStatus);
  const code = refusal.code === undefined ? '' : `, code ${refusal.code}`;
  return new classes[meaning](
    `${endpoint.title}: the service refused (HTTP ${reply.httpStatus}${code}): ${words}`,
    {
      httpStatus: reply.httpStatus,
      ...(refusal.code !== undefined && { serviceCode: refusal.code }),
      ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs }),
    },
    meaning,
  );
}

function unsaid(httpStatus: number): string {
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  return isRedirect ? 'a redirect, which is not followed: correct the address of the service' : 'no message';
}

/**
 * The HTTP status decides first; the table of codes refines what the status leaves open, because the specification
 * shows neither statuses nor codes of failed requests (section 7).
 */
function classify(
  httpStatus: number,
  known: ApiErrorCode | undefined,
  endpoint: Endpoint,
  refusal: Refusal,
): ApiErrorCode {
  switch (httpStatus) {
    case 401:
      return 'UNAUTHORIZED';
    case 403:
      // A 403 is about the key, whatever "try later" code comes with it.
      return known === undefined || isForNow(known) ? 'UNAUTHORIZED' : known;
    case 404:
      // A 404 without an envelope comes from a proxy in front of the service, and says nothing about the task.
      return known ?? (endpoint.isAboutTask === true && refusal.code !== undefined ? 'TASK_NOT_FOUND' : 'NOT_FOUND');
    case 408:
      return 'SERVICE_UNAVAILABLE';
    case 410:
      return 'OUTPUT_GONE';
    case 429:
      return known === 'QUEUE_FULL' ? known : 'RATE_LIMITED';
    default:
      if (httpStatus >= 500) return known ?? 'SERVICE_UNAVAILABLE';
      return known ?? (httpStatus >= 400 ? 'INVALID_REQUEST' : 'API_ERROR');
  }
}
