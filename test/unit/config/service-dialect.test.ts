import { serviceOptions } from '../../../src/config/accounts';
import { loadReceiverConfig } from '../../../src/config/callback-config';
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
    const dialect = { LONGHAUL_SERVICE_DIALECT: 'header=X-Acme-,41007=QUEUE_FULL,0=SUCCESS,finished=Success' };
    const config = load({ ...dialect, ...receiver, LONGHAUL_ACCOUNTS_FILE: '/accounts.json' });
    const options = [...config.accounts.values()].map(serviceOptions);
    expect(options.map(({ baseUrl }) => baseUrl)).toEqual(['https://service.example', 'https://eu.service.example']);
    for (const one of options) {
      expect(one).toMatchObject({
        headerPrefix: 'X-Acme-',
        envelopeCodes: { 41007: 'QUEUE_FULL' },
        successCodes: [20_000, 0],
        states: { finished: 'Success' },
      });
    }
    expect(config.callback?.headerPrefix).toBe('X-Acme-');
    expect(loadReceiverConfig({ ...receiver, ...dialect }).config.callback.headerPrefix).toBe('X-Acme-');
  });

  it.each(['header=X-Acme Task-', 'header=X-Acme', '41007=FULL'])('stops the start: %s', (dialect) => {
    expect(() => load({ LONGHAUL_SERVICE_DIALECT: dialect })).toThrow(/LONGHAUL_SERVICE_DIALECT is .*; give "header=/);
  });
});
