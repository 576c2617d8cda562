import { ActivityFailure, ApplicationFailure, defaultPayloadConverter, TimeoutFailure } from '@temporalio/workflow';
import { failureTypes, type FailureType } from '../contract/failure-types';
import { isRecord } from '../core/json';
import { errorMessage } from '../core/text';

export function taskFailure(
  type: FailureType,
  message: string,
  details: Record<string, unknown> = {},
): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details: [details] });
}

/** Throws `InputInvalid` when there are problems. */
export function requireNoProblems(problems: readonly string[]): void {
  if (problems.length > 0) throw taskFailure('InputInvalid', problems.join('\n'), { problems });
}

/** Any other error in a handler would block the workflow. Without a stack, which shows the worker's code. */
export function messageRefused(message: string): ApplicationFailure {
  const failure = ApplicationFailure.create({ type: 'MessageRefused', message, nonRetryable: true });
  failure.stack = '';
  return failure;
}

/** The failure, if an activity reported it as final and of a durable type. */
export function getFinalFailure(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.nonRetryable !== true) return undefined;
  return cause.type != null && Object.hasOwn(failureTypes, cause.type) ? cause : undefined;
}

export function failureMessage(error: unknown): string {
  const cause = error instanceof ActivityFailure ? (error.cause ?? error) : error;
  if (!(cause instanceof TimeoutFailure)) return errorMessage(cause);
  // The last attempt's failure, which the error lacks, is what a person needs to read.
  const lastAttempt = cause.failure?.cause;
  if (lastAttempt?.message == null) return `No attempt ended in time: ${errorMessage(cause)}`;
  return decodedMessage(lastAttempt.encodedAttributes) ?? lastAttempt.message;
}

function decodedMessage(encoded: NonNullable<TimeoutFailure['failure']>['encodedAttributes']): string | undefined {
  if (encoded == null) return undefined;
  try {
    const attributes: unknown = defaultPayloadConverter.fromPayload(encoded);
    return isRecord(attributes) && typeof attributes['message'] === 'string' ? attributes['message'] : undefined;
  } catch {
    return undefined;
  }
}
