import { inspect } from 'node:util';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { ConfigError } from '../../../src/config/environment';

const enough = {
  LONGHAUL_CALLBACK_URL: 'https://longhaul.example/callback',
  LONGHAUL_CALLBACK_TOKEN: 'token-of-today-16',
};

function problemsOf(env: NodeJS.ProcessEnv, fileText = ''): readonly string[] {
  try {
    loadReceiverConfig(env, () => fileText);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the configuration of a receiver', () => {
  it('needs where it is called and by which token, and fills in the rest', () => {
    const { config, warnings } = loadReceiverConfig(enough);

    expect(config).toMatchObject({
      callback: { url: 'https://longhaul.example/callback' },
      port: 8080,
      logLevel: 'info',
    });
    expect(config.callback.tokens.map((token) => token.reveal())).toEqual(['token-of-today-16']);
    expect(warnings).toEqual([]);
  });

  it('reads two tokens, the one that is sent first', () => {
    const { config } = loadReceiverConfig({
      ...enough,
      LONGHAUL_CALLBACK_TOKEN: 'token-of-tomorrow ,token-of-today-16',
    });

    expect(config.callback.tokens.map((token) => token.reveal())).toEqual(['token-of-tomorrow', 'token-of-today-16']);
  });

  describe('with a file of the token', () => {
    const { LONGHAUL_CALLBACK_URL } = enough;
    const fromFile = { LONGHAUL_CALLBACK_URL, LONGHAUL_CALLBACK_TOKEN_FILE: '/run/callback-token' };

    it('reads what the variable would hold, without the end of the line', () => {
      const { config, warnings } = loadReceiverConfig(fromFile, () => 'token-of-tomorrow,token-of-today-16\n');
      expect(config.callback.tokens.map((token) => token.reveal())).toEqual(['token-of-tomorrow', 'token-of-today-16']);
      expect(warnings).toEqual([]);
    });

    it.each([
      [
        'both are set',
        { ...fromFile, ...enough },
        /^LONGHAUL_CALLBACK_TOKEN and LONGHAUL_CALLBACK_TOKEN_FILE are both/,
      ],
      ['it holds no token', fromFile, /^LONGHAUL_CALLBACK_TOKEN_FILE is "\/run\/callback-token", which holds no token/],
      ['there is no URL', { ...fromFile, LONGHAUL_CALLBACK_URL: '' }, /^LONGHAUL_CALLBACK_URL is not set, but/],
    ])('says so when %s, and does not show what it holds', (_, env, expected) => {
      const problems = problemsOf(env, 'two words-that-are-secret');
      expect(problems).toContainEqual(expect.stringMatching(expected));
      expect(problems.join()).not.toContain('words-that');
    });
  });

  it('needs no key of the service, and cares for nothing that only a worker reads', () => {
    expect(problemsOf({ ...enough, LONGHAUL_HEALTH_ADDRESS: 'x', LONGHAUL_API_KEY: 'two words' })).toEqual([]);
  });

  it('cannot be changed, and does not print a token', () => {
    const { config } = loadReceiverConfig(enough);

    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.callback, { url: 'x' })).toThrow(TypeError);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('token-of');
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['no URL', { LONGHAUL_CALLBACK_URL: '' }, /^LONGHAUL_CALLBACK_URL is not set, but its counterpart is; give /],
    ['no token', { LONGHAUL_CALLBACK_TOKEN: '' }, /^LONGHAUL_CALLBACK_TOKEN is not set, but/],
    ['a URL without a scheme', { LONGHAUL_CALLBACK_URL: 'longhaul.example' }, /^LONGHAUL_CALLBACK_URL is "longhaul/],
    [
      'a URL with a query',
      { LONGHAUL_CALLBACK_URL: 'https://a.example/?t=1' },
      /^LONGHAUL_CALLBACK_URL .*without a query/,
    ],
    ['the path of the health endpoint', { LONGHAUL_CALLBACK_URL: 'https://a.example/health' }, /path not "\/health"/],
    ['the path of the readiness', { LONGHAUL_CALLBACK_URL: 'https://a.example/ready' }, /"\/ready"/],
    ['a token that can be guessed', { LONGHAUL_CALLBACK_TOKEN: 'secret' }, /^LONGHAUL_CALLBACK_TOKEN is \[redacted\]/],
    [
      'a token with a space',
      { LONGHAUL_CALLBACK_TOKEN: 'token of today is long' },
      /is \[redacted\]; .*without spaces/,
    ],
    ['three tokens', { LONGHAUL_CALLBACK_TOKEN: Array(3).fill('token-of-today-16').join(',') }, /is \[redacted\]/],
    ['an empty second token', { LONGHAUL_CALLBACK_TOKEN: 'token-of-today-16,' }, /is \[redacted\]/],
    ['a port that is no number', { LONGHAUL_CALLBACK_PORT: 'http' }, /^LONGHAUL_CALLBACK_PORT is "http"; give a port/],
  ])('names the variable and the remedy for %s', (_, env, expected) => {
    expect(problemsOf({ ...enough, ...env })).toEqual([expect.stringMatching(expected)]);
  });

  it('reports all problems at once', () => {
    expect(problemsOf({ LONGHAUL_CALLBACK_PORT: 'x' }).map((problem) => problem.split(' ')[0])).toEqual([
      'LONGHAUL_CALLBACK_PORT',
      'LONGHAUL_CALLBACK_URL',
      'LONGHAUL_CALLBACK_TOKEN',
    ]);
  });

  it('warns of a token that would cross the network in clear text, but not to this machine', () => {
    const clear = { ...enough, LONGHAUL_CALLBACK_URL: 'http://longhaul.example/callback' };
    expect(loadReceiverConfig(clear).warnings).toEqual([
      'The callback token comes to http://longhaul.example/callback unencrypted; use https.',
    ]);
    expect(loadReceiverConfig({ ...enough, LONGHAUL_CALLBACK_URL: 'http://127.0.0.1:8080/' }).warnings).toEqual([]);
  });
});
