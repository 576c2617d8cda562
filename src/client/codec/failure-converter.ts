import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { ConfigError } from '../../config/environment';

const encoding = new DefaultFailureConverter({ encodeCommonAttributes: true });
const plain = new DefaultFailureConverter();

/**
 * Failures of activities and of workflow tasks in a worker that encrypts: their messages and stacks go into a payload,
 * which the codec encrypts. That a key is missing has to be read by somebody without that key.
 */
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
