import { ConfigError } from '../../../src/config/environment';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';

const enough = {
  LONGHAUL_SERVICE_URL: 'https://s.example',
  LONGHAUL_API_KEY: 'key-0815',
  LONGHAUL_ARCHIVE: '/srv/archive',
};

function load(env: NodeJS.ProcessEnv): WorkerConfig {
  return loadWorkerConfig({ ...enough, ...env }).config;
}

describe('what a worker allows and shows', () => {
  it('is every choice of a task, and its health to this machine without names, when nothing is said', () => {
    expect(load({})).toMatchObject({
      allowed: { accounts: null, tuning: true, recreate: true },
      health: null,
    });
  });

  it('is what the environment says', () => {
    const env = {
      LONGHAUL_ALLOW_ACCOUNTS: 'default',
      LONGHAUL_REFUSE: 'tuning, recreate',
      LONGHAUL_HEALTH_ADDRESS: '[::]:8090',
      LONGHAUL_SLOTS: 'uploads=4, pollers=2',
      LONGHAUL_METRICS: 'http://collector:4317',
    };

    expect(load(env)).toMatchObject({
      allowed: { accounts: ['default'], tuning: false, recreate: false },
      health: { host: '::', port: 8090 },
      healthTellsAccounts: false,
      slots: { uploads: 4, pollers: 2, archives: 16, workflowTasks: 120 },
      metrics: { kind: 'otlp', url: 'http://collector:4317' },
    });
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'an account that it has not',
      { LONGHAUL_ALLOW_ACCOUNTS: 'a' },
      /^LONGHAUL_ALLOW_ACCOUNTS names "a".*it has: default/,
    ],
    ['names that are none', { LONGHAUL_ALLOW_ACCOUNTS: 'a b' }, /^LONGHAUL_ALLOW_ACCOUNTS is "a b"; give names/],
    ['a choice that is none', { LONGHAUL_REFUSE: 'all' }, /^LONGHAUL_REFUSE is "all"; give "tuning"/],
    ['a host that is no address', { LONGHAUL_HEALTH_ADDRESS: 'all:1' }, /^LONGHAUL_HEALTH_ADDRESS is "all:1"/],
    ['a umask that leaves the own user out', { LONGHAUL_UMASK: '777' }, /^LONGHAUL_UMASK is "777"; give three octal/],
    ['a umask that is none', { LONGHAUL_UMASK: '8' }, /^LONGHAUL_UMASK is "8"/],
  ])('is refused when it is %s', (_, env, problem) => {
    let problems: readonly string[] = [];
    try {
      load(env);
    } catch (error) {
      if (error instanceof ConfigError) problems = error.problems;
    }

    expect(problems).toEqual([expect.stringMatching(problem) as string]);
  });
});

it('shows the names of accounts to this machine only', () => {
  expect(load({ LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0' }).healthTellsAccounts).toBe(true);
  expect(load({ LONGHAUL_HEALTH_ADDRESS: '[::1]:0' }).healthTellsAccounts).toBe(true);
});

describe('the version of a worker', () => {
  it('is none by default, or a build id of the deployment longhaul or of another one', () => {
    expect(load({}).version).toBeNull();
    expect(load({ LONGHAUL_BUILD_ID: '' }).version).toBeNull();
    expect(load({ LONGHAUL_BUILD_ID: '1.2.3' }).version).toEqual({ deploymentName: 'longhaul', buildId: '1.2.3' });
    expect(load({ LONGHAUL_BUILD_ID: 'studio/v2' }).version).toEqual({
      deploymentName: 'studio',
      buildId: 'v2',
    });
  });

  it.each([{ LONGHAUL_BUILD_ID: 'a:b' }, { LONGHAUL_BUILD_ID: 'two words' }, { LONGHAUL_BUILD_ID: 'a.b/v2' }])(
    'is refused as %o',
    (env) => {
      expect(() => load(env)).toThrow(ConfigError);
    },
  );
});
