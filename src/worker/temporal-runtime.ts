import type { Logger as TemporalLogger, LogLevel as TemporalLevel, LogMetadata, MetricMeter } from '@temporalio/common';
import { makeTelemetryFilterString, Runtime, type TelemetryOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ConfigError } from '../config/environment';
import type { MetricsConfig } from '../config/values';
import { type Metric, metrics } from '../contract/metrics';
import { errorMessage } from '../core/text';

let installed: Runtime | undefined;

/**
 * Makes Temporal's runtime of this process log through `logger`, its native part included, and export the metrics of the
 * SDK and of Longhaul; returns the meter that records them. The runtime exists once per process and cannot be replaced, so
 * only the first call counts; it must come before any connection or worker. Throws {@link ConfigError} when the metrics'
 * address cannot be had.
 *
 * Signals of the operating system stay with the caller, which shuts the worker down.
 */
export function installRuntime(logger: Logger, exported: MetricsConfig | null = null): MetricMeter {
  installed ??= install(logger, exported);
  return Runtime.instance().metricMeter;
}

/**
 * Ends the runtime that {@link installRuntime} made, and exports what it has counted. The SDK does so only after a worker or a
 * native connection: otherwise the runtime's threads keep the process alive.
 */
export async function closeRuntime(): Promise<void> {
  const runtime = installed;
  installed = undefined;
  await runtime?.shutdown();
}

function install(logger: Logger, exported: MetricsConfig | null): Runtime {
  try {
    return Runtime.install({
      logger: temporalLogger(logger),
      shutdownSignals: [],
      telemetryOptions: {
        logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
        ...(exported !== null && { metrics: metricsOptions(exported) }),
      },
    });
  } catch (error) {
    if (exported?.kind !== 'prometheus') throw error;
    const where = `LONGHAUL_METRICS is "${exported.address}"`;
    throw new ConfigError([`${where}, which cannot be listened on (${errorMessage(error)}); give another port.`]);
  }
}

/** The SDK's own is a second: as often it would warn while the collector is away. */
const otlpInterval = '15 seconds';

function metricsOptions(exported: MetricsConfig): NonNullable<TelemetryOptions['metrics']> {
  const buckets: [string, number[]][] = Object.values<Metric>(metrics).flatMap((metric) =>
    metric.buckets !== undefined ? [[metric.name, [...metric.buckets]]] : [],
  );
  const common = { useSecondsForDurations: true, histogramBucketOverrides: Object.fromEntries(buckets) };
  if (exported.kind === 'otlp') {
    const { url } = exported;
    // A collector's port for gRPC has no path.
    return { otel: { ...common, url, http: new URL(url).pathname !== '/', metricsExportInterval: otlpInterval } };
  }
  const { address: bindAddress } = exported;
  return { prometheus: { ...common, bindAddress, countersTotalSuffix: true, unitSuffix: true } };
}

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** What the SDK warns of in every healthy worker here: the queues of activities have no workflows. */
const expected = new Set([
  'No workflows registered, not polling for workflow tasks',
  'No Nexus services registered, not polling for Nexus tasks',
]);

/** The SDK adds these for itself; a nanosecond count is a BigInt, which no JSON can hold. */
const dropped = new Set(['timestampNanos']);

/**
 * Temporal's log as lines of Longhaul's: what the SDK knows of a message (`workflowId`, `runId`, `activityType`,
 * `attempt`, `taskQueue`, …) and what workflow code adds (`requestId`, `status`) become fields, its error becomes
 * `err`.
 *
 * @internal exported for tests
 */
export function temporalLogger(logger: Logger): TemporalLogger {
  const log = (level: TemporalLevel, message: string, meta: LogMetadata = {}): void => {
    const fields: Record<string, unknown> = {};
    for (const [name, value] of Object.entries<unknown>(meta)) {
      if (dropped.has(name)) continue;
      fields[name === 'error' ? 'err' : name] = typeof value === 'bigint' ? value.toString() : value;
    }
    logger[expected.has(message) ? 'debug' : levels[level]](fields, message);
  };
  const at = (level: TemporalLevel) => log.bind(undefined, level);
  return { log, trace: at('TRACE'), debug: at('DEBUG'), info: at('INFO'), warn: at('WARN'), error: at('ERROR') };
}
