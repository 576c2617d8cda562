import { safeText } from '../domain/text';
import type { Endpoint } from './endpoints';
import { type ApiErrorCode, type EnvelopeCodes, isForNow } from './envelope-codes';
import {
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

/** What a refusal's body said, as far as it was an envelope. */
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
  const meaning = meaningOf(reply.httpStatus, known, endpoint, refusal);
  const words = safeText(refusal.message ?? '') || 'no message';
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

/**
 * HTTP first, since that much is a standard; the table of codes refines what a status leaves open, because the
 * specification shows neither statuses nor codes of failed requests (section 7).
 */
function meaningOf(
  httpStatus: number,
  known: ApiErrorCode | undefined,
  endpoint: Endpoint,
  refusal: Refusal,
): ApiErrorCode {
  switch (httpStatus) {
    case 401:
      return 'UNAUTHORIZED';
    case 403:
      // Who refuses the key does not look further: "not now" is not what it means.
      return known === undefined || isForNow(known) ? 'UNAUTHORIZED' : known;
    case 404:
      // A 404 without an envelope comes from something in front of the service, and says nothing about the task.
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
