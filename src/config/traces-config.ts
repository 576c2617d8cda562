import { knownSecrets } from '../core/redact';
import { showValue } from '../core/text';
import { parseTraceparent, type TraceContext } from '../core/trace-context';
import { safeDecode } from '../core/uri';
import { type Environment, readText } from './environment';

export interface TracesConfig {
  /** Of a collector, for OTLP over HTTP. */
  readonly url: string;
  /** Beside `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Null: the name of the program. */
  readonly serviceName: string | null;
  /** Which part of the traces that begin in Longhaul is recorded; one that a caller began is as the caller said. */
  readonly sampleRatio: number;
}

const samplers = ['always_on', 'always_off', 'traceidratio'] as const;
const headerVariables = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'];

/** `null`: none. Longhaul's own variable turns them on: `OTEL_EXPORTER_OTLP_ENDPOINT` is often set for a machine. */
export function readTraces({ env, values, problems }: Environment<'LONGHAUL_TRACES_OTLP_URL'>): TracesConfig | null {
  const url = values.LONGHAUL_TRACES_OTLP_URL;
  if (url === null || readText(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  // The exporter reads these headers by itself; they hold keys of the collector.
  const headers = headerVariables.flatMap((name) => (readText(env, name) ?? '').split(','));
  for (const header of headers.filter((one) => one.includes('='))) {
    const value = safeDecode(header.slice(header.indexOf('=') + 1).trim());
    knownSecrets.add(...[value, ...value.split(/\s+/)].filter((word) => word.length >= leastSecretLength));
  }
  const { 'service.name': named, ...resource } = readResource(env, problems);
  // As OpenTelemetry's own endpoint without a path.
  const collector = new URL(url);
  if (collector.pathname === '/') collector.pathname = '/v1/traces';
  return Object.freeze({
    url: collector.href,
    resource: Object.freeze(resource),
    serviceName: readText(env, 'OTEL_SERVICE_NAME') ?? named ?? null,
    sampleRatio: readSampleRatio(env, problems),
  });
}

/** As build servers and scripts give it to their commands; an unreadable one is left out. */
export function readTraceparent(env: NodeJS.ProcessEnv, warnings: string[]): TraceContext | null {
  const text = readText(env, 'TRACEPARENT');
  if (text === undefined) return null;
  const parent = parseTraceparent(text) ?? null;
  if (parent === null) warnings.push(`TRACEPARENT is ${showValue(text)}, which is no W3C traceparent, and is ignored.`);
  return parent;
}

/** Tenants and data sets are headers, too: a text as short as theirs may be part of a request id. */
const leastSecretLength = 16;

function readResource(env: NodeJS.ProcessEnv, problems: string[]): Record<string, string> {
  const text = readText(env, 'OTEL_RESOURCE_ATTRIBUTES') ?? '';
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const pairs = parts.map((part) => [part.slice(0, Math.max(0, part.indexOf('='))), part.slice(part.indexOf('=') + 1)]);
  if (pairs.some(([name = '']) => name.trim() === '')) {
    const remedy = 'give pairs such as "deployment.environment.name=production"';
    problems.push(`OTEL_RESOURCE_ATTRIBUTES cannot be read; ${remedy}.`);
  }
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name.trim(), safeDecode(value.trim())]));
}

function readSampleRatio(env: NodeJS.ProcessEnv, problems: string[]): number {
  const sampler = (readText(env, 'OTEL_TRACES_SAMPLER') ?? 'always_on').replace(/^parentbased_/, '');
  if (!samplers.some((known) => known === sampler)) {
    const given = samplers.map((known) => `"parentbased_${known}"`).join(', ');
    problems.push(`OTEL_TRACES_SAMPLER is ${JSON.stringify(sampler)}; give one of ${given}.`);
  }
  if (sampler !== 'traceidratio') return sampler === 'always_off' ? 0 : 1;
  const text = readText(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  problems.push(`OTEL_TRACES_SAMPLER_ARG is ${JSON.stringify(text)}; give a number from 0 to 1.`);
  return 1;
}
