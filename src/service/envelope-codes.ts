import type { CreatePolicy } from '../domain/create-outcome';

/** The `code` of a {@link ServiceApiError}: what the refusal means. */
export type ApiErrorCode =
  | 'API_ERROR'
  | 'UNAUTHORIZED'
  | 'INVALID_REQUEST'
  | 'INSUFFICIENT_BALANCE'
  | 'TASK_NOT_FOUND'
  | 'APP_NOT_FOUND'
  | 'NOT_FOUND'
  | 'OUTPUT_GONE'
  | 'QUEUE_FULL'
  | 'RATE_LIMITED'
  | 'SERVICE_UNAVAILABLE';

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
export function createPolicyOf(codes: EnvelopeCodes): CreatePolicy {
  const codesOf = (matches: (meaning: ApiErrorCode) => boolean): readonly number[] =>
    Object.entries(codes)
      .filter(([, meaning]) => matches(meaning))
      .map(([code]) => Number(code));
  return {
    retryableCodes: codesOf(isForNow),
    keyCodes: codesOf((meaning) => meaning === 'UNAUTHORIZED'),
    otherCodes: codesOf((meaning) => meaning !== 'UNAUTHORIZED' && !isForNow(meaning)),
  };
}

/** Whether it means "not now": what is refused so may be sent again later. */
export function isForNow(meaning: ApiErrorCode): boolean {
  return meaning === 'QUEUE_FULL' || meaning === 'RATE_LIMITED';
}
