import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';
import { encodesFailures } from '../contract/encryption';
import { Undecodable } from '../contract/input-bounds';
import { errorMessage } from '../core/text';

/* The converters of the workflow bundle (workflow-sources.ts), under the names that the SDK looks for. */

/**
 * Temporal's default, except that a payload that cannot be decoded becomes an {@link Undecodable}: an error while a signal or
 * a start is decoded would fail the workflow task, and every retry of it.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(...[payload, context, hint]: Parameters<typeof defaultPayloadConverter.fromPayload<T>>): T {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch (error) {
      // The handlers and the parsers take any value: each of them checks the value before it uses it.
      return new Undecodable(errorMessage(error)) as T;
    }
  },
};

/** Temporal's default. In a worker that encrypts, messages and stacks go into a payload, which its codec encrypts. */
export const failureConverter: FailureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: Reflect.get(globalThis, encodesFailures) === true,
});
