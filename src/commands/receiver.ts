import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { connectTemporal } from '../client/connect-temporal';
import { toClientError } from '../client/temporal-access';
import { loadReceiverConfig } from '../config/callback-config';
import { ConfigError } from '../config/environment';
import type { MetricsConfig } from '../config/values';
import { loadTemporalConnection, type TemporalConnection } from '../config/temporal-connection';
import { errorCode } from '../core/text';
import type { RunningReceiver, StartReceiverOptions } from '../receiver';
import { type CommandContext, guardProcess, logTraces, openProgramTraces, type ProcessGuard } from './command-context';

const help = `
Reads LONGHAUL_CALLBACK_* and TEMPORAL_* (docs/reference/configuration.md) and
logs JSON lines to standard output. It needs no key of the service and keeps
nothing: run several behind one address if you like. Tasks get on without it, by
polling. The first Ctrl-C or SIGTERM stops it once every call has its answer.

Example:
  $ LONGHAUL_CALLBACK_URL=https://longhaul.example/callback \\
    LONGHAUL_CALLBACK_TOKEN_FILE=/run/secrets/callback-token \\
    LONGHAUL_CALLBACK_PORT=8080 longhaul receiver
`;

/** Once everything is closed, the process ends by itself or after this time. */
const endAfterStopMs = 10_000;

/** `longhaul receiver`: takes the service's callbacks until a signal stops it. */
export function addReceiverCommand(program: Command, context: CommandContext): void {
  program
    .command('receiver')
    .description('Takes the calls by which the service reports the end of a task, and signals the task’s workflow.')
    .addHelpText('after', help)
    .action(() => runReceiver(context));
}

async function runReceiver(context: CommandContext): Promise<void> {
  const { config, warnings } = loadReceiverConfig(context.env);
  const temporal = loadTemporalConnection(context.env);
  // Loaded on demand: the other commands need neither server nor log.
  const { createLogger } = await import('../worker/logger.js');

  const traces = await openProgramTraces(
    config.traces,
    'longhaul-receiver',
    logTraces(() => logger),
  );
  const logger = createLogger({ level: config.logLevel, fields: traces?.logFields });
  for (const warning of warnings) logger.warn(warning);
  const meter = await openMeter(logger, config.metrics);
  const guard = guardProcess(context, logger);
  try {
    const isTraced = traces !== undefined;
    await serve(context, { config, logger, metricMeter: meter.metricMeter, isTraced }, temporal, guard);
  } finally {
    await meter.close();
    await traces?.close();
    // What hangs must not keep the stopped process alive.
    context.endWithin(endAfterStopMs);
    guard.end();
  }
}

/** Takes calls until a signal or a fault stops it, and every call has its answer. */
async function serve(
  context: CommandContext,
  options: Omit<StartReceiverOptions, 'connection' | 'namespace'>,
  temporal: TemporalConnection,
  guard: ProcessGuard,
): Promise<void> {
  const connection = await connectTemporal(temporal);
  try {
    const receiver = await start({ ...options, connection, namespace: temporal.namespace }, temporal);
    guard.stopOnFault(() => {
      receiver.shutdown();
    });
    const stopListening = context.onInterrupt((signal) => {
      options.logger.info({ signal }, 'stopping');
      receiver.shutdown();
    });
    await receiver.stopped.finally(stopListening);
  } finally {
    await connection.close();
  }
}

/** Only a receiver that exports metrics loads Temporal's native runtime, which lives until `close`. */
async function openMeter(
  logger: Logger,
  metrics: MetricsConfig | null,
): Promise<{ readonly metricMeter: MetricMeter; close(): Promise<void> }> {
  if (metrics === null) return { metricMeter: noopMetricMeter, close: () => Promise.resolve() };
  const { closeRuntime, installRuntime } = await import('../worker/temporal-runtime.js');
  return { metricMeter: installRuntime(logger, metrics), close: closeRuntime };
}

/** Starts a receiver; known causes of a failed start are thrown as errors that name the remedy. */
async function start(options: StartReceiverOptions, temporal: TemporalConnection): Promise<RunningReceiver> {
  const { startReceiver } = await import('../receiver.js');
  try {
    return await startReceiver(options);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error && error.syscall === 'listen') {
      const reason = errorCode(error) || error.message;
      throw new ConfigError([
        `LONGHAUL_CALLBACK_PORT is ${options.config.port}, which cannot be listened on (${reason}); give another port.`,
      ]);
    }
    throw toClientError(error, { ...temporal, workflowId: '' });
  }
}
