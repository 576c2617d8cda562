import { DefaultFailureConverter, type FailureConverter } from '@temporalio/common';
import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';
import { encodesFailures } from '../contract/encryption';
import { Undecodable } from '../contract/input-bounds';
import { errorMessage } from '../core/text';

/* The converters of the workflow bundle (workflow-sources.ts), under the names that the SDK looks for. */

/** Returns an {@link Undecodable} for an invalid payload: an error would fail every retry of the workflow task. */
export const payloadConverter: PayloadConverter = {
  toPayload: (value, context, hint) => defaultPayloadConverter.toPayload(value, context, hint),
  fromPayload<T>(...[payload, context, hint]: Parameters<typeof defaultPayloadConverter.fromPayload<T>>): T {
    try {
      return defaultPayloadConverter.fromPayload(payload, context, hint);
    } catch (error) {
      // Handlers and parsers check any value before they use it.
      return new Undecodable(errorMessage(error)) as T;
    }
  },
};

/** In a worker that encrypts, messages and stacks go into a payload, which its codec encrypts. */
export const failureConverter: FailureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: Reflect.get(globalThis, encodesFailures) === true,
});
