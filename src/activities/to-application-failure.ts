import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { UnusableFile } from '../contract/activities';
import { type FailureType, failureTypes, type waitsForTurn } from '../contract/failure-types';
import type { CreateNotSent, CreateRejected } from '../core/create-outcome';
import { boundedText, safeText } from '../core/text';
import { withoutUrls } from '../core/uri';
import {
  RateLimitedError,
  ServiceApiError,
  ServiceError,
  ServiceUnavailableError,
  type ServiceErrorCode,
} from '../service';
import { UploadHeldBackError } from '../service/account-gate';
import { isOfAccount } from '../service/create-gate';
import { ArchiveError, DownloadError, SourceError, StorageError, tokenFaults, UploadError } from '../storage/errors';
import { type AccountKey, type AccountPatience, AccountUnknownError } from './accounts';

interface Verdict {
  readonly type: FailureType;
  readonly isFinal: boolean;
  /** How long the service asked to wait, or what was slow has to. */
  readonly nextRetryDelayMs?: number;
}

/** What a fresh token or another reply may correct is tried so often, however short the patience is. */
const fewAttempts = 3;

/** What was too slow held a slot for a minute and more; others have it for some time first. */
const slowRetryMs = 5 * 60_000;

/** Runs an activity’s body; the only place where errors of the service and the storage become Temporal failures. */
export async function asApplicationFailure<T>(
  account: AccountKey | null,
  body: () => Promise<T>,
  patience?: AccountPatience,
): Promise<T> {
  const step = patience === undefined ? '' : ownStep();
  try {
    const result = await body();
    patience?.forget(step);
    return result;
  } catch (error) {
    const isOver = (): boolean => patience?.isOver(step) ?? true;
    throw toApplicationFailure(error, account, isOver, () => activityInfo().attempt >= fewAttempts && isOver());
  }
}

export function ownWorkflowId(): string {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution === undefined) throw new Error(`${activityType} runs only in a workflow.`);
  return workflowExecution.workflowId;
}

/** Words about an API key that the service does not accept, with whose it is and what to do. */
export function keyProblem({ account, setting = anyKeySetting }: AccountKey, words: string): string {
  return `${words}; the API key of the account "${account}" is not accepted: correct it in ${setting} of the worker, and start the worker again`;
}

/** The words of a failed request of which an activity makes data; about the API key, with what to do. */
export function requestProblem(error: unknown, account: AccountKey, words: string): string {
  const isAboutKey =
    error instanceof ServiceError && (error.code === 'UNAUTHORIZED' || error.code === 'API_KEY_UNAVAILABLE');
  return isAboutKey ? keyProblem(account, words) : words;
}

const anyKeySetting = 'LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE';

function ownStep(): string {
  const { workflowExecution, activityType } = activityInfo();
  return `${workflowExecution?.workflowId ?? ''} ${activityType}`;
}

/** Longest message of a failure: whatever was not bounded where it was read is bounded here. */
const maxMessageLength = 4_000;

/**
 * The failure that enters the history. Temporal's own failures (a cancellation among them) pass through; an error that
 * is unknown stays retryable and keeps its class's name as its type.
 *
 * @param isOver - whether an unknown account has been tried again for long enough.
 * @param isLasting - the same of what only the service can correct, such as its upload tokens.
 */
export function toApplicationFailure(
  error: unknown,
  account: AccountKey | null = null,
  isOver = () => true,
  isLasting = isOver,
): Error {
  if (error instanceof ApplicationFailure) return bounded(error);
  if (error instanceof TemporalFailure) return error;
  if (error instanceof AccountUnknownError) {
    const verdict = { type: failureTypes.AccountUnknown, isFinal: isOver() };
    return failure(boundedText(error.message, maxMessageLength), verdict);
  }
  if (error instanceof UploadHeldBackError)
    return notNow(failureTypes.StorageUnavailable, error.message, error.retryInMs);
  if (error instanceof ServiceError) {
    const words = withoutUrls(error.message);
    return failure(account === null ? words : requestProblem(error, account, words), ofService(error, isLasting));
  }
  // A source is the caller's own word; every other URL is the service's or the storage's.
  if (error instanceof SourceError) {
    const words = boundedText(error.message, maxMessageLength);
    return failure(words, ofStorage(error, isLasting), [{ file: error.source }]);
  }
  if (error instanceof StorageError) return failure(withoutUrls(error.message), ofStorage(error, isLasting));
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return ApplicationFailure.create({ type: safeText(name, [], 100), message: withoutUrls(message) });
}

/** One that an activity made itself; its message may quote what it read. */
function bounded(failure: ApplicationFailure): ApplicationFailure {
  const message = boundedText(failure.message, maxMessageLength);
  if (message === failure.message) return failure;
  const { type, nonRetryable, details, category } = failure;
  const retryDelay: unknown = failure.nextRetryDelay;
  return ApplicationFailure.create({
    message,
    type: type ?? undefined,
    nonRetryable: nonRetryable === true,
    details: details ?? undefined,
    category: category ?? undefined,
    nextRetryDelay: typeof retryDelay === 'number' ? retryDelay : undefined,
  });
}

function failure(
  words: string,
  { type, isFinal, nextRetryDelayMs }: Verdict,
  details: readonly UnusableFile[] = [],
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: words,
    nonRetryable: isFinal,
    details: [...details],
    nextRetryDelay: nextRetryDelayMs,
  });
}

function ofService(error: ServiceError, isLasting: () => boolean): Verdict {
  // A cache or a rolling restart of the service may be behind it.
  if (error.code === 'RESPONSE_INVALID') return { type: failureTypes.ServiceReplyInvalid, isFinal: isLasting() };
  const verdict = ofServiceCode(error.code);
  const isPatient = error instanceof RateLimitedError || error instanceof ServiceUnavailableError;
  const retryAfterMs = isPatient && error instanceof ServiceApiError ? error.retryAfterMs : undefined;
  // To Temporal a pause of 0 means never again.
  return retryAfterMs === undefined || retryAfterMs === 0 ? verdict : { ...verdict, nextRetryDelayMs: retryAfterMs };
}

/** Whether it is the account that the service refuses: a person settles it, and every request goes on by itself then. */
export function isAccountRefusal(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.code === 'RESPONSE_INVALID') return false;
  const { type } = ofServiceCode(error.code);
  return type === failureTypes.AccountRefused;
}

function ofServiceCode(code: Exclude<ServiceErrorCode, 'RESPONSE_INVALID'>): Verdict {
  switch (code) {
    case 'UNAUTHORIZED':
    case 'API_KEY_UNAVAILABLE':
    case 'INSUFFICIENT_BALANCE':
    case 'ACCOUNT_SUSPENDED':
    case 'PERMISSION_DENIED':
      return { type: failureTypes.AccountRefused, isFinal: false };
    case 'INVALID_ARGUMENT':
    case 'INVALID_REQUEST':
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
    case 'CLOSED':
    case 'UNREACHABLE':
    case 'TIMEOUT':
    case 'RATE_LIMITED':
    case 'QUEUE_FULL':
    case 'SERVICE_UNAVAILABLE':
      return { type: failureTypes.ServiceUnavailable, isFinal: false };
  }
}

function ofStorage(error: StorageError, isLasting: () => boolean): Verdict {
  const isFinal = !error.isRetryable;
  if (error instanceof SourceError) {
    const nextRetryDelayMs = error.code === 'TOO_SLOW' ? slowRetryMs : undefined;
    return { type: failureTypes.InputUnusable, isFinal, nextRetryDelayMs };
  }
  if (error instanceof UploadError) {
    if (error.code === 'UPLOAD_TOO_SLOW')
      return { type: failureTypes.StorageUnavailable, isFinal, nextRetryDelayMs: slowRetryMs };
    if (error.code === 'FILE_CHANGED' || error.code === 'FILE_UNREADABLE')
      return { type: failureTypes.InputUnusable, isFinal };
    const isRefused = isFinal || (tokenFaults.includes(error.code) && isLasting());
    return { type: isRefused ? failureTypes.StorageRefused : failureTypes.StorageUnavailable, isFinal: isRefused };
  }
  if (error instanceof DownloadError) return { type: failureTypes.OutputUnavailable, isFinal };
  if (error instanceof ArchiveError) return { type: failureTypes.ArchiveUnavailable, isFinal };
  return { type: failureTypes.StorageUnavailable, isFinal };
}

/** No service means to be asked later than this. */
const longestWaitMs = 365 * 24 * 3_600_000;

/** The failure of a create that was refused for now or not sent; retried after `waitMs`, or as long as the service asks. */
export function refusedForNow(outcome: CreateRejected | CreateNotSent, waitMs = 0): ApplicationFailure {
  if (outcome.outcome === 'notSent') {
    return notNow(failureTypes.ServiceUnavailable, `The create was not sent: ${outcome.reason}`, waitMs);
  }
  const type = isOfAccount(outcome) ? failureTypes.AccountRefused : failureTypes.ServiceUnavailable;
  const words = `The service refused the create for now (HTTP ${outcome.httpStatus}): ${outcome.message}`;
  return notNow(type, words, Math.max(waitMs, outcome.retryAfterMs ?? 0));
}

/** Temporal tries again, after this pause or else by the retry policy, and counts no error. */
export function notNow(type: FailureType | typeof waitsForTurn, message: string, waitMs = 0): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: waitMs > 0 ? Math.min(Math.ceil(waitMs), longestWaitMs) : undefined,
  });
}
