import { loadClientConfig } from '../../../src/config/client-config';
import { ConfigError } from '../../../src/config/environment';
import { loadTemporalConnection } from '../../../src/config/temporal-connection';

describe('the configuration of the command line', () => {
  it('does not need what only a worker needs', () => {
    const config = { webUiUrl: null, staging: null, codecKeys: null, traces: null, traceParent: null };
    expect(loadClientConfig({})).toEqual({ config, warnings: [] });
    expect(loadClientConfig({ LONGHAUL_HEALTH_ADDRESS: 'x' }).config.webUiUrl).toBeNull();
  });

  it('has a place in a bucket for local files, when one is named', () => {
    const env = { LONGHAUL_STAGING: 's3://photos/staging/', LONGHAUL_S3_PATH_STYLE: 'true' };
    expect(loadClientConfig(env).config.staging).toEqual({ bucket: 'photos', prefix: 'staging', isPathStyle: true });
  });

  it.each(['/srv/staging', 's3://', 's3://Photos', 's3://photos/a//b', 'https://photos.example'])(
    'refuses the staging %j',
    (place) => {
      const problem = /LONGHAUL_STAGING is .*; give "s3:\/\/bucket\/prefix"/;
      expect(() => loadClientConfig({ LONGHAUL_STAGING: place })).toThrow(problem);
    },
  );

  it('refuses a Web UI that is no URL', () => {
    expect(() => loadClientConfig({ LONGHAUL_WEB_UI_URL: 'localhost' })).toThrow(
      /LONGHAUL_WEB_UI_URL is "localhost"; give the base URL/,
    );
  });
});

describe('a variable that is only ignored', () => {
  it('is no reason why the configuration of the command line cannot be used: it needs none', () => {
    const env = { LONGHAUL_TASK_QUEUE: 'gpu', LONGHAUL_WEB_UI_URL: 'localhost' };
    const refused = (): unknown => loadClientConfig(env);

    expect(refused).toThrow(ConfigError);
    expect(refused).not.toThrow(/LONGHAUL_TASK_QUEUE/);
    expect(loadClientConfig({ LONGHAUL_TASK_QUEUE: 'gpu' }).warnings).toHaveLength(1);
  });
});

describe('the way to Temporal', () => {
  const noFile = { XDG_CONFIG_HOME: '/nowhere' };

  it('is on this machine unless the environment says otherwise', () => {
    expect(loadTemporalConnection(noFile)).toMatchObject({ address: 'localhost:7233', namespace: 'default' });
  });

  it('is read from Temporal’s own variables', () => {
    const env = { ...noFile, TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_NAMESPACE: 'studio' };

    expect(loadTemporalConnection(env)).toMatchObject({
      address: 'temporal.example:7233',
      namespace: 'studio',
      connectionOptions: { address: 'temporal.example:7233' },
    });
  });

  it('is a configuration error when it cannot be read', () => {
    expect(() => loadTemporalConnection({ ...noFile, TEMPORAL_PROFILE: 'none' })).toThrow(ConfigError);
  });
});
