import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/workflow';
import { Undecodable } from '../contract/input-bounds';
import { errorMessage } from '../core/text';

/**
 * Temporal's default payload converter, except that a payload that cannot be decoded becomes an {@link Undecodable}
 * instead of an error: thrown while a signal or a start is decoded, the error would fail the workflow task, and every
 * retry of it. It is part of the workflow bundle (workflow-sources.ts).
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
