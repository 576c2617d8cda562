import path from 'node:path';
import { inspect } from 'node:util';
import { ConfigError, type Loaded } from '../../../src/config/environment';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';

const enough = {
  LONGHAUL_SERVICE_URL: 'https://service.example/',
  LONGHAUL_API_KEY: 'key-0815',
  LONGHAUL_ARCHIVE: '/srv/archive',
};

const files: Record<string, string> = {
  '/secrets/key': 'key-from-file\n',
  '/secrets/two-words': 'key-one key-two',
  '/secrets/accounts.json': JSON.stringify({
    studio: { apiKeyFile: '/secrets/key' },
    team: { apiKey: 'key-team', serviceUrl: 'https://eu.service.example/v/', createsPerSecond: 0.5 },
  }),
  '/secrets/fast.json': JSON.stringify({
    studio: { apiKey: 'key-fast', createsPerSecond: -1, pollsPerSecond: 'key-slip' },
  }),
  '/secrets/none.json': '{}',
  '/secrets/slip.json': '{ "studio": { "apiKey": "key-slip", } }',
  '/secrets/extra.json': JSON.stringify({ studio: { apiKey: 'key-extra', secret: 'x' } }),
  '/secrets/both.json': JSON.stringify({ studio: { apiKey: 'key-both', apiKeyFile: '/secrets/key' } }),
  '/secrets/default.json': JSON.stringify({ default: { apiKey: 'key-default' } }),
};

function readTextFile(file: string): string {
  const text = files[file];
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
}

function load(env: NodeJS.ProcessEnv): Loaded<WorkerConfig> {
  return loadWorkerConfig(env, readTextFile);
}

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    load(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe('the configuration of a worker', () => {
  it('needs a service, a key and an archive, and fills in the rest', () => {
    const { config, warnings } = load(enough);

    expect(config).toMatchObject({
      archive: { kind: 'folder', path: '/srv/archive' },
      inputRoots: [],
      inputHosts: [],
      health: null,
      logLevel: 'info',
    });
    expect(config.accounts.get('default')).toMatchObject({ name: 'default', serviceUrl: 'https://service.example' });
    expect(config.accounts.get('default')?.apiKey.reveal()).toBe('key-0815');
    expect(warnings).toEqual([]);
  });

  it('reads every variable', () => {
    const { config } = load({
      ...enough,
      LONGHAUL_ARCHIVE: 'archive',
      LONGHAUL_INPUT_ROOTS: ['/photos', 'more', ''].join(path.delimiter),
      LONGHAUL_INPUT_HOSTS: 'NAS.local, 10.0.0.7:9000',
      LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0',
      LONGHAUL_LOG_LEVEL: 'debug',
    });

    expect(config).toMatchObject({
      archive: { kind: 'folder', path: path.resolve('archive') },
      inputRoots: ['/photos', path.resolve('more')],
      inputHosts: ['nas.local', '10.0.0.7:9000'],
      health: { host: '127.0.0.1', port: 0 },
      logLevel: 'debug',
    });
  });

  it.each([
    ['s3://photos', { bucket: 'photos', prefix: '', isPathStyle: false }],
    ['s3://photos/', { bucket: 'photos', prefix: '', isPathStyle: false }],
    ['s3://my.photos-2/team a/results/', { bucket: 'my.photos-2', prefix: 'team a/results', isPathStyle: true }],
  ])('takes a bucket for an archive: %s', (uri, { isPathStyle, ...place }) => {
    const env = { ...enough, LONGHAUL_ARCHIVE: uri, LONGHAUL_S3_PATH_STYLE: String(isPathStyle) };
    expect(load(env).config.archive).toEqual({ kind: 's3', ...place, isPathStyle });
  });

  it('takes a variable that is set to nothing as not set', () => {
    expect(load({ ...enough, LONGHAUL_HEALTH_ADDRESS: '', LONGHAUL_LOG_LEVEL: ' ' }).config).toMatchObject({
      health: null,
      logLevel: 'info',
    });
  });

  it('reads accounts, each with its own key and, where given, its own service', () => {
    const { config } = load({ ...enough, LONGHAUL_ACCOUNTS_FILE: '/secrets/accounts.json' });

    expect(
      [...config.accounts.values()].map(({ name, apiKey, serviceUrl }) => [name, apiKey.reveal(), serviceUrl]),
    ).toEqual([
      ['default', 'key-0815', 'https://service.example'],
      ['studio', 'key-from-file', 'https://service.example'],
      ['team', 'key-team', 'https://eu.service.example/v'],
    ]);
  });

  it('limits creates and queries of each account alike, unless an account has limits of its own', () => {
    const limits = { LONGHAUL_CREATES_PER_SECOND: '2.5', LONGHAUL_ACCOUNTS_FILE: '/secrets/accounts.json' };
    const { accounts } = load({ ...enough, ...limits }).config;

    expect(
      [...accounts.values()].map(({ name, createsPerSecond, pollsPerSecond }) => [
        name,
        createsPerSecond,
        pollsPerSecond,
      ]),
    ).toEqual([
      ['default', 2.5, 1_000],
      ['studio', 2.5, 1_000],
      ['team', 0.5, 1_000],
    ]);
    expect(load(enough).config.accounts.get('default')).toMatchObject({ createsPerSecond: 50, pollsPerSecond: 1_000 });
  });

  it('names the account and the field for limits in the accounts file that cannot be kept', () => {
    expect(problemsOf({ ...enough, LONGHAUL_ACCOUNTS_FILE: '/secrets/fast.json' })).toEqual([
      'LONGHAUL_ACCOUNTS_FILE is "/secrets/fast.json": studio.createsPerSecond should be a number from 0.01 to 10000.',
      'LONGHAUL_ACCOUNTS_FILE is "/secrets/fast.json": studio.pollsPerSecond should be a number.',
    ]);
  });

  it('cannot be changed', () => {
    const { config } = load(enough);

    expect(() => Object.assign(config, { logLevel: 'fatal' })).toThrow(TypeError);
    expect(() => Object.assign(config.archive, { path: '/' })).toThrow(TypeError);
    expect(() => Object.assign(config.accounts.get('default') ?? {}, { serviceUrl: 'x' })).toThrow(TypeError);
  });

  it('does not print a key', () => {
    const { config } = load(enough);

    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('key-0815');
    expect(JSON.stringify([...config.accounts])).not.toContain('key-0815');
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'a service without a scheme',
      { LONGHAUL_SERVICE_URL: 'service.example' },
      /^LONGHAUL_SERVICE_URL is "service.example"; give .*https:/,
    ],
    [
      'a service by another scheme',
      { LONGHAUL_SERVICE_URL: 'ftp://service.example' },
      /^LONGHAUL_SERVICE_URL is "ftp:/,
    ],
    [
      'a service with a query',
      { LONGHAUL_SERVICE_URL: 'https://service.example/?a=b' },
      /^LONGHAUL_SERVICE_URL .*without a query/,
    ],
    ['no service', { LONGHAUL_SERVICE_URL: undefined }, /^LONGHAUL_SERVICE_URL is not set; give /],
    ['no key', { LONGHAUL_API_KEY: undefined }, /^No account is set; give LONGHAUL_API_KEY, /],
    [
      'a key with a space',
      { LONGHAUL_API_KEY: 'key 0815' },
      /^LONGHAUL_API_KEY is \[redacted\]; give .* without spaces/,
    ],
    ['two keys', { LONGHAUL_API_KEY_FILE: '/secrets/key' }, /are both set; leave one of them out/],
    [
      'a key file that is not there',
      { LONGHAUL_API_KEY: '', LONGHAUL_API_KEY_FILE: '/none' },
      /^LONGHAUL_API_KEY_FILE is "\/none".*ENOENT/,
    ],
    [
      'a key file of two words',
      { LONGHAUL_API_KEY: '', LONGHAUL_API_KEY_FILE: '/secrets/two-words' },
      /^LONGHAUL_API_KEY_FILE is "\/secrets\/two-words", which holds no API key/,
    ],
    [
      'an accounts file that is not there',
      { LONGHAUL_ACCOUNTS_FILE: '/none' },
      /^LONGHAUL_ACCOUNTS_FILE is "\/none".*ENOENT/,
    ],
    [
      'an accounts file with a slip',
      { LONGHAUL_ACCOUNTS_FILE: '/secrets/slip.json' },
      /^LONGHAUL_ACCOUNTS_FILE .*is no JSON: see line 1; give .*JSON/,
    ],
    [
      'an accounts file of nobody',
      { LONGHAUL_ACCOUNTS_FILE: '/secrets/none.json' },
      /^LONGHAUL_ACCOUNTS_FILE .*should be an object with at least one account/,
    ],
    [
      'an account with another field',
      { LONGHAUL_ACCOUNTS_FILE: '/secrets/extra.json' },
      /^LONGHAUL_ACCOUNTS_FILE .*: studio has fields that Longhaul does not know; it takes apiKey, /,
    ],
    [
      'an account with two keys',
      { LONGHAUL_ACCOUNTS_FILE: '/secrets/both.json' },
      /account "studio": give either apiKey or apiKeyFile/,
    ],
    [
      'an account given twice',
      { LONGHAUL_ACCOUNTS_FILE: '/secrets/default.json' },
      /account "default": it is given by LONGHAUL_API_KEY/,
    ],
    ['no archive', { LONGHAUL_ARCHIVE: undefined }, /^LONGHAUL_ARCHIVE is not set; give /],
    [
      'an archive in S3 with a wrong bucket',
      { LONGHAUL_ARCHIVE: 's3://My_Bucket/prefix' },
      /^LONGHAUL_ARCHIVE is "s3:\/\/My_Bucket\/prefix"; give the path of a folder, or "s3:\/\/bucket\/prefix"/,
    ],
    ['an archive in S3 without a bucket', { LONGHAUL_ARCHIVE: 's3:///prefix' }, /^LONGHAUL_ARCHIVE is /],
    ['an archive that leads elsewhere', { LONGHAUL_ARCHIVE: 's3://photos/a/../b' }, /^LONGHAUL_ARCHIVE is /],
    [
      'an archive with a query',
      { LONGHAUL_ARCHIVE: 's3://photos/a?X-Key=b' },
      /^LONGHAUL_ARCHIVE is "s3:\/\/photos\/a";/,
    ],
    ['an archive elsewhere', { LONGHAUL_ARCHIVE: 'gs://photos/a' }, /^LONGHAUL_ARCHIVE is "gs:\/\/photos\/a"; give/],
    ['a path style in words', { LONGHAUL_S3_PATH_STYLE: 'yes' }, /^LONGHAUL_S3_PATH_STYLE is "yes"; give "true" or/],
    [
      'a host with a path',
      { LONGHAUL_INPUT_HOSTS: 'nas.local/photos' },
      /^LONGHAUL_INPUT_HOSTS is "nas.local\/photos"; give host names/,
    ],
    ['no room for any output', { LONGHAUL_MAX_OUTPUT_BYTES: '0' }, /^LONGHAUL_MAX_OUTPUT_BYTES is "0"; give .* from 1/],
    ['no room for any task', { LONGHAUL_MAX_TASK_BYTES: '0' }, /^LONGHAUL_MAX_TASK_BYTES is "0"; give .* from 1/],
    ['a wildcard', { LONGHAUL_INPUT_HOSTS: '*.local' }, /^LONGHAUL_INPUT_HOSTS is "\*.local".* wildcard/],
    ['a host with a scheme', { LONGHAUL_INPUT_HOSTS: 'http://nas.local' }, /^LONGHAUL_INPUT_HOSTS is /],
    ['no creates at all', { LONGHAUL_CREATES_PER_SECOND: '0' }, /^LONGHAUL_CREATES_PER_SECOND is "0"; give how many /],
    [
      'limits in words',
      { LONGHAUL_POLLS_PER_SECOND: 'a lot' },
      /^LONGHAUL_POLLS_PER_SECOND is "a lot"; give how many /,
    ],
    [
      'a port without an address',
      { LONGHAUL_HEALTH_ADDRESS: '8090' },
      /^LONGHAUL_HEALTH_ADDRESS is "8090"; give an IP/,
    ],
    ['a port beyond the last', { LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:65536' }, /^LONGHAUL_HEALTH_ADDRESS is /],
    ['a name of a slot', { LONGHAUL_SLOTS: 'upload=1' }, /^LONGHAUL_SLOTS is "upload=1"; give pairs/],
    ['a slot twice', { LONGHAUL_SLOTS: 'uploads=1,uploads=2' }, /^LONGHAUL_SLOTS is /],
    ['too few slots', { LONGHAUL_SLOTS: 'pollers=1' }, /^LONGHAUL_SLOTS is /],
    [
      'more workflow tasks than a stalled service leaves free',
      { LONGHAUL_SLOTS: 'workflowTasks=121' },
      /^LONGHAUL_SLOTS is /,
    ],
    [
      'an unknown level',
      { LONGHAUL_LOG_LEVEL: 'verbose' },
      /^LONGHAUL_LOG_LEVEL is "verbose"; give one of trace, debug, info/,
    ],
  ])('names the variable, the value and the remedy for %s', (_, env, expected) => {
    expect(problemsOf({ ...enough, ...env })).toEqual([expect.stringMatching(expected)]);
  });

  it('reports all problems at once, and shows no secret', () => {
    const env = {
      LONGHAUL_SERVICE_URL: 'https://user:password@service.example/?token=t0k3n',
      LONGHAUL_API_KEY: 'key 0815',
      LONGHAUL_ACCOUNTS_FILE: '/secrets/slip.json',
      LONGHAUL_HEALTH_ADDRESS: 'x',
    };

    const problems = problemsOf(env);

    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'LONGHAUL_SERVICE_URL',
      'LONGHAUL_API_KEY',
      'LONGHAUL_HEALTH_ADDRESS',
      'LONGHAUL_ACCOUNTS_FILE',
      'LONGHAUL_ARCHIVE',
    ]);
    expect(new ConfigError(problems).message).not.toMatch(/password|t0k3n|0815|key-slip/);
  });

  it('asks for no callbacks unless it is told where to and by which token', () => {
    const callback = {
      LONGHAUL_CALLBACK_URL: 'https://longhaul.example/callback',
      LONGHAUL_CALLBACK_TOKEN: 'token-of-tomorrow, token-of-today-16',
    };
    expect(load(enough).config.callback).toBeNull();

    const { config, warnings } = load({ ...enough, ...callback });

    expect(config.callback?.url).toBe('https://longhaul.example/callback');
    expect(config.callback?.tokens.map((token) => token.reveal())).toEqual(['token-of-tomorrow', 'token-of-today-16']);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('token-of');
    expect(warnings).toEqual([]);
    expect(problemsOf({ ...enough, ...callback, LONGHAUL_CALLBACK_TOKEN: '' })).toEqual([
      expect.stringMatching(/^LONGHAUL_CALLBACK_TOKEN is not set, but its counterpart is; give /),
    ]);
  });

  it('does not miss the service when every account names its own', () => {
    files['/secrets/own.json'] = JSON.stringify({ team: { apiKey: 'k', serviceUrl: 'https://eu.service.example' } });
    const env = { LONGHAUL_ACCOUNTS_FILE: '/secrets/own.json', LONGHAUL_ARCHIVE: '/srv/archive' };

    expect(problemsOf(env)).toEqual([]);
  });

  it('warns of a key that would cross the network in clear text, but not to this machine', () => {
    expect(load({ ...enough, LONGHAUL_SERVICE_URL: 'http://service.example' }).warnings).toEqual([
      'The API key of account "default" goes to http://service.example unencrypted; use https.',
    ]);
    expect(load({ ...enough, LONGHAUL_SERVICE_URL: 'http://127.0.0.1:8080' }).warnings).toEqual([]);
  });
});
