import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadClientConfig } from '../../../src/config/client-config';
import { loadCodecServerConfig } from '../../../src/config/codec-keys';
import { loadTemporalConnection } from '../../../src/config/temporal-connection';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';
import { redact } from '../../../src/core/redact';
import { newCodecKey } from '../../support/codec-keys';
import { problemsOf, receiverEnv, workerEnv } from './problems-of';

const [key, otherKey] = [newCodecKey(), newCodecKey()];
const [hookKey, otherHookKey] = [randomBytes(32).toString('base64'), randomBytes(24).toString('base64')];
const [secret, otherSecret] = [`whsec_${hookKey}`, `whsec_${otherHookKey}`];
const url = 'https://shop.example/hooks/7f3a?tenant=9';
const studio = { apiKey: 'key-4711' };

const [accounts, keys] = ['LONGHAUL_ACCOUNTS_FILE', 'LONGHAUL_CODEC_KEYS_FILE'];
const [hooks, prices] = ['LONGHAUL_WEBHOOKS_FILE', 'LONGHAUL_PRICES_FILE'];

function load(name: string, content: unknown): WorkerConfig {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return loadWorkerConfig({ ...workerEnv, [name]: '/file.json' }, () => text).config;
}

describe('a JSON file that a variable names', () => {
  it.each<[string, unknown, RegExp]>([
    [accounts, [], /: the file should be an object with the accounts by name/],
    [accounts, {}, /should be an object with at least one account/],
    [accounts, '{\n  "studio": {\n    "apiKey": key-4711\n}}', /, which is no JSON: see line 3; give/],
    [accounts, { studio: { ...studio, serviceURL: 'x' } }, /: studio has a field.*: "serviceURL"; it /],
    [accounts, { studio: { ...studio, [key]: 'x' } }, /: studio has a field that .* not know; it takes/],
    [accounts, { 'bad name!': studio }, /: a name should be 1 to 80 letters/],
    [accounts, { studio: { ...studio, serviceUrl: 'key-4711' } }, /studio\.serviceUrl should be the ba/],
    [accounts, { studio: { ...studio, pollsPerSecond: -1 } }, /studio\.pollsPerSecond should be a numb/],
    [keys, '{', /, which is no JSON: see line 1; give a readable JSON file: \{"current"/],
    [keys, [key], /: the file should be an object with the fields current, keys/],
    [keys, { keys: { new: key } }, /: current should be the id of a key/],
    [keys, { current: 'x', keys: { new: key } }, /: current should be the id of one of the keys/],
    [keys, { current: 'toString', keys: {} }, /: current should be the id of one of the keys/],
    [keys, { current: 'new', keys: { new: 'c2hvcnQ=' } }, /: keys\.new should be 32 bytes in base/],
    [keys, { current: 'n', keys: { n: `${key.slice(0, -1)}AAAA=` } }, /: keys\.n should be 32 by/],
    [keys, { current: 'n', keys: { n: key.slice(0, -1) } }, /: keys\.n should be 32 bytes/],
    [keys, { current: 'a b', keys: { 'a b': key } }, /: a name should be 1 to 80 letters/],
    [keys, { current: 'n', keys: JSON.parse(`{"__proto__":"${key}"}`) as unknown }, /: keys should/],
    [
      keys,
      { current: 'k0', keys: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, key])) },
      /: keys should be at most 100 keys/,
    ],
    [hooks, { orders: { url, secrets: [secret], uri: 'x' } }, /: "uri"; it takes url, secrets, allow/],
    [hooks, { orders: { url } }, /orders\.secrets should be a list of one/],
    [hooks, { orders: { url, secrets: [] } }, /orders\.secrets should be a list of one/],
    [hooks, { orders: { url, secrets: [secret, secret, secret] } }, /orders\.secrets should be a lis/],
    [hooks, { orders: { url, secrets: [hookKey] } }, /secrets\.0 should be "whsec_" and 24 to 64/],
    [hooks, { orders: { url, secrets: ['whsec_c2hvcnQ='] } }, /secrets\.0 should be/],
    [hooks, { 'my orders': { url, secrets: [secret] } }, /: a name should be 1 to 80/],
    ...['shop.example', 'file:///etc/passwd', 'https://a:b@shop.example', 'https://shop.example/#x'].map(
      (wrong): [string, unknown, RegExp] => {
        return [hooks, { a: { url: wrong, secrets: [secret] } }, /: a\.url should be an http or https/];
      },
    ),
    [hooks, { a: { url: 'http://shop.example/', secrets: [secret] } }, /a\.url should be an https URL/],
    [prices, { prices: [], dailyBudgets: [{ account: 'x', amount: '5EUR' }] }, /names "x", which is no/],
  ])('%s is refused with the field and what it should be, and shows nothing secret: %j', (name, content, words) => {
    const problems = problemsOf(() => load(name, content));
    expect(problems).toEqual([expect.stringMatching(words)]);
    expect(problems[0]).toContain(name);
    for (const hidden of [key.slice(0, 20), hookKey, 'key-4711', url]) expect(problems[0]).not.toContain(hidden);
  });
});

describe('the keys of LONGHAUL_CODEC_KEYS_FILE', () => {
  const keysFile = { LONGHAUL_CODEC_KEYS_FILE: '/keys.json' };
  const readKeys = (): string => JSON.stringify({ current: 'new', keys: { new: key, old: otherKey } });

  it('are read by the worker, the receiver, clients and the codec server alike', () => {
    for (const { config } of [
      loadWorkerConfig({ ...workerEnv, ...keysFile }, readKeys),
      loadReceiverConfig({ ...receiverEnv, ...keysFile }, readKeys),
      loadClientConfig(keysFile, readKeys),
      loadCodecServerConfig(keysFile, readKeys),
    ]) {
      expect(config.codecKeys?.current).toBe('new');
      expect([...(config.codecKeys?.keys ?? [])].map(([id, one]) => [id, one.reveal()])).toEqual([
        ['new', key],
        ['old', otherKey],
      ]);
    }
  });

  it('are not shown where a key and its id changed places', () => {
    const problems = problemsOf(() => load(keys, { current: 'n', keys: { [key]: 'n' } }));
    expect(problems.join()).toContain('a name should be');
    expect(problems.join()).not.toContain(key);
  });

  it('print nowhere, and are taken out of every text', () => {
    const { config } = loadClientConfig(keysFile, readKeys);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain(key);
    expect(JSON.stringify([...(config.codecKeys?.keys ?? [])])).not.toContain(key);
    expect(redact(`the key ${key} was used`)).toBe('the key [redacted] was used');
  });
});

describe('the webhooks of LONGHAUL_WEBHOOKS_FILE', () => {
  it('have a URL and one secret, or two while it is changed', () => {
    const { webhooks } = load(hooks, {
      orders: { url, secrets: [secret, otherSecret] },
      local: { url: 'http://localhost:3000/', secrets: [secret] },
      inside: { url: 'http://backend:3000/hooks', secrets: [secret], allowHttp: true },
    });
    expect([...webhooks.keys()]).toEqual(['orders', 'local', 'inside']);
    expect(webhooks.get('orders')?.url).toBe(url);
    expect(webhooks.get('orders')?.secrets.map((one) => one.reveal())).toEqual([hookKey, otherHookKey]);
    expect(inspect(webhooks, { depth: 9 })).not.toContain(hookKey);
    expect(redact(`signed with ${secret}`)).toBe('signed with whsec_[redacted]');
  });
});

describe('a secret at the place of the path of its file', () => {
  const unreadable = (path: string): never => {
    throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT', path });
  };
  const messageOf = (env: NodeJS.ProcessEnv): string => {
    return problemsOf(() => loadWorkerConfig({ ...workerEnv, ...env }, unreadable)).join('\n');
  };

  it.each([
    ['LONGHAUL_API_KEY_FILE', 'sk-3f0c0815'],
    ['LONGHAUL_CODEC_KEYS_FILE', key],
    ['LONGHAUL_CODEC_KEYS_FILE', JSON.stringify({ current: 'k1', keys: { k1: key } })],
    ['LONGHAUL_WEBHOOKS_FILE', `{"orders":{"secrets":["${secret}"]}}`],
    ['LONGHAUL_WEBHOOKS_FILE', 'whsec_c2VjcmV0LW9mLXRoaXMtd2ViaG9vay0wODE1'],
    ['LONGHAUL_ACCOUNTS_FILE', '{ "studio": { "apiKey": "key-4711" } }'],
  ])('is not shown: %s', (name, value) => {
    const message = messageOf({ LONGHAUL_API_KEY: name === 'LONGHAUL_API_KEY_FILE' ? '' : 'key-0815', [name]: value });
    expect(message).toContain(`${name} is a text of ${value.length} characters that is no path, which cannot be read`);
    expect(message).not.toContain(value.slice(2, -2));
  });

  it.each(['keys.json', './keys', '/run/secrets/api key', '~/key', '../keys/a'])('while a path is: %s', (file) => {
    expect(messageOf({ LONGHAUL_CODEC_KEYS_FILE: file })).toContain(
      `LONGHAUL_CODEC_KEYS_FILE is "${file}", which cannot be read (ENOENT); give a readable file`,
    );
  });

  it('is not shown of a variable of Temporal’s', () => {
    const env = { TEMPORAL_TLS_CLIENT_KEY_PATH: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
    const message = problemsOf(() => loadTemporalConnection(env)).join('\n');
    expect(message).toContain('characters that is no path cannot be read (ENOENT)');
    expect(message).not.toContain(key);
  });
});
