import { createHmac, timingSafeEqual } from 'node:crypto';
import type { WebhookEvent } from '../contract/webhook';
import { isRecord, parseJson } from '../core/json';
import { LonghaulError } from './errors';

/** Thrown by {@link unwrapWebhook}: answer 401. */
export class WebhookInvalidError extends LonghaulError {
  override readonly name = 'WebhookInvalidError';
}

/** Of Node's requests, of `Headers`, or of a plain object with names in lower case. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Also those of another implementation than this process's own. */
function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === 'function';
}

/** By the clock of the receiver; standard-webhooks has the same. */
const toleranceMs = 300_000;

/**
 * The event of a webhook that a worker signed within five minutes. It may come again under its header `webhook-id`.
 * @param body - as it arrived, before anything parsed it.
 * @param secret - `whsec_…`; several while it is changed.
 * @throws {@link WebhookInvalidError} for anything else.
 */
export function unwrapWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): WebhookEvent {
  const header = (name: string): string => {
    const value = isHeaders(headers) ? headers.get(name) : headers[name];
    if (typeof value !== 'string') throw new WebhookInvalidError(`The header ${name} is missing.`);
    return value;
  };
  const timestamp = header('webhook-timestamp');
  const ageMs = Math.abs(Date.now() - Number(timestamp) * 1_000);
  if (!/^\d+$/.test(timestamp) || ageMs > toleranceMs) {
    throw new WebhookInvalidError('It was not signed within the last five minutes; compare the clocks.');
  }
  const signed = Buffer.concat([Buffer.from(`${header('webhook-id')}.${timestamp}.`), Buffer.from(body)]);
  const given = header('webhook-signature')
    .split(' ')
    .map((one) => Buffer.from(one));
  const isSigned = [secret].flat().some((one) => {
    const key = Buffer.from(one.replace(/^whsec_/, ''), 'base64');
    if (key.length === 0) throw new WebhookInvalidError('The secret is empty; give whsec_ and its base64.');
    const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    return given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected));
  });
  if (!isSigned) throw new WebhookInvalidError('No signature fits; compare the secrets, and give the body unparsed.');
  const event = parseJson(Buffer.from(body).toString('utf8'));
  if (isRecord(event) && typeof event['type'] === 'string' && isRecord(event['data'])) return event as WebhookEvent;
  throw new WebhookInvalidError('The body is no event of a webhook.');
}
