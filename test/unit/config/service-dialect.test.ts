import { serviceOptions } from '../../../src/config/accounts';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { ConfigError } from '../../../src/config/environment';
import { loadWorkerConfig } from '../../../src/config/worker-config';

const worker = {
  LONGHAUL_SERVICE_URL: 'https://service.example',
  LONGHAUL_API_KEY: 'key-0815',
  LONGHAUL_ARCHIVE: '/srv/archive',
};
const receiver = {
  LONGHAUL_CALLBACK_URL: 'https://longhaul.example/callback',
  LONGHAUL_CALLBACK_TOKEN: 'token-of-today-16',
};
const accounts = JSON.stringify({ studio: { apiKey: 'key-studio', serviceUrl: 'https://eu.service.example' } });

const load = (env: NodeJS.ProcessEnv) => loadWorkerConfig({ ...worker, ...env }, () => accounts).config;

describe('how a service words what the specification leaves open', () => {
  it('is that of the specification unless the environment says otherwise', () => {
    expect([...load({}).accounts.values()].map(serviceOptions)).toMatchObject([
      { headerPrefix: 'X-Svc-Task-', envelopeCodes: {}, successCodes: [20_000] },
    ]);
    expect(loadReceiverConfig(receiver).config.callback.headerPrefix).toBe('X-Svc-Task-');
  });

  it('is the same for every account, and for the receiver', () => {
    const prefix = { LONGHAUL_SERVICE_HEADER_PREFIX: 'X-Acme-' };
    const codes = { LONGHAUL_SERVICE_CODES: '41007=QUEUE_FULL,0=SUCCESS' };
    const config = load({ ...prefix, ...codes, ...receiver, LONGHAUL_ACCOUNTS_FILE: '/accounts.json' });
    const options = [...config.accounts.values()].map(serviceOptions);
    expect(options.map(({ baseUrl }) => baseUrl)).toEqual(['https://service.example', 'https://eu.service.example']);
    for (const one of options) {
      expect(one).toMatchObject({
        ...{ headerPrefix: 'X-Acme-', envelopeCodes: { 41007: 'QUEUE_FULL' }, successCodes: [20_000, 0] },
      });
    }
    expect(config.callback?.headerPrefix).toBe('X-Acme-');
    expect(loadReceiverConfig({ ...receiver, ...prefix }).config.callback.headerPrefix).toBe('X-Acme-');
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'a header prefix that is none',
      { LONGHAUL_SERVICE_HEADER_PREFIX: 'X-Acme Task-' },
      /^LONGHAUL_SERVICE_HEADER_PREFIX is "X-Acme Task-"; give letters/,
    ],
    [
      'a header prefix without a hyphen at its end',
      { LONGHAUL_SERVICE_HEADER_PREFIX: 'X-Acme' },
      /^LONGHAUL_SERVICE_HEADER_PREFIX is "X-Acme"; .* end with a hyphen/,
    ],
    [
      'a code without a meaning',
      { LONGHAUL_SERVICE_CODES: '41007=FULL' },
      /^LONGHAUL_SERVICE_CODES is "41007=FULL"; give codes .* SUCCESS, API_ERROR/,
    ],
  ])('%s stops the start', (_name, env, problem) => {
    let problems: readonly string[] = [];
    try {
      load(env);
    } catch (error) {
      if (error instanceof ConfigError) ({ problems } = error);
    }
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });
});
