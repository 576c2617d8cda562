import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../src/config/environment';
import { loadTemporalConnection } from '../../../src/config/temporal-connection';

/** No configuration file. */
const noFile = { XDG_CONFIG_HOME: '/nowhere' };

describe('the address of Temporal', () => {
  it.each([
    ['http://localhost:7233', /TEMPORAL_ADDRESS is "http:.*; give host:port without a scheme/],
    ['localhost:72330', /TEMPORAL_ADDRESS is "localhost:72330"; give host:port/],
    ['localhost:', /TEMPORAL_ADDRESS is "localhost:"; give host:port/],
    ['temporal/api:7233', /TEMPORAL_ADDRESS is "temporal.*; give host:port/],
  ])('is refused with what is no host and port: %s', (address, message) => {
    expect(() => loadTemporalConnection({ ...noFile, TEMPORAL_ADDRESS: address })).toThrow(message);
  });

  it.each([
    ['localhost:7234', 'localhost:7234'],
    ['temporal', 'temporal:7233'],
    ['[::1]', '[::1]:7233'],
    ['', 'localhost:7233'],
  ])('has a port in messages, too: %s', (address, complete) => {
    const { address: shown, connectionOptions } = loadTemporalConnection({ ...noFile, TEMPORAL_ADDRESS: address });
    expect([shown, connectionOptions.address]).toEqual([complete, complete]);
  });
});

describe('Temporal’s own variables', () => {
  it('say where it is; without any it is on this machine', () => {
    expect(loadTemporalConnection(noFile)).toMatchObject({ address: 'localhost:7233', namespace: 'default' });
    const env = { ...noFile, TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_NAMESPACE: 'studio' };
    expect(loadTemporalConnection(env)).toMatchObject({
      ...{ address: 'temporal.example:7233', namespace: 'studio' },
      connectionOptions: { address: 'temporal.example:7233' },
    });
    expect(() => loadTemporalConnection({ ...noFile, TEMPORAL_PROFILE: 'none' })).toThrow(ConfigError);
  });

  it.each([
    [{ TEMPORAL_TLS: 'ja' }, 'TEMPORAL_TLS is "ja"; give true or false.'],
    [
      { TEMPORAL_TLS_DISABLE_HOST_VERIFICATION: 'TRUE' },
      'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is "TRUE"; give true or false.',
    ],
    [
      { TEMPORAL_CONFIG_FILE: '/nowhere/temporal.toml' },
      'TEMPORAL_CONFIG_FILE is "/nowhere/temporal.toml", and there is no such file; correct the path, or unset the variable.',
    ],
  ])('are refused when the SDK would pass over what they say: %j', (env, message) => {
    expect(() => loadTemporalConnection({ ...noFile, ...env })).toThrow(message);
  });

  it('are refused with a file that has no profile', () => {
    expect(() => loadTemporalConnection({ TEMPORAL_CONFIG_FILE: '/dev/null' })).toThrow(/no \[profile\.…\] table/);
  });

  it('count as not set when they are set to nothing', () => {
    const env = { ...noFile, TEMPORAL_API_KEY: '', TEMPORAL_TLS: '', TEMPORAL_NAMESPACE: '' };
    const { namespace, connectionOptions } = loadTemporalConnection(env);
    expect(namespace).toBe('default');
    expect(connectionOptions).toMatchObject({ address: 'localhost:7233' });
    expect(connectionOptions.tls ?? connectionOptions.apiKey).toBeUndefined();
  });
});

describe('the default temporal.toml', () => {
  let home = '';
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
    mkdirSync(join(home, 'temporalio'));
    writeFileSync(join(home, 'temporalio/temporal.toml'), '[profile.default]\naddress = "elsewhere:7233"\n');
    chmodSync(home, 0o755);
  });
  afterEach(() => {
    chmodSync(home, 0o755);
    rmSync(home, { recursive: true });
  });

  it('counts as absent below a folder that may not be entered, such as a home folder that systemd hides', () => {
    chmodSync(home, 0);
    const read = asPlainUser(() => loadTemporalConnection({ XDG_CONFIG_HOME: home }));
    expect(read.address).toBe('localhost:7233');
  });

  it('is used where it can be read, and is a fault where it is there and cannot be read', () => {
    const file = join(home, 'temporalio/temporal.toml');
    expect(asPlainUser(() => loadTemporalConnection({ XDG_CONFIG_HOME: home })).address).toBe('elsewhere:7233');
    chmodSync(file, 0);
    expect(() => asPlainUser(() => loadTemporalConnection({ XDG_CONFIG_HOME: home }))).toThrow(
      /temporal\.toml" cannot be read \(EACCES\)/,
    );
  });

  it('is refused when TEMPORAL_CONFIG_FILE names it and its folder may not be entered', () => {
    const file = join(home, 'temporalio/temporal.toml');
    chmodSync(home, 0);
    expect(() => asPlainUser(() => loadTemporalConnection({ TEMPORAL_CONFIG_FILE: file }))).toThrow(file);
  });
});

/** Runs a function without the rights of root, whom no mode of a folder keeps out. */
function asPlainUser<T>(run: () => T): T {
  if (process.geteuid?.() !== 0) return run();
  process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    process.seteuid?.(0);
  }
}
