import { inspect } from 'node:util';
import { loadReceiverConfig, type ReceiverConfig } from '../../../src/config/callback-config';
import { problemsOf, receiverEnv } from './problems-of';

const tokensOf = ({ callback }: ReceiverConfig): readonly string[] => callback.tokens.map((token) => token.reveal());
const fromFile = { ...receiverEnv, LONGHAUL_CALLBACK_TOKEN: '', LONGHAUL_CALLBACK_TOKEN_FILE: '/run/callback-token' };

describe('the configuration of a receiver', () => {
  it('needs where it is called and by which token, and fills in the rest', () => {
    const { config, warnings } = loadReceiverConfig(receiverEnv);

    expect(config).toMatchObject({
      callback: { url: 'https://longhaul.example/callback', headerPrefix: 'X-Svc-Task-' },
      ...{ port: 8080, logLevel: 'info' },
    });
    expect(tokensOf(config)).toEqual(['token-of-today-16']);
    expect(warnings).toEqual([]);
  });

  it('has two tokens, the one that is sent first, from the variable or from a file', () => {
    const both = 'token-of-tomorrow ,token-of-today-16';
    const given = [
      loadReceiverConfig({ ...receiverEnv, LONGHAUL_CALLBACK_TOKEN: both }),
      loadReceiverConfig(fromFile, () => `${both}\n`),
    ];
    for (const { config } of given) expect(tokensOf(config)).toEqual(['token-of-tomorrow', 'token-of-today-16']);
  });

  it('needs no key of the service, and cares for nothing that only a worker reads', () => {
    const env = { ...receiverEnv, LONGHAUL_HEALTH_ADDRESS: 'x', LONGHAUL_API_KEY: 'two words' };
    expect(problemsOf(() => loadReceiverConfig(env))).toEqual([]);
  });

  it('cannot be changed, and does not print a token', () => {
    const { config } = loadReceiverConfig(receiverEnv);

    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.callback, { url: 'x' })).toThrow(TypeError);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('token-of');
  });

  it.each<[RegExp, NodeJS.ProcessEnv]>([
    [/^LONGHAUL_CALLBACK_URL is not set, but its counterpart /, { ...receiverEnv, LONGHAUL_CALLBACK_URL: '' }],
    [/^LONGHAUL_CALLBACK_URL is not set, but/, { ...fromFile, LONGHAUL_CALLBACK_URL: '' }],
    [/^LONGHAUL_CALLBACK_TOKEN is not set, but/, { ...receiverEnv, LONGHAUL_CALLBACK_TOKEN: '' }],
    [/^LONGHAUL_CALLBACK_TOKEN and LONGHAUL_CALLBACK_TOKEN_FILE are b/, { ...fromFile, ...receiverEnv }],
    [/^LONGHAUL_CALLBACK_TOKEN_FILE is "\/run\/callback-token", which holds no tok/, fromFile],
  ])('is refused in words such as %p, which show nothing of a file', (expected, env) => {
    const problems = problemsOf(() => loadReceiverConfig(env, () => 'two words-that-are-secret'));
    expect(problems).toContainEqual(expect.stringMatching(expected));
    expect(problems.join()).not.toContain('words-that');
  });

  it('is refused with all problems at once', () => {
    const problems = problemsOf(() => loadReceiverConfig({ LONGHAUL_CALLBACK_PORT: 'x' }));
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      ...['LONGHAUL_CALLBACK_PORT', 'LONGHAUL_CALLBACK_URL', 'LONGHAUL_CALLBACK_TOKEN'],
    ]);
  });

  it('warns of a token that would cross the network in clear text, but not to this machine', () => {
    const warningsOf = (url: string) => loadReceiverConfig({ ...receiverEnv, LONGHAUL_CALLBACK_URL: url }).warnings;
    expect(warningsOf('http://longhaul.example/callback')).toEqual([
      'The callback token comes to http://longhaul.example/callback unencrypted; use https.',
    ]);
    expect(warningsOf('http://127.0.0.1:8080/')).toEqual([]);
  });
});
