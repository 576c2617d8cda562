import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { ConfigError } from '../../../src/config/environment';
import type { Webhook } from '../../../src/config/webhooks';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { redact } from '../../../src/core/redact';

const [key, otherKey] = [randomBytes(32).toString('base64'), randomBytes(24).toString('base64')];
const [secret, otherSecret] = [`whsec_${key}`, `whsec_${otherKey}`];
const url = 'https://shop.example/hooks/7f3a?tenant=9';
const env = {
  ...{ LONGHAUL_SERVICE_URL: 'https://s.example', LONGHAUL_API_KEY: 'key-0815', LONGHAUL_ARCHIVE: '/srv/archive' },
  LONGHAUL_WEBHOOKS_FILE: '/webhooks.json',
};

function load(content: unknown): ReadonlyMap<string, Webhook> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return loadWorkerConfig(env, () => text).config.webhooks;
}

function problemsOf(content: unknown): readonly string[] {
  try {
    load(content);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the webhooks of LONGHAUL_WEBHOOKS_FILE', () => {
  it('have a URL and one secret, or two while it is changed', () => {
    const webhooks = load({
      orders: { url, secrets: [secret, otherSecret] },
      local: { url: 'http://localhost:3000/', secrets: [secret] },
      inside: { url: 'http://backend:3000/hooks', secrets: [secret], allowHttp: true },
    });
    expect([...webhooks.keys()]).toEqual(['orders', 'local', 'inside']);
    expect(webhooks.get('orders')?.url).toBe(url);
    expect(webhooks.get('orders')?.secrets.map((one) => one.reveal())).toEqual([key, otherKey]);
  });

  it('are none where the variable is not set', () => {
    expect(loadWorkerConfig({ ...env, LONGHAUL_WEBHOOKS_FILE: '' }).config.webhooks.size).toBe(0);
  });

  it('show no secret when they are printed, and have it taken out of every text', () => {
    const webhooks = load({ orders: { url, secrets: [secret] } });
    expect(inspect(webhooks, { depth: 9 })).not.toContain(key);
    expect(JSON.stringify([...webhooks.values()])).not.toContain(key);
    expect(redact(`signed with ${secret}`)).toBe('signed with whsec_[redacted]');
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /which is no JSON: see line 1; give a readable JSON file/],
    [
      'a field that is not known',
      { orders: { url, secrets: [secret], uri: 'x' } },
      /orders has fields that Longhaul does not know: "uri"; it takes url, secrets, allowHttp/,
    ],
    ['no secrets', { orders: { url } }, /orders\.secrets should be a list of one/],
    ['an empty list of secrets', { orders: { url, secrets: [] } }, /orders\.secrets should be a list of one/],
    [
      'three secrets',
      { orders: { url, secrets: [secret, secret, secret] } },
      /orders\.secrets should be a list of one/,
    ],
    ['a secret without its prefix', { orders: { url, secrets: [key] } }, /secrets\.0 should be "whsec_" and 24 to 64/],
    ['a short secret', { orders: { url, secrets: ['whsec_c2hvcnQ='] } }, /secrets\.0 should be/],
    ['a name with a space', { 'my orders': { url, secrets: [secret] } }, /a name should be 1 to 80/],
    ['no URL', { orders: { url: 'shop.example', secrets: [secret] } }, /orders\.url should be an http or https URL/],
    [
      'another scheme',
      { orders: { url: 'file:///etc/passwd', secrets: [secret] } },
      /orders\.url should be an http or https URL/,
    ],
    [
      'a password',
      { orders: { url: 'https://a:b@shop.example', secrets: [secret] } },
      /orders\.url should be .*without a user name/,
    ],
    [
      'a fragment',
      { orders: { url: 'https://shop.example/#x', secrets: [secret] } },
      /orders\.url should be .*fragment/,
    ],
    [
      'plain http',
      { orders: { url: 'http://shop.example/', secrets: [secret] } },
      /orders\.url should be an https URL, or have "allowHttp"/,
    ],
  ])('with %s are refused, and nothing secret is shown', (_name, content, problem) => {
    const problems = problemsOf(content);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).toContain('LONGHAUL_WEBHOOKS_FILE is "/webhooks.json"');
    expect(problems[0]).not.toContain(key);
  });
});
