import { type EnvelopeCodes, refusalMeaning } from '../domain/service-dialect';
import { safeText } from '../domain/text';
import type { Answer } from './endpoints';
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

/** Turns a refusal into the error that names its meaning. */
export function toApiError(
  { endpoint, reply, refusesKey }: Answer,
  refusal: Refusal,
  codes: EnvelopeCodes,
): ServiceApiError {
  const known = refusal.code === undefined ? undefined : codes[refusal.code];
  const isOfGateway = reply.httpStatus === 403 && !refusesKey && known === undefined;
  const meaning = isOfGateway
    ? 'API_ERROR'
    : refusalMeaning(reply.httpStatus, refusal.code, codes, endpoint.isAboutTask);
  const words = isOfGateway ? ofGateway : safeText(refusal.message ?? '') || unsaid(reply.httpStatus);
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

const ofGateway = 'a gateway in front of it refused this request, not the API key';

function unsaid(httpStatus: number): string {
  const isRedirect = httpStatus >= 300 && httpStatus < 400;
  return isRedirect ? 'a redirect, which is not followed: correct the address of the service' : 'no message';
}
