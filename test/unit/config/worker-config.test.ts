import { inspect } from 'node:util';
import { serviceOptions } from '../../../src/config/accounts';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import type { Loaded } from '../../../src/config/environment';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';
import { problemsOf, receiverEnv, workerEnv } from './problems-of';

const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const files: Record<string, string> = {
  '/key': 'key-from-file\n',
  '/two-words': 'key-one key-two',
  '/accounts.json': JSON.stringify({
    studio: { apiKeyFile: '/key' },
    team: { apiKey: 'key-team', serviceUrl: 'https://eu.service.example/v/', createsPerSecond: 0.5 },
  }),
  '/both.json': JSON.stringify({ studio: { apiKey: 'key-both', apiKeyFile: '/key' } }),
  '/default.json': JSON.stringify({ default: { apiKey: 'key-default' } }),
  '/own.json': JSON.stringify({ team: { apiKey: 'k', serviceUrl: 'https://eu.service.example' } }),
  '/ca.pem': pem,
  '/key.pem': '-----BEGIN PRIVATE KEY-----',
};

function readTextFile(file: string): string {
  const text = files[file];
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
}

function load(env: NodeJS.ProcessEnv = {}): Loaded<WorkerConfig> {
  return loadWorkerConfig({ ...workerEnv, ...env }, readTextFile);
}

const problemsWith = (env: NodeJS.ProcessEnv): readonly string[] => problemsOf(() => load(env));

describe('the configuration of a worker', () => {
  it('needs a service, a key and an archive, and fills in the rest', () => {
    const { config, warnings } = load();

    expect(config).toMatchObject({
      ...{ archive: { kind: 'folder', path: '/srv/archive' }, inputRoots: [], inputHosts: [], inputBuckets: [] },
      ...{ health: null, version: null, callback: null, logLevel: 'info' },
      allowed: { accounts: null, tuning: true, recreate: true },
    });
    const account = config.accounts.get('default');
    expect(account).toMatchObject({ name: 'default', createsPerSecond: 50, pollsPerSecond: 1_000 });
    expect(account && serviceOptions(account)).toMatchObject({
      ...{ baseUrl: 'https://service.example', headerPrefix: 'X-Svc-Task-', envelopeCodes: {}, successCodes: [20_000] },
    });
    expect(account?.apiKey.reveal()).toBe('key-0815');
    expect(warnings).toEqual([]);
  });

  it('is what the environment says', () => {
    const { config } = load({
      LONGHAUL_ARCHIVE: 's3://photos/results/',
      LONGHAUL_S3_PATH_STYLE: 'true',
      LONGHAUL_STAGING: 's3://photos/staging',
      LONGHAUL_INPUT_BUCKETS: 's3://films, s3://photos/raw/2026/',
      LONGHAUL_ALLOW_ACCOUNTS: 'default',
      LONGHAUL_REFUSE: 'tuning, recreate',
      LONGHAUL_SLOTS: 'uploads=4, pollers=2',
      LONGHAUL_HEALTH_ADDRESS: '[::]:8090',
    });

    expect(config).toMatchObject({
      archive: { kind: 's3', bucket: 'photos', prefix: 'results', isPathStyle: true },
      allowed: { accounts: ['default'], tuning: false, recreate: false },
      slots: { uploads: 4, pollers: 2, archives: 16, workflowTasks: 80 },
      healthTellsAccounts: false,
    });
    expect(config.inputBuckets).toEqual([
      { bucket: 'photos', key: 'staging' },
      { bucket: 'films', key: '' },
      { bucket: 'photos', key: 'raw/2026' },
    ]);
  });

  it('has accounts, each with its own key and, where given, its own service and limits', () => {
    const { config } = load({ LONGHAUL_CREATES_PER_SECOND: '2.5', LONGHAUL_ACCOUNTS_FILE: '/accounts.json' });

    expect(
      [...config.accounts.values()].map((one) => [
        ...[one.name, one.apiKey.reveal(), one.serviceUrl, one.createsPerSecond, one.pollsPerSecond],
      ]),
    ).toEqual([
      ['default', 'key-0815', 'https://service.example', 2.5, 1_000],
      ['studio', 'key-from-file', 'https://service.example', 2.5, 1_000],
      ['team', 'key-team', 'https://eu.service.example/v', 0.5, 1_000],
    ]);
  });

  it('has the dialect of the service for every account, and for the receiver', () => {
    const dialect = { LONGHAUL_SERVICE_DIALECT: 'header=X-Acme-,41007=QUEUE_FULL,0=SUCCESS,finished=Success' };
    const { accounts, callback } = load({
      ...{ ...dialect, ...receiverEnv, LONGHAUL_ACCOUNTS_FILE: '/accounts.json' },
    }).config;
    for (const account of accounts.values()) {
      expect(serviceOptions(account)).toMatchObject({
        ...{ headerPrefix: 'X-Acme-', envelopeCodes: { 41007: 'QUEUE_FULL' }, successCodes: [20_000, 0] },
        states: { finished: 'Success' },
      });
    }
    expect(callback?.headerPrefix).toBe('X-Acme-');
    expect(loadReceiverConfig({ ...receiverEnv, ...dialect }).config.callback.headerPrefix).toBe('X-Acme-');
  });

  it('cannot be changed, and does not print a key', () => {
    const { config } = load();

    for (const part of [config, config.archive, config.accounts.get('default') ?? {}]) {
      expect(() => Object.assign(part, { name: 'x' })).toThrow(TypeError);
    }
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('key-0815');
    expect(JSON.stringify([...config.accounts])).not.toContain('key-0815');
  });

  const fromFile = { LONGHAUL_API_KEY: '', LONGHAUL_API_KEY_FILE: '/two-words' };
  it.each<[RegExp, NodeJS.ProcessEnv]>([
    [/^LONGHAUL_SERVICE_URL is not set; give /, { LONGHAUL_SERVICE_URL: undefined }],
    [/^LONGHAUL_ARCHIVE is not set; give /, { LONGHAUL_ARCHIVE: undefined }],
    [/^No account is set; give LONGHAUL_API_KEY, /, { LONGHAUL_API_KEY: undefined }],
    [/are both set; leave one of them out/, { LONGHAUL_API_KEY_FILE: '/key' }],
    [/^LONGHAUL_API_KEY_FILE is "\/none".*ENOENT/, { ...fromFile, LONGHAUL_API_KEY_FILE: '/none' }],
    [/^LONGHAUL_API_KEY_FILE is "\/two-words", which holds no API key/, fromFile],
    [/"studio": give either apiKey or apiKeyFile/, { LONGHAUL_ACCOUNTS_FILE: '/both.json' }],
    [/"default": it is given by LONGHAUL_API_KEY/, { LONGHAUL_ACCOUNTS_FILE: '/default.json' }],
    [/^LONGHAUL_ALLOW_ACCOUNTS names "a".*it has: default/, { LONGHAUL_ALLOW_ACCOUNTS: 'a' }],
    [/_TOKEN is not set, but its/, { LONGHAUL_CALLBACK_URL: 'https://l.example/c' }],
  ])('is refused in words such as %p', (expected, env) => {
    expect(problemsWith(env)).toEqual([expect.stringMatching(expected)]);
  });

  it('is refused with all problems at once, and no secret', () => {
    const problems = problemsWith({
      LONGHAUL_SERVICE_URL: 'https://user:password@service.example/?token=t0k3n',
      LONGHAUL_API_KEY: 'key 0815',
      LONGHAUL_ACCOUNTS_FILE: '/both.json',
      LONGHAUL_HEALTH_ADDRESS: 'x',
      LONGHAUL_ARCHIVE: '',
    });

    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      ...['LONGHAUL_SERVICE_URL', 'LONGHAUL_API_KEY', 'LONGHAUL_HEALTH_ADDRESS', 'LONGHAUL_ACCOUNTS_FILE'],
      'LONGHAUL_ARCHIVE',
    ]);
    expect(problems.join()).not.toMatch(/password|t0k3n|0815|key-both/);
  });

  it('does not miss the service when every account names its own', () => {
    const env = { LONGHAUL_SERVICE_URL: '', LONGHAUL_API_KEY: '', LONGHAUL_ACCOUNTS_FILE: '/own.json' };
    expect(problemsWith(env)).toEqual([]);
  });

  it('shows the names of accounts to this machine only', () => {
    for (const address of ['127.0.0.1:0', '[::1]:0']) {
      expect(load({ LONGHAUL_HEALTH_ADDRESS: address }).config.healthTellsAccounts).toBe(true);
    }
  });
});

describe('a worker is warned', () => {
  it('of a key that would cross the network in clear text, but not to this machine', () => {
    expect(load({ LONGHAUL_SERVICE_URL: 'http://service.example' }).warnings).toEqual([
      'The API key of account "default" goes to http://service.example unencrypted; use https.',
    ]);
    expect(load({ LONGHAUL_SERVICE_URL: 'http://127.0.0.1:8080' }).warnings).toEqual([]);
  });

  it.each([
    ['/ca.pem', '/ca.pem', []],
    ['/none.pem', null, [expect.stringMatching(/^NODE_EXTRA_CA_CERTS is "\/none\.pem".*ENOENT/)]],
    ['/key.pem', null, [expect.stringMatching(/holds no certificate; give a file of certificates in PEM/)]],
  ])('of certificates of a private authority that Node cannot have read: %s', (file, extraCaCerts, warnings) => {
    const loaded = load({ NODE_EXTRA_CA_CERTS: file });
    expect([loaded.config.extraCaCerts, loaded.warnings]).toEqual([extraCaCerts, warnings]);
  });

  it('of proxies, which it does not follow', () => {
    const env = { https_proxy: 'http://proxy.example:3128', HTTP_PROXY: '', NO_PROXY: '*' };
    expect(load(env).warnings).toEqual([expect.stringMatching(/^https_proxy cannot be followed/)]);
  });
});
