import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { loadReceiverConfig } from '../config/callback-config';
import { loadCodecServerConfig } from '../config/codec-keys';
import { loadTemporalConnection, type TemporalConnection } from '../config/temporal-connection';
import type { MetricsConfig } from '../config/values';
import type { RunningReceiver, StartReceiverOptions } from '../receiver';
import type { CommandContext } from './command-context';
import { rethrowListenError, runProcess } from './process-guard';

const receiverHelp = `
Reads LONGHAUL_CALLBACK_* and TEMPORAL_* (docs/reference/configuration.md) and
logs JSON lines to standard output. It needs no key of the service and keeps
nothing: run several behind one address if you like. Tasks get on without it, by
polling. The first Ctrl-C or SIGTERM stops it once every call has its answer.

Example:
  $ LONGHAUL_CALLBACK_URL=https://longhaul.example/callback \\
    LONGHAUL_CALLBACK_TOKEN_FILE=/run/secrets/callback-token \\
    LONGHAUL_CALLBACK_PORT=8080 longhaul receiver
`;

export function addReceiverCommand(program: Command, context: CommandContext): void {
  program
    .command('receiver')
    .description('Takes the calls by which the service reports the end of a task, and signals the task’s workflow.')
    .addHelpText('after', receiverHelp)
    .action(() => runReceiver(context));
}

async function runReceiver(context: CommandContext): Promise<void> {
  const loaded = loadReceiverConfig(context.env);
  const temporal = loadTemporalConnection(context.env);
  await runProcess(context, 'longhaul-receiver', loaded, async ({ logger, guard, traces }) => {
    const { config } = loaded;
    const { connectTemporal } = await import('../client/connect-temporal.js');
    const { metricMeter, close } = await openMeter(logger, config.metrics);
    try {
      const connection = await connectTemporal(temporal);
      try {
        const options = { config, logger, metricMeter, connection, isTraced: traces !== undefined };
        await guard.untilStopped(await startReceiver({ ...options, namespace: temporal.namespace }, temporal));
      } finally {
        await connection.close();
      }
    } finally {
      await close();
    }
  });
}

/** Only with metrics: it loads Temporal's native runtime, which lives until `close`. */
async function openMeter(
  logger: Logger,
  metrics: MetricsConfig | null,
): Promise<{ readonly metricMeter: MetricMeter; readonly close: () => Promise<void> }> {
  if (metrics === null) return { metricMeter: noopMetricMeter, close: () => Promise.resolve() };
  const { closeRuntime, installRuntime } = await import('../worker/temporal-runtime.js');
  return { metricMeter: installRuntime(logger, metrics), close: closeRuntime };
}

/** Throws known causes of a failed start as errors that name the remedy. */
async function startReceiver(options: StartReceiverOptions, temporal: TemporalConnection): Promise<RunningReceiver> {
  const { startReceiver: start } = await import('../receiver.js');
  const { toClientError } = await import('../client/temporal-access.js');
  try {
    return await start(options);
  } catch (error) {
    rethrowListenError(error, `LONGHAUL_CALLBACK_PORT is ${options.config.port}`);
    throw toClientError(error, { ...temporal, workflowId: '' });
  }
}

const codecServerHelp = `
Reads LONGHAUL_CODEC_* (docs/guides/encryption.md) and logs JSON lines to
standard output: who asked for how many payloads, and nothing of what they hold.
It needs neither Temporal nor the service. It decodes only, unless
LONGHAUL_CODEC_ENCODE is "true". The first Ctrl-C or SIGTERM stops it once every
call has its answer.

Example:
  $ LONGHAUL_CODEC_KEYS_FILE=/run/secrets/codec-keys.json \\
    LONGHAUL_CODEC_ORIGINS=http://localhost:8233 longhaul codec-server
  $ temporal workflow show --workflow-id task:order-17 \\
    --codec-endpoint http://127.0.0.1:8081
`;

export function addCodecServerCommand(program: Command, context: CommandContext): void {
  program
    .command('codec-server')
    .description('Decrypts payloads for Temporal’s Web UI and command line, by Temporal’s remote codec protocol.')
    .addHelpText('after', codecServerHelp)
    .action(() => runCodecServer(context));
}

async function runCodecServer(context: CommandContext): Promise<void> {
  const loaded = loadCodecServerConfig(context.env);
  await runProcess(context, 'longhaul-codec-server', loaded, async ({ logger, guard }) => {
    const { config } = loaded;
    const { startCodecServer } = await import('../servers/codec-server.js');
    const server = await startCodecServer({ config, logger }).catch((error: unknown) => {
      rethrowListenError(error, `LONGHAUL_CODEC_ADDRESS is ${JSON.stringify(`${config.host}:${config.port}`)}`);
      throw error;
    });
    const shutdown = (): void => {
      server.close();
    };
    await guard.untilStopped({ stopped: server.closed, shutdown });
    logger.info('codec server stopped');
  });
}
