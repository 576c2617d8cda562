import { loadTemporalConnection } from '../../../src/config/temporal-connection';

describe('the address of Temporal', () => {
  it('is refused with a scheme, which would be taken for the name of a host', () => {
    const env = { TEMPORAL_CONFIG_FILE: '/nowhere', TEMPORAL_ADDRESS: 'http://localhost:7233' };
    expect(() => loadTemporalConnection(env)).toThrow(
      /TEMPORAL_ADDRESS is "http:.* has the scheme http; give host:port/,
    );
  });

  it.each(['localhost:7233', 'temporal', '[::1]:7233'])('is taken as it stands: %s', (address) => {
    const env = { TEMPORAL_CONFIG_FILE: '/nowhere', TEMPORAL_ADDRESS: address };
    expect(loadTemporalConnection(env).address).toBe(address);
  });
});
