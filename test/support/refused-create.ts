import type { CreateRejected } from '../../src/core/create-outcome';
import { refusalMeaning, refusalScopes } from '../../src/core/service-dialect';

/** The outcome of a create that the service refused. */
export function refusedCreate(httpStatus: number, message: string, more: Partial<CreateRejected> = {}): CreateRejected {
  const meaning = refusalMeaning(httpStatus, more.code, {});
  const retryable = httpStatus === 429 || httpStatus === 503;
  return { outcome: 'rejected', retryable, httpStatus, meaning, scope: refusalScopes[meaning], message, ...more };
}
