import { redact } from './redact';

/**
 * Whether this can be a request id: opaque printable text without spaces (specification, section 2.2 calls it
 * UUID-like) that holds no secret: it is shown everywhere. The one rule for a create's reply, a callback and a person's `adopt`: what one of them takes, all take.
 */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) && redact(value) === value;
}
