import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { UnusableFile } from '../contract/activities';
import { failureTypes, type FailureType } from '../contract/failure-types';
import { withoutUrls } from '../domain/without-urls';
import { RateLimitedError, ServiceApiError, ServiceError, ServiceUnavailableError } from '../service';
import type { ServiceErrorCode } from '../service';
import { ArchiveError, DownloadError, SourceError, StorageError, UploadError } from '../storage/errors';

/** What an error means to Temporal. */
interface Verdict {
  readonly type: FailureType;
  readonly isFinal: boolean;
  /** How long the service asked to wait, or what was slow has to. */
  readonly nextRetryDelayMs?: number;
}

/** What was too slow held a slot for a minute and more; others have it for some time first. */
const slowRetry = { nextRetryDelayMs: 5 * 60_000 };

/**
 * Runs an activity's body; the only place where errors of the service and the storage become Temporal failures. What
 * is said of an API key names the account, since only the worker's operator can mend it.
 */
export async function asApplicationFailure<T>(account: string | null, body: () => Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    throw toApplicationFailure(error, account);
  }
}

/** Words about an API key that the service does not accept, with whose it is and what to do. */
export function keyTrouble(account: string, words: string): string {
  return (
    `${words}; the API key of the account "${account}" is not accepted: correct it in LONGHAUL_API_KEY, ` +
    'LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE of the worker, and start the worker again'
  );
}

/**
 * The failure that enters the history. Temporal's own failures (a cancellation among them) pass through; an error that
 * nobody foresaw stays retryable and keeps its class's name as its type.
 */
export function toApplicationFailure(error: unknown, account: string | null = null): Error {
  if (error instanceof TemporalFailure) return error;
  if (error instanceof ServiceError) return failure(withoutUrls(error.message), ofService(error), account);
  // A source is the caller's own word; every other URL is the service's or the storage's.
  if (error instanceof SourceError) return failure(error.message, ofStorage(error), account, [{ file: error.source }]);
  if (error instanceof StorageError) return failure(withoutUrls(error.message), ofStorage(error), account);
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return ApplicationFailure.create({ type: name, message: withoutUrls(message) });
}

function failure(
  words: string,
  { type, isFinal, nextRetryDelayMs }: Verdict,
  account: string | null,
  details: readonly UnusableFile[] = [],
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: type === failureTypes.Unauthorized && account !== null ? keyTrouble(account, words) : words,
    nonRetryable: isFinal,
    details: [...details],
    ...(nextRetryDelayMs !== undefined && { nextRetryDelay: nextRetryDelayMs }),
  });
}

function ofService(error: ServiceError): Verdict {
  const verdict = ofServiceCode(error.code);
  const isPatient = error instanceof RateLimitedError || error instanceof ServiceUnavailableError;
  const retryAfterMs = isPatient && error instanceof ServiceApiError ? error.retryAfterMs : undefined;
  return retryAfterMs === undefined ? verdict : { ...verdict, nextRetryDelayMs: retryAfterMs };
}

function ofServiceCode(code: ServiceErrorCode): Verdict {
  switch (code) {
    case 'UNAUTHORIZED':
    case 'API_KEY_UNAVAILABLE':
      return { type: failureTypes.Unauthorized, isFinal: true };
    case 'INVALID_ARGUMENT':
    case 'INVALID_REQUEST':
    case 'INSUFFICIENT_BALANCE':
    case 'APP_NOT_FOUND':
    case 'NOT_FOUND':
      return { type: failureTypes.ServiceRefused, isFinal: true };
    // A refusal that says nothing we know of: worth another try, since these calls cost nothing.
    case 'API_ERROR':
      return { type: failureTypes.ServiceRefused, isFinal: false };
    case 'TASK_NOT_FOUND':
      return { type: failureTypes.TaskNotFound, isFinal: false };
    case 'OUTPUT_GONE':
      return { type: failureTypes.OutputUnavailable, isFinal: false };
    case 'RESPONSE_INVALID':
      return { type: failureTypes.ServiceReplyInvalid, isFinal: false };
    case 'UNREACHABLE':
    case 'TIMEOUT':
    case 'RATE_LIMITED':
    case 'QUEUE_FULL':
    case 'SERVICE_UNAVAILABLE':
      return { type: failureTypes.ServiceUnavailable, isFinal: false };
  }
}

function ofStorage(error: StorageError): Verdict {
  const isFinal = !error.isRetryable;
  if (error instanceof SourceError) {
    return { type: failureTypes.InputUnusable, isFinal, ...(error.code === 'TOO_SLOW' && slowRetry) };
  }
  if (error instanceof UploadError) {
    if (error.code === 'UPLOAD_TOO_SLOW') return { type: failureTypes.StorageUnavailable, isFinal, ...slowRetry };
    if (error.code === 'FILE_CHANGED') return { type: failureTypes.InputUnusable, isFinal };
    return { type: isFinal ? failureTypes.StorageRefused : failureTypes.StorageUnavailable, isFinal };
  }
  if (error instanceof DownloadError) return { type: failureTypes.OutputUnavailable, isFinal };
  if (error instanceof ArchiveError) return { type: failureTypes.ArchiveUnavailable, isFinal };
  return { type: failureTypes.StorageUnavailable, isFinal };
}
