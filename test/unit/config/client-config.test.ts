import { loadClientConfig } from '../../../src/config/client-config';
import { ConfigError } from '../../../src/config/environment';

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
