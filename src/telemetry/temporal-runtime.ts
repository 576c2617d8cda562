import type { Logger as TemporalLogger, LogLevel as TemporalLevel, LogMetadata } from '@temporalio/common';
import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

let isInstalled = false;

/**
 * Makes Temporal's runtime of this process log through `logger`, its native part included. The runtime exists once per
 * process and cannot be replaced, so only the first call counts; it must come before any connection or worker.
 *
 * Signals of the operating system stay with the caller, which shuts the worker down.
 */
export function installRuntime(logger: Logger): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
    },
  });
}

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

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
    logger[levels[level]](toFields(meta), message);
  };
  return {
    log,
    trace: (message, meta) => {
      log('TRACE', message, meta);
    },
    debug: (message, meta) => {
      log('DEBUG', message, meta);
    },
    info: (message, meta) => {
      log('INFO', message, meta);
    },
    warn: (message, meta) => {
      log('WARN', message, meta);
    },
    error: (message, meta) => {
      log('ERROR', message, meta);
    },
  };
}

function toFields(meta: LogMetadata): Record<string, unknown> {
  const entries = Object.entries<unknown>(meta).filter(([name]) => !dropped.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name === 'error' ? 'err' : name, plain(value)]));
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
