import { loadClientConfig } from '../../../src/config/client-config';
import type { TracesConfig } from '../../../src/config/traces-config';
import { isRequestId } from '../../../src/core/create-outcome';
import { redact } from '../../../src/core/redact';

const url = 'http://collector:4318';

function tracesOf(env: NodeJS.ProcessEnv): TracesConfig | null {
  return loadClientConfig(env).config.traces;
}

describe('the configuration of traces', () => {
  it('has none unless Longhaul’s own variable says so', () => {
    expect(tracesOf({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'otlp' })).toBeNull();
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: url, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  });

  it('goes to /v1/traces of a collector, unless a path is given', () => {
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: url })).toEqual({
      url: `${url}/v1/traces`,
      resource: {},
      serviceName: null,
      sampleRatio: 1,
    });
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: `${url}/otlp` })?.url).toBe(`${url}/otlp`);
  });

  it('reads the name of the service, the resource and the sampler from OpenTelemetry’s own variables', () => {
    const resource = { OTEL_RESOURCE_ATTRIBUTES: 'zone=north,service.name=photos,owner=a%20b' };
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: url, ...resource })).toMatchObject({
      serviceName: 'photos',
      resource: { zone: 'north', owner: 'a b' },
    });
    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: url, ...sampler, OTEL_SERVICE_NAME: 'mine' })).toMatchObject({
      serviceName: 'mine',
      sampleRatio: 0.25,
    });
    expect(tracesOf({ LONGHAUL_TRACES_OTLP_URL: url, OTEL_TRACES_SAMPLER: 'always_off' })?.sampleRatio).toBe(0);
  });

  it.each([
    [{ LONGHAUL_TRACES_OTLP_URL: 'collector:4318' }, /LONGHAUL_TRACES_OTLP_URL is "collector:4318"; give the URL/],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER is "jaeger_remote"; give one of/],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' }, /_ARG is "7"; give a number from 0 to 1/],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'zone' }, /OTEL_RESOURCE_ATTRIBUTES cannot be read; give pairs/],
  ])('refuses %j', (env, problem) => {
    expect(() => loadClientConfig({ LONGHAUL_TRACES_OTLP_URL: url, ...env })).toThrow(problem);
  });

  it('knows the keys of a collector as secrets', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-key-0815,x-team=collector-team-4711' };
    loadClientConfig({ LONGHAUL_TRACES_OTLP_URL: url, ...env });
    const text = 'said collector-key-0815 and collector-team-4711';
    expect(redact(text)).toBe('said [redacted] and [redacted]');
  });

  it('takes no short header for a secret: a tenant’s number may be part of the request id of a paid task', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'X-Scope-OrgID=1001,x-dataset=longhaul' };
    loadClientConfig({ LONGHAUL_TRACES_OTLP_URL: url, ...env });
    expect(isRequestId('9f1001ac-77aa-4b1e-9d7e-2f1c5a8e6b10')).toBe(true);
    expect(redact('create longhaul task')).toBe('create longhaul task');
  });

  it('ignores a TRACEPARENT that cannot be read, with a warning that names it', () => {
    const { config, warnings } = loadClientConfig({ LONGHAUL_TRACES_OTLP_URL: url, TRACEPARENT: 'nonsense' });
    expect(config.traceParent).toBeNull();
    expect(warnings).toEqual([expect.stringMatching(/^TRACEPARENT is "nonsense", which is no W3C traceparent/)]);
    expect(loadClientConfig({ TRACEPARENT: 'nonsense' }).warnings).toEqual([]);
  });
});
