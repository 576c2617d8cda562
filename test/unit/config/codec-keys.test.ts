import { inspect } from 'node:util';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadClientConfig } from '../../../src/config/client-config';
import { loadCodecServerConfig } from '../../../src/config/codec-server-config';
import { ConfigError } from '../../../src/config/environment';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { redact } from '../../../src/core/redact';
import { newCodecKey } from '../../support/codec-keys';

const [key, otherKey] = [newCodecKey(), newCodecKey()];
const keysFile = { LONGHAUL_CODEC_KEYS_FILE: '/keys.json' };
const read = (content: unknown) => () => (typeof content === 'string' ? content : JSON.stringify(content));
const usable = read({ current: 'new', keys: { new: key, old: otherKey } });

function problemsOf(load: () => unknown): readonly string[] {
  try {
    load();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the keys of LONGHAUL_CODEC_KEYS_FILE', () => {
  it('are read by the worker, the receiver, clients and the codec server alike', () => {
    const worker = {
      ...{ LONGHAUL_SERVICE_URL: 'https://s.example', LONGHAUL_API_KEY: 'key-0815', LONGHAUL_ARCHIVE: '/srv/archive' },
      ...keysFile,
    };
    const receiver = {
      ...{ LONGHAUL_CALLBACK_URL: 'https://l.example/callback', LONGHAUL_CALLBACK_TOKEN: 'token-of-today-16' },
      ...keysFile,
    };
    for (const { config } of [
      loadWorkerConfig(worker, usable),
      loadReceiverConfig(receiver, usable),
      loadClientConfig(keysFile, usable),
      loadCodecServerConfig(keysFile, usable),
    ]) {
      expect(config.codecKeys?.current).toBe('new');
      const keys = [...(config.codecKeys?.keys ?? [])].map(([id, secret]) => [id, secret.reveal()]);
      expect(keys).toEqual([
        ['new', key],
        ['old', otherKey],
      ]);
    }
  });

  it('are none where the variable is not set', () => {
    expect(loadClientConfig({}).config.codecKeys).toBeNull();
  });

  it('print nowhere, and are taken out of every text', () => {
    const { config } = loadClientConfig(keysFile, usable);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain(key);
    expect(JSON.stringify([...(config.codecKeys?.keys ?? [])])).not.toContain(key);
    expect(redact(`the key ${key} was used`)).toBe('the key [redacted] was used');
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', '{', /"\/keys\.json", which is no JSON: see line 1; give a readable JSON file: \{"current"/],
    ['a list', [key], /the file should be an object with the fields current, keys/],
    ['without a current one', { keys: { new: key } }, /current should be the id of a key/],
    [
      'a current one that is not there',
      { current: 'x', keys: { new: key } },
      /current should be the id of one of the keys/,
    ],
    ['no key at all', { current: 'x', keys: {} }, /current should be the id of one of the keys/],
    ['too short', { current: 'new', keys: { new: 'c2hvcnQ=' } }, /keys\.new should be 32 bytes in base64: openssl/],
    ['too long', { current: 'new', keys: { new: `${key.slice(0, -1)}AAAA=` } }, /keys\.new should be 32 bytes/],
    ['no base64', { current: 'new', keys: { new: 'not base64 at all' } }, /keys\.new should be 32 bytes/],
    ['without its padding', { current: 'new', keys: { new: key.slice(0, -1) } }, /keys\.new should be 32 bytes/],
    ['of an id with a space', { current: 'a b', keys: { 'a b': key } }, /a name should be a key id of 1 to 80 letters/],
    [
      'more than a hundred',
      { current: 'k0', keys: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, key])) },
      /keys should be at most 100 keys/,
    ],
  ])('that are %s are refused, with the file, the field and the remedy, and without a key', (_what, content, words) => {
    const problems = problemsOf(() => loadClientConfig(keysFile, read(content)));
    expect(problems).toEqual([expect.stringMatching(words)]);
    expect(problems[0]).toMatch(/^LONGHAUL_CODEC_KEYS_FILE is "\/keys\.json"/);
    expect(problems[0]).not.toContain(key.slice(0, 20));
  });

  it('of a file that is not there are told with the reason', () => {
    const problems = problemsOf(() => loadClientConfig({ LONGHAUL_CODEC_KEYS_FILE: '/nowhere/keys.json' }));
    expect(problems).toEqual([expect.stringMatching(/"\/nowhere\/keys\.json", which cannot be read \(ENOENT\)/)]);
  });
});

describe('the configuration of a codec server', () => {
  const load = (env: NodeJS.ProcessEnv) => loadCodecServerConfig({ ...keysFile, ...env }, usable);

  it('listens on loopback, decodes only, and takes no page of a browser, when nothing is said', () => {
    const { config, warnings } = load({});
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8081, tokens: null, origins: [], mayEncode: false });
    expect(warnings).toEqual([expect.stringMatching(/LONGHAUL_CODEC_TOKEN is not set: every program on this machine/)]);
  });

  it('is what the environment says', () => {
    const { config, warnings } = load({
      LONGHAUL_CODEC_ADDRESS: '[::]:9000',
      LONGHAUL_CODEC_TOKEN: 'token-of-tomorrow,token-of-today-16',
      LONGHAUL_CODEC_ORIGINS: 'https://temporal.example, http://localhost:8233/',
      LONGHAUL_CODEC_ENCODE: 'true',
    });
    expect(config).toMatchObject({ host: '::', port: 9_000, mayEncode: true });
    expect(config.origins).toEqual(['https://temporal.example', 'http://localhost:8233']);
    expect(config.tokens?.map((token) => token.reveal())).toEqual(['token-of-tomorrow', 'token-of-today-16']);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('token-of');
    expect(warnings).toEqual([]);
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['no keys', { LONGHAUL_CODEC_KEYS_FILE: '' }, /^LONGHAUL_CODEC_KEYS_FILE is not set; give a readable JSON file/],
    [
      'all addresses without a token',
      { LONGHAUL_CODEC_ADDRESS: '0.0.0.0:8081' },
      /other machines reach, and LONGHAUL_CODEC_TOKEN is not set/,
    ],
    ['a token that can be guessed', { LONGHAUL_CODEC_TOKEN: 'secret' }, /^LONGHAUL_CODEC_TOKEN is \[redacted\]/],
    [
      'an origin with a path',
      { LONGHAUL_CODEC_ORIGINS: 'https://temporal.example/path' },
      /^LONGHAUL_CODEC_ORIGINS is "https/,
    ],
    ['any origin', { LONGHAUL_CODEC_ORIGINS: '*' }, /^LONGHAUL_CODEC_ORIGINS is "\*"; give origins/],
    ['the origin of a file', { LONGHAUL_CODEC_ORIGINS: 'null' }, /^LONGHAUL_CODEC_ORIGINS is "null"/],
    ['a port alone', { LONGHAUL_CODEC_ADDRESS: '8081' }, /^LONGHAUL_CODEC_ADDRESS is "8081"; give an IP address/],
  ])('is refused when it has %s', (_what, env, words) => {
    expect(problemsOf(() => load(env))).toEqual([expect.stringMatching(words)]);
  });
});
