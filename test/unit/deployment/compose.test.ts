import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { loadCodecServerConfig } from '../../../src/config/codec-keys';
import { loadReceiverConfig } from '../../../src/config/callback-config';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { variables, variablesReadBy } from '../../../src/config/variables';
import {
  compose,
  composeDocument,
  composeEnvironment,
  composeService,
  composeText,
  interpolated,
  projectRoot,
  variableUses,
} from './compose-file';

const services = Object.entries(compose.services);
const example = readFileSync(join(projectRoot, '.env.example'), 'utf8');
/** What `.env.example` says of a variable; a line behind `#` shows what holds without it. */
const exampleLines = [...example.matchAll(/^(#?)([A-Z0-9_]+)=(.*)$/gm)].map(([, mark, name = '', value = '']) => {
  return { name, value, isSet: mark === '' };
});
const exampleValues = new Map(exampleLines.filter(({ isSet }) => isSet).map(({ name, value }) => [name, value]));

it('the compose file agrees with the compose specification', () => {
  const file = join(dirname(require.resolve('dclint/package.json')), 'schemas/compose.schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  // It names its dialect by an address that ajv does not know.
  delete schema['$schema'];
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  validate(composeDocument);
  expect(validate.errors).toBeNull();
  expect(validate(parse(composeText.replace('stop_grace_period: 90s', 'stop_grace: 90s'), { merge: true }))).toBe(
    false,
  );
});

describe('the services of the compose file', () => {
  const versioned = services.filter(([name]) => name !== 'reference-service');
  it.each(versioned)('%s runs an image of one exact version', (_, { image }) => {
    const tag: Record<string, string> =
      image === 'longhaul:${LONGHAUL_NEXT_TAG:-next}' ? { LONGHAUL_NEXT_TAG: '0.2.0' } : {};
    expect(interpolated(image, tag)).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?$/);
  });

  it('are of the versions that the tests run on', () => {
    const pinned = (module: string, pin: RegExp): string =>
      pin.exec(readFileSync(join(projectRoot, 'tools', module, 'go.mod'), 'utf8'))?.[1] ?? '';
    const server = pinned('temporal-server', /go\.temporal\.io\/server v(\S+)/);
    expect(pinned('temporal', /go\.temporal\.io\/server v(\S+)/)).toBe(server);
    // Its images and its module count patches by themselves.
    const [major = '', minor = ''] = pinned('temporal-ui', /ui-server\/v2 v(\S+)/).split('.');
    expect(composeService('temporal-ui').image).toMatch(new RegExp(`^temporalio/ui:${major}\\.${minor}\\.`));
    expect(composeService('temporal').image).toBe(`temporalio/server:${server}`);
    expect(composeService('temporal-schema').image).toBe(`temporalio/admin-tools:${server}`);
    expect(composeService('temporal-namespace').image).toBe(`temporalio/admin-tools:${server}`);
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
    for (const name of longhaulServices) {
      expect(interpolated(composeService(name).image, {})).toBe(`longhaul:${version}`);
      expect(interpolated(composeService(name).image, { LONGHAUL_TAG: 'older' })).toBe('longhaul:older');
    }
  });

  it.each(services)('%s has a health check or ends and is waited for, and uses what is there', (name, service) => {
    const conditions = services.map(([, other]) => other.depends_on[name]?.condition);
    const ends = conditions.includes('service_completed_successfully');
    expect(service.healthcheck === undefined).toBe(ends);
    expect(service.restart).toBe(ends ? 'on-failure:5' : 'unless-stopped');
    for (const [needed, { condition }] of Object.entries(service.depends_on)) {
      const isLasting = composeService(needed).healthcheck !== undefined;
      expect(condition).toBe(isLasting ? 'service_healthy' : 'service_completed_successfully');
    }
    const mounted = service.volumes.map((volume) => interpolated(volume, {}).split(':')[0] ?? '');
    expect(Object.keys(compose.volumes)).toEqual(
      expect.arrayContaining(mounted.filter((source) => !source.startsWith('/'))),
    );
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining(service.secrets));
    expect(Object.keys(compose.configs)).toEqual(expect.arrayContaining(service.configs.map(({ source }) => source)));
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it.each(services)('%s may use so much memory and so many processes, and gains no rights', (name, service) => {
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    // The database's image begins as root.
    expect(service.cap_add.length > 0).toBe(name === 'postgresql');
    // Compose refuses to put secrets of the environment into a container whose root is read-only.
    const isOurs = service.image.startsWith('longhaul');
    expect(service.read_only).toBe(isOurs && service.secrets.length === 0);
  });

  it('reach the database from Temporal’s own services only, and nothing from the database', () => {
    const near = services.filter(([, { networks }]) => networks.includes('database')).map(([name]) => name);
    expect(near.sort()).toEqual(['postgresql', 'temporal', 'temporal-schema']);
    expect(compose.networks['database']).toEqual({ internal: true });
    expect(composeService('postgresql').networks).toEqual(['database']);
  });
});

/** What a person fills in, for everything that can be turned on. */
const everything = {
  COMPOSE_PROFILES: 'callbacks,encryption',
  LONGHAUL_SERVICE_URL: 'https://service.example',
  LONGHAUL_API_KEY: 'a-key',
  LONGHAUL_ACCOUNTS: '{"studio": {"apiKey": "another-key"}}',
  LONGHAUL_PRICES: '{"prices": [{"webAppId": 5, "currency": "EUR", "perTask": "0.02"}]}',
  LONGHAUL_WEBHOOKS: JSON.stringify({
    orders: { url: 'https://shop.example/hooks', secrets: [`whsec_${Buffer.alloc(32, 2).toString('base64')}`] },
  }),
  LONGHAUL_ARCHIVE: 's3://bucket/prefix',
  AWS_REGION: 'cn-shanghai',
  LONGHAUL_CALLBACK_URL: 'https://longhaul.example/callback',
  LONGHAUL_CALLBACK_TOKEN: 'a-token-of-32-characters-or-more',
  LONGHAUL_CODEC_KEYS: JSON.stringify({ current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } }),
};
const longhaulServices = ['worker', 'receiver', 'codec-server'] as const;

/** Reads the files that compose makes of secrets. */
function secretFile(values: Readonly<Record<string, string>>): (path: string) => string {
  return (path) => {
    const name = path.replace('/run/secrets/', '');
    return values[compose.secrets[name]?.environment ?? ''] ?? '';
  };
}

describe('the settings of the compose file', () => {
  const secretNames = Object.values(compose.secrets).map(({ environment }) => environment);
  const passedOn = services.flatMap(([, { environment }]) =>
    Object.entries(environment).flatMap(([name, text]) => (text === null ? [name] : [])),
  );
  const usedNames = [
    ...new Set(['COMPOSE_PROFILES', ...variableUses().map(({ name }) => name), ...passedOn, ...secretNames]),
  ].sort();

  it('are those of .env.example, each with a line about it', () => {
    expect(exampleLines.map(({ name }) => name).sort()).toEqual(usedNames);
    for (const name of usedNames) expect(example).toMatch(new RegExp(`^# .+\\n#?${name}=`, 'm'));
  });

  it('have the defaults that .env.example shows, which names each secret, for compose refuses one that is not set', () => {
    expect([...exampleValues.keys()]).toEqual(expect.arrayContaining(secretNames));
    const defaults = variableUses().filter(({ operator }) => operator === ':-');
    expect(defaults.length).toBeGreaterThan(0);
    // An empty file is mounted where there is none.
    for (const { name, operand } of defaults) expect(exampleValues.get(name)).toBe(operand.replace('/dev/null', ''));
  });

  it('that are passed on as they are have the defaults of Longhaul itself', () => {
    for (const { name, value } of exampleLines.filter(({ isSet }) => !isSet)) {
      expect(passedOn).toContain(name);
      const unset = new Map<string, { readonly default: string }>(Object.entries(variables)).get(name)?.default ?? '';
      const [, shown = ''] = /^`([^`]+)`/.exec(unset) ?? [];
      expect({ name, value }).toEqual({ name, value: shown });
    }
  });

  it('have no default for a secret', () => {
    const isSecret = (name: string): boolean => secretNames.includes(name) || /PASSWORD|SECRET|TOKEN|KEY/.test(name);
    const uses = variableUses().filter(({ name }) => isSecret(name));
    const required = ['POSTGRES_PASSWORD'];
    // Without a value the variable is empty, or what says that it is there.
    const allowed = (name: string): string[] => (required.includes(name) ? [':?'] : [':-', ':+']);
    for (const { name, operator, operand } of uses) {
      expect(allowed(name)).toContain(operator);
      expect(operator === ':-' ? operand : '').toBe('');
    }
    const secrets = exampleLines.filter(({ name }) => isSecret(name));
    expect(secrets.map(({ name }) => name)).toEqual(expect.arrayContaining(['LONGHAUL_CODEC_KEYS', ...required]));
    for (const { value } of secrets) expect(value).toBe('');
  });

  it('that are required are named all at once, for compose stops at the first that is missing', () => {
    const required = variableUses().filter(({ operator }) => operator === ':?');
    const names = new Set(required.map(({ name }) => name));
    expect([...names].sort()).toEqual(['LONGHAUL_SERVICE_URL', 'POSTGRES_PASSWORD']);
    for (const { operand } of required) for (const name of names) expect(operand).toContain(name);
  });

  it.each([
    ['worker', 'worker', ['LONGHAUL_API_KEY', 'LONGHAUL_CALLBACK_TOKEN_FILE']],
    ['receiver', 'receiver', ['LONGHAUL_CALLBACK_TOKEN_FILE']],
    // Its callers send no token: it listens on loopback.
    ['codec-server', 'codec server', ['LONGHAUL_CODEC_TOKEN']],
  ] as const)('reach the %s: every variable that it reads, and no other', (name, reader, left) => {
    const own = Object.keys(composeService(name).environment).filter((variable) => variable.startsWith('LONGHAUL_'));
    expect([...own, ...left].sort()).toEqual(variablesReadBy(reader).sort());
  });

  it.each([
    [
      'what .env.example requires alone',
      {
        ...Object.fromEntries(exampleValues),
        LONGHAUL_SERVICE_URL: everything.LONGHAUL_SERVICE_URL,
        LONGHAUL_API_KEY: 'a-key',
      },
      ['default'],
    ],
    ['accounts of which none is called "default"', { ...everything, LONGHAUL_API_KEY: '' }, ['studio']],
    ['everything that can be set', everything, ['default', 'studio']],
  ])('make a worker’s configuration of %s', (_, values, accounts) => {
    const env = composeEnvironment('worker', values);
    const { config, warnings } = loadWorkerConfig(env, secretFile(values));
    expect(warnings).toEqual([]);
    expect([...config.accounts.keys()]).toEqual(accounts);
    const isAll = accounts.includes('studio');
    expect(config.archive.kind).toBe(isAll ? 's3' : 'folder');
    expect([config.codecKeys, config.callback].every((part) => (part !== null) === isAll)).toBe(true);
    expect([...config.webhooks.keys()]).toEqual(isAll ? ['orders'] : []);
    const [probe = ''] = composeService('worker').healthcheck?.test.slice(-1) ?? [];
    expect(probe).toContain(`http://127.0.0.1:${config.health?.port ?? 'none'}/ready`);
  });

  it('make the configurations of the receiver and the codec server, which the Web UI is led to', () => {
    const receiver = loadReceiverConfig(composeEnvironment('receiver', everything), secretFile(everything));
    expect(receiver.warnings).toEqual([]);
    expect(composeService('receiver').ports).toEqual([`127.0.0.1:8082:${receiver.config.port}`]);
    const codec = loadCodecServerConfig(composeEnvironment('codec-server', everything), secretFile(everything));
    const { host, port, origins, tokens } = codec.config;
    const ui = composeEnvironment('temporal-ui', everything);
    expect(ui['TEMPORAL_CODEC_ENDPOINT']).toBe(`http://${host}:${port}`);
    expect(tokens).toBeNull();
    expect(origins).toContain('http://localhost:8080');
    expect(composeService('codec-server').network_mode).toBe('host');
    expect(composeEnvironment('temporal-ui', { LONGHAUL_SERVICE_URL: '' })['TEMPORAL_CODEC_ENDPOINT']).toBe('');
  });

  it('mount certificates of a private authority where Node finds them', () => {
    const { volumes } = composeService('worker');
    const mounts = (values: Readonly<Record<string, string>>): string[] =>
      volumes.map((volume) => interpolated(volume, values));
    const file = composeEnvironment('worker', { ...everything, CA_FILE: '/srv/ca.pem' })['NODE_EXTRA_CA_CERTS'];
    expect(mounts({ CA_FILE: '/srv/ca.pem' })).toContain(`/srv/ca.pem:${file}:ro`);
    expect(mounts({})).toContain(`/dev/null:${file}:ro`);
    expect(composeEnvironment('worker', everything)['NODE_EXTRA_CA_CERTS']).toBe('');
  });

  it.each(longhaulServices)('give the %s the secrets that its variables name', (name) => {
    const files = Object.values(composeEnvironment(name, everything)).filter((value) =>
      value.startsWith('/run/secrets/'),
    );
    const secrets = composeService(name).secrets.map((secret) => `/run/secrets/${secret}`);
    expect(files.sort()).toEqual(secrets.sort());
  });

  it('turn on what a profile is for, and nothing of it without', () => {
    const profiles = services.flatMap(([name, { profiles: own }]) => own.map((profile) => `${profile}: ${name}`));
    expect(profiles.sort()).toEqual([
      'callbacks: receiver',
      'demo: reference-service',
      'encryption: codec-server',
      'next: worker-next',
    ]);
    for (const [, { depends_on: dependencies, profiles: own }] of services) {
      for (const name of Object.keys(dependencies)) {
        const others = composeService(name).profiles;
        expect(others.every((profile) => own.includes(profile))).toBe(true);
      }
    }
  });

  it('give the next version an image and a build id of its own, and all else that workers have', () => {
    const values = { ...everything, LONGHAUL_BUILD_ID: 'v1', LONGHAUL_NEXT_TAG: '0.2.0', LONGHAUL_NEXT_BUILD_ID: 'v2' };
    const [worker, next] = [composeService('worker'), composeService('worker-next')];
    expect(interpolated(next.image, values)).toBe('longhaul:0.2.0');
    const own = { image: '', profiles: [], environment: {} };
    expect({ ...next, ...own }).toEqual({ ...worker, ...own });
    const current = composeEnvironment('worker', values);
    expect(current['LONGHAUL_BUILD_ID']).toBe('v1');
    expect(composeEnvironment('worker-next', values)).toEqual({ ...current, LONGHAUL_BUILD_ID: 'v2' });
  });

  it('lead a worker to the reference service of the demo, by options that this has', () => {
    const { command = [], network_mode: network } = composeService('reference-service');
    expect(network).toBe('service:worker');
    const usage = readFileSync(join(projectRoot, 'reference-service/main.ts'), 'utf8');
    const options = command.filter((word) => word.startsWith('--'));
    expect(options).toEqual(['--port', '--api-key']);
    for (const option of options) expect(usage).toContain(`  ${option} `);
    expect(example).toContain(`http://127.0.0.1:${command[1] ?? ''}`);
  });

  it('give the worker folders that volumes are mounted at', () => {
    const { volumes } = composeService('worker');
    const environment = composeEnvironment('worker', { LONGHAUL_SERVICE_URL: 'https://service.example' });
    const mounts = volumes.map((volume) => interpolated(volume, {}).split(':').slice(1).join(':'));
    // All writable: a batch's prepared rows lie beside its row file.
    expect(mounts.filter((mount) => !mount.endsWith(':ro'))).toEqual([
      environment['LONGHAUL_ARCHIVE'],
      environment['LONGHAUL_INPUT_ROOTS'],
      '/tmp',
    ]);
  });
});
