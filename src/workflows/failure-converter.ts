import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { encodesFailures } from '../contract/encryption';

/**
 * Temporal's default failure converter. In a worker that encrypts, messages and stacks go into a payload, which the codec
 * of the worker encrypts outside of the sandbox. It is part of the workflow bundle (workflow-sources.ts).
 */
export const failureConverter: FailureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: Reflect.get(globalThis, encodesFailures) === true,
});
