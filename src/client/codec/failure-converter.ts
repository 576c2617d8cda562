import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { ConfigError } from '../../config/environment';

const encoding = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plain = new DefaultFailureConverter();

/** Messages and stacks of failures are encrypted, but not that a key is missing: who reads that lacks the key. */
export const failureConverter: FailureConverter = {
  errorToFailure: (error, payloadConverter, context) =>
    (isAboutKeys(error) ? plain : encoding).errorToFailure(error, payloadConverter, context),
  failureToError: (failure, payloadConverter, context) => plain.failureToError(failure, payloadConverter, context),
};

/** The SDK wraps what an activity's codec throws. */
function isAboutKeys(error: unknown): boolean {
  if (error instanceof ConfigError) return true;
  return error instanceof Error && error.cause instanceof ConfigError;
}
