import { loadTemporalConnection } from '../../../src/config/temporal-connection';

/** No configuration file. */
const noFile = { XDG_CONFIG_HOME: '/nowhere' };

describe('the address of Temporal', () => {
  it.each([
    ['http://localhost:7233', /TEMPORAL_ADDRESS is "http:.* has the scheme http; give host:port without one/],
    ['localhost:72330', /TEMPORAL_ADDRESS is "localhost:72330"; give host:port, such as "localhost:7233"/],
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
