import type { Logger as TemporalLogger, LogLevel as TemporalLevel, LogMetadata, MetricMeter } from '@temporalio/common';
import { makeTelemetryFilterString, Runtime, type TelemetryOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { ConfigError } from '../config/environment';
import type { MetricsConfig } from '../config/values';
import { type Metric, metrics } from '../contract/metrics';
import { errorMessage } from '../core/text';

let installed: Runtime | undefined;

/**
 * Temporal's runtime logs through `logger` and exports all metrics; returns their meter. Once per process: only the
 * first call counts, before any connection or worker. Signals of the operating system stay with the caller. Throws
 * {@link ConfigError} when the metrics' address cannot be had.
 */
export function installRuntime(logger: Logger, exported: MetricsConfig | null = null): MetricMeter {
  installed ??= install(logger, exported);
  return Runtime.instance().metricMeter;
}

/**
 * Also exports what it counted. The SDK ends it only after a worker or a connection: its threads keep a process alive.
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
      // By this a worker that is stopped or hangs is told from one that waits for work (client/workers.ts).
      workerHeartbeatInterval: '20 seconds',
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

/** At the SDK's own second, it would warn as often while the collector is away. */
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

/** The SDK's own; nanoseconds are a BigInt, which JSON cannot hold. */
const dropped = new Set(['timestampNanos']);

/**
 * What the SDK knows (`workflowId`, `runId`, `activityType`, `attempt`, …) and what workflow code adds (`requestId`,
 * `status`) become fields, its error becomes `err`. @internal exported for tests
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
