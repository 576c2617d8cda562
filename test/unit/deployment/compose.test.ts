import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { variablesReadBy } from '../../../src/config/variables';
import {
  compose,
  composeDocument,
  composeService,
  composeText,
  interpolated,
  projectRoot,
  variableUses,
} from './compose-file';

const services = Object.entries(compose.services);
const example = readFileSync(join(projectRoot, '.env.example'), 'utf8');
const exampleValues = new Map(
  [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

describe('the compose file and the compose specification', () => {
  let validate: ValidateFunction;
  beforeAll(() => {
    const file = join(dirname(require.resolve('dclint/package.json')), 'schemas/compose.schema.json');
    const schema = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    // It names its dialect by an address that ajv does not know.
    delete schema['$schema'];
    validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  });

  it('agree', () => {
    validate(composeDocument);
    expect(validate.errors).toBeNull();
  });

  it.each([
    ['an unknown key of a service', 'stop_grace_period: 90s', 'stop_grace: 90s'],
    ['a health check that is no list of texts', "'http://127.0.0.1:8080/healthz'", '{ url: here }'],
    ['an unknown condition', 'condition: service_healthy', 'condition: service_well'],
  ])('would not agree about %s', (_, right, wrong) => {
    expect(composeText).toContain(right);
    expect(validate(parse(composeText.replace(right, wrong), { merge: true }))).toBe(false);
  });
});

describe('the services of the compose file', () => {
  it.each(services)('%s runs an image of one exact version', (_, { image }) => {
    expect(image).toMatch(/^[a-z/-]+:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?$/);
  });

  it('are of the versions that the tests run on', () => {
    const goModule = readFileSync(join(projectRoot, 'tools/temporal/go.mod'), 'utf8');
    const [, server = ''] = /go\.temporal\.io\/server v(\S+)/.exec(goModule) ?? [];
    expect(composeService('temporal').image).toBe(`temporalio/server:${server}`);
    expect(composeService('temporal-schema').image).toBe(`temporalio/admin-tools:${server}`);
    expect(composeService('temporal-namespace').image).toBe(`temporalio/admin-tools:${server}`);
    const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as { version: string };
    expect(composeService('worker').image).toBe(`longhaul:${version}`);
  });

  it.each(services)('%s has a health check, or ends and is waited for', (name, { healthcheck, restart }) => {
    const conditions = services.map(([, service]) => service.depends_on[name]?.condition);
    const ends = conditions.includes('service_completed_successfully');
    expect(healthcheck === undefined).toBe(ends);
    expect(restart).toBe(ends ? 'on-failure:5' : 'unless-stopped');
  });

  it.each(services)('%s waits only for what can come', (_, { depends_on: dependencies }) => {
    for (const [name, { condition }] of Object.entries(dependencies)) {
      const isLasting = composeService(name).healthcheck !== undefined;
      expect(condition).toBe(isLasting ? 'service_healthy' : 'service_completed_successfully');
    }
  });

  it.each(services)('%s uses volumes, secrets and configs that are declared', (_, { volumes, secrets, configs }) => {
    const named = volumes.map((volume) => interpolated(volume, {}).split(':')[0] ?? '');
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named));
    expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining(secrets));
    expect(Object.keys(compose.configs)).toEqual(expect.arrayContaining(configs.map(({ source }) => source)));
  });

  it.each(services)('%s may use so much memory and so many processes, and gains no rights', (name, service) => {
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    // The database's image begins as root.
    expect(service.cap_add.length > 0).toBe(name === 'postgresql');
    expect(service.read_only).toBe(service.image.startsWith('longhaul:'));
  });

  it('reach the database from Temporal’s own services only, and nothing from the database', () => {
    const near = services.filter(([, { networks }]) => networks.includes('database')).map(([name]) => name);
    expect(near.sort()).toEqual(['postgresql', 'temporal', 'temporal-schema']);
    expect(compose.networks['database']).toEqual({ internal: true });
    expect(composeService('postgresql').networks).toEqual(['database']);
  });

  it.each(services)('%s is reached from this machine only', (_, { ports }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });
});

describe('the settings of the compose file', () => {
  const secretNames = Object.values(compose.secrets).map(({ environment }) => environment);
  const usedNames = [...new Set([...variableUses().map(({ name }) => name), ...secretNames])].sort();

  it('are those of .env.example, each with a word about it', () => {
    expect([...exampleValues.keys()].sort()).toEqual(usedNames);
    for (const name of usedNames) expect(example).toMatch(new RegExp(`^# .+\\n${name}=`, 'm'));
  });

  it('have the defaults that .env.example shows', () => {
    const defaults = variableUses().filter(({ operator }) => operator === ':-');
    expect(defaults.length).toBeGreaterThan(0);
    for (const { name, operand } of defaults) expect(exampleValues.get(name)).toBe(operand);
  });

  it('have no default for a secret', () => {
    const isSecret = (name: string): boolean => secretNames.includes(name) || /PASSWORD|SECRET|TOKEN|KEY/.test(name);
    const secrets = usedNames.filter(isSecret);
    expect(secrets).toEqual(['LONGHAUL_API_KEY', 'POSTGRES_PASSWORD']);
    for (const name of secrets) expect(exampleValues.get(name)).toBe('');
    for (const { operator } of variableUses().filter(({ name }) => isSecret(name))) expect(operator).toBe(':?');
  });

  it('give the worker nothing that it does not read, and nothing that it cannot use', () => {
    const { environment, secrets } = composeService('worker');
    const values = { LONGHAUL_SERVICE_URL: 'https://service.example' };
    const env = Object.fromEntries(
      Object.entries(environment).map(([name, text]) => [name, interpolated(text, values)]),
    );
    const own = Object.keys(env).filter((name) => name.startsWith('LONGHAUL_'));
    expect(variablesReadBy('worker')).toEqual(expect.arrayContaining(own));

    const keyFile = env['LONGHAUL_API_KEY_FILE'] ?? '';
    expect(secrets.map((name) => `/run/secrets/${name}`)).toContain(keyFile);
    const { config, warnings } = loadWorkerConfig(env, (path) => (path === keyFile ? 'a-key' : ''));
    expect(warnings).toEqual([]);
    expect([...config.accounts.keys()]).toEqual(['default']);
    const [probe = ''] = composeService('worker').healthcheck?.test.slice(-1) ?? [];
    expect(probe).toContain(`http://127.0.0.1:${config.healthPort ?? 'none'}/ready`);
  });

  it('give the worker folders that volumes are mounted at', () => {
    const { environment, volumes } = composeService('worker');
    const mounts = volumes.map((volume) => interpolated(volume, {}).split(':').slice(1).join(':'));
    // All writable: a batch's prepared rows lie beside its row file.
    expect(mounts).toEqual([environment['LONGHAUL_ARCHIVE'], environment['LONGHAUL_INPUT_ROOTS'], '/tmp']);
  });
});
