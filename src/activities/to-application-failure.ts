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
  type ServiceErrorCode,
  ServiceUnavailableError,
} from '../service';
import { UploadHeldBackError } from '../service/account-gate';
import { isOfAccount } from '../service/create-gate';
import { ArchiveError, DownloadError, SourceError, StorageError, tokenFaults, UploadError } from '../storage/errors';
import { type AccountKey, type AccountPatience, AccountUnknownError } from './accounts';

interface Verdict {
  readonly type: FailureType;
  readonly isFinal: boolean;
  /** How long the service asked to wait, or a slow transfer has to. */
  readonly nextRetryDelay?: number;
}

/** Least attempts for what a fresh token or another reply may correct. */
const fewAttempts = 3;
/** A slow transfer held a slot for over a minute: others come first. */
const slowRetryMs = 5 * 60_000;
const maxMessageLength = 4_000;
const longestWaitMs = 365 * 24 * 3_600_000;

/** The only place where errors of service and storage become Temporal failures. */
export async function asApplicationFailure<T>(
  account: AccountKey | null,
  body: () => Promise<T>,
  patience?: AccountPatience,
): Promise<T> {
  const { workflowExecution, activityType, attempt } = activityInfo();
  const step = `${workflowExecution?.workflowId ?? ''} ${activityType}`;
  try {
    const result = await body();
    patience?.forget(step);
    return result;
  } catch (error) {
    const isOver = (): boolean => patience?.isOver(step) ?? true;
    throw toApplicationFailure(error, account, isOver, () => attempt >= fewAttempts && isOver());
  }
}

export function ownWorkflowId(): string {
  const { workflowExecution, activityType } = activityInfo();
  if (workflowExecution === undefined) throw new Error(`${activityType} runs only in a workflow.`);
  return workflowExecution.workflowId;
}

const anyKeySetting = 'LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE';

export function keyProblem({ account, setting = anyKeySetting }: AccountKey, words: string): string {
  return `${words}; the API key of the account "${account}" is not accepted: correct it in ${setting} of the worker, and start the worker again`;
}

export function requestProblem(error: unknown, account: AccountKey, words: string): string {
  const isAboutKey =
    error instanceof ServiceError && (error.code === 'UNAUTHORIZED' || error.code === 'API_KEY_UNAVAILABLE');
  return isAboutKey ? keyProblem(account, words) : words;
}

/**
 * The failure for the history. Temporal's own failures, cancellations included, pass through; an unknown error stays
 * retryable, with its class as type.
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
    return failure(bound(error.message), { type: failureTypes.AccountUnknown, isFinal: isOver() });
  }
  if (error instanceof UploadHeldBackError) {
    return notNow(failureTypes.StorageUnavailable, error.message, error.retryInMs);
  }
  if (error instanceof ServiceError) {
    const words = withoutUrls(error.message);
    return failure(account === null ? words : requestProblem(error, account, words), ofService(error, isLasting));
  }
  // A source is the caller's own word; any other URL is the service's or the storage's.
  if (error instanceof SourceError) {
    return failure(bound(error.message), ofStorage(error, isLasting), [{ file: error.source }]);
  }
  if (error instanceof StorageError) return failure(withoutUrls(error.message), ofStorage(error, isLasting));
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return ApplicationFailure.create({ type: safeText(name, [], 100), message: withoutUrls(message) });
}

function bound(words: string): string {
  return boundedText(words, maxMessageLength);
}

function bounded(failure: ApplicationFailure): ApplicationFailure {
  const message = bound(failure.message);
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
  message: string,
  { type, isFinal, nextRetryDelay }: Verdict,
  details: UnusableFile[] = [],
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: isFinal, details, nextRetryDelay });
}

const serviceTypes: Readonly<Record<ServiceErrorCode, FailureType>> = {
  UNAUTHORIZED: 'AccountRefused',
  API_KEY_UNAVAILABLE: 'AccountRefused',
  INSUFFICIENT_BALANCE: 'AccountRefused',
  ACCOUNT_SUSPENDED: 'AccountRefused',
  PERMISSION_DENIED: 'AccountRefused',
  INVALID_ARGUMENT: 'ServiceRefused',
  INVALID_REQUEST: 'ServiceRefused',
  TASK_STATE_CONFLICT: 'ServiceRefused',
  APP_NOT_FOUND: 'ServiceRefused',
  NOT_FOUND: 'ServiceRefused',
  API_ERROR: 'ServiceRefused',
  TASK_NOT_FOUND: 'TaskNotFound',
  OUTPUT_GONE: 'OutputUnavailable',
  CLOSED: 'ServiceUnavailable',
  UNREACHABLE: 'ServiceUnavailable',
  TIMEOUT: 'ServiceUnavailable',
  RATE_LIMITED: 'ServiceUnavailable',
  QUEUE_FULL: 'ServiceUnavailable',
  SERVICE_UNAVAILABLE: 'ServiceUnavailable',
  RESPONSE_INVALID: 'ServiceReplyInvalid',
};

function ofService(error: ServiceError, isLasting: () => boolean): Verdict {
  const type = serviceTypes[error.code];
  // A cache or a rolling restart of the service may be the cause.
  if (type === failureTypes.ServiceReplyInvalid) return { type, isFinal: isLasting() };
  // An unknown refusal is retried, since these calls cost nothing.
  const isFinal = type === failureTypes.ServiceRefused && error.code !== 'API_ERROR';
  const isPatient = error instanceof RateLimitedError || error instanceof ServiceUnavailableError;
  const retryAfterMs = isPatient && error instanceof ServiceApiError ? error.retryAfterMs : undefined;
  // To Temporal a pause of 0 means never again.
  return { type, isFinal, nextRetryDelay: retryAfterMs === 0 ? undefined : retryAfterMs };
}

/** A person settles the account, and requests then go on by themselves. */
export function isAccountRefusal(error: unknown): boolean {
  return error instanceof ServiceError && serviceTypes[error.code] === failureTypes.AccountRefused;
}

function ofStorage(error: StorageError, isLasting: () => boolean): Verdict {
  const isFinal = !error.isRetryable;
  if (error instanceof SourceError) {
    const nextRetryDelay = error.code === 'TOO_SLOW' ? slowRetryMs : undefined;
    return { type: failureTypes.InputUnusable, isFinal, nextRetryDelay };
  }
  if (error instanceof DownloadError) return { type: failureTypes.OutputUnavailable, isFinal };
  if (error instanceof ArchiveError) return { type: failureTypes.ArchiveUnavailable, isFinal };
  if (!(error instanceof UploadError)) return { type: failureTypes.StorageUnavailable, isFinal };
  const { code } = error;
  if (code === 'FILE_CHANGED' || code === 'FILE_UNREADABLE') return { type: failureTypes.InputUnusable, isFinal };
  if (code === 'UPLOAD_TOO_SLOW') {
    return { type: failureTypes.StorageUnavailable, isFinal, nextRetryDelay: slowRetryMs };
  }
  const isRefused = isFinal || (tokenFaults.includes(code) && isLasting());
  return { type: isRefused ? failureTypes.StorageRefused : failureTypes.StorageUnavailable, isFinal: isRefused };
}

/** Retried after `waitMs`, or as long as the service asks. */
export function refusedForNow(outcome: CreateRejected | CreateNotSent, waitMs = 0): ApplicationFailure {
  if (outcome.outcome === 'notSent') {
    return notNow(failureTypes.ServiceUnavailable, `The create was not sent: ${outcome.reason}`, waitMs);
  }
  const type = isOfAccount(outcome) ? failureTypes.AccountRefused : failureTypes.ServiceUnavailable;
  const words = `The service refused the create for now (HTTP ${outcome.httpStatus}): ${outcome.message}`;
  return notNow(type, words, Math.max(waitMs, outcome.retryAfterMs ?? 0));
}

/** Retried after `waitMs`, else by the retry policy; Temporal counts no error. */
export function notNow(type: FailureType | typeof waitsForTurn, message: string, waitMs = 0): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: waitMs > 0 ? Math.min(Math.ceil(waitMs), longestWaitMs) : undefined,
  });
}
