import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { unwrapWebhook, WebhookInvalidError } from '../../../src';
import { signedHeaders } from '../../../src/activities/send-webhook';

const [key, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const secret = `whsec_${key}`;
const event = { type: 'task.completed', timestamp: '2026-03-01T12:00:00.000Z', data: { key: 'Zürich' } };
const body = JSON.stringify(event);

function signed(nowMs = Date.now(), secrets = [key]): Record<string, string> {
  return signedHeaders({ id: 'msg_1', body, secrets, nowMs });
}

describe('a webhook', () => {
  it.each([
    ['text', body, signed(), secret],
    ['bytes, with the Headers of a web request', Buffer.from(body), new Headers(signed()), secret],
    ['signed with two secrets during a change', body, signed(Date.now(), [other, key]), secret],
    ['for a receiver that has two', body, signed(), [`whsec_${other}`, secret]],
    ['four minutes late', body, signed(Date.now() - 240_000), secret],
  ] as const)('that a worker signed is taken: %s', (_, sent, headers, secrets) => {
    expect(unwrapWebhook(sent, headers, secrets)).toEqual(event);
  });

  it('that a library of standard-webhooks signed is taken', () => {
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
    expect(unwrapWebhook(body, headers, secret)).toEqual(event);
  });

  it.each<[string, string, Record<string, string>, string]>([
    ['has another body', `${body} `, signed(), secret],
    ['has another id', body, { ...signed(), 'webhook-id': 'msg_2' }, secret],
    ['is signed with another secret', body, signed(Date.now(), [other]), secret],
    ['is from six minutes ago', body, signed(Date.now() - 360_000), secret],
    ['is from the future', body, signed(Date.now() + 360_000), secret],
    ['has a time that is no number', body, { ...signed(), 'webhook-timestamp': '1e99' }, secret],
    ['has no signature', body, { ...signed(), 'webhook-signature': '' }, secret],
    ['lacks its headers', body, {}, secret],
    ['comes where the secret is empty', body, signed(Date.now(), ['']), 'whsec_'],
  ])('that %s is refused', (_, sent, headers, secrets) => {
    expect(() => unwrapWebhook(sent, headers, secrets)).toThrow(WebhookInvalidError);
  });

  it.each(['', '[]', '{"type":"task.completed"}', 'no JSON'])(
    'that is signed and is no event is refused: %j',
    (sent) => {
      const headers = signedHeaders({ id: 'msg_1', body: sent, secrets: [key], nowMs: Date.now() });
      expect(() => unwrapWebhook(sent, headers, secret)).toThrow(WebhookInvalidError);
    },
  );
});
