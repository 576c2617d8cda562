import type { NativeConnection } from '@temporalio/worker';
import type { Command } from 'commander';
import { TemporalUnreachableError } from '../client/connection-errors';
import { toClientError } from '../client/temporal-access';
import { ConfigError } from '../config/environment';
import { loadTemporalConnection, type TemporalConnection } from '../config/temporal-connection';
import { loadWorkerConfig } from '../config/worker-config';
import { errorMessage } from '../core/text';
import { ArchiveError } from '../storage/errors';
import type { RunningWorker, StartWorkerOptions } from '../worker';
import type { CommandContext, ConnectionOptions } from './command-context';
import { rethrowListenError, runProcess } from './process-guard';
import { taskQueueOption } from './shared-options';

const help = `
Reads LONGHAUL_* and TEMPORAL_* (docs/reference/configuration.md) and logs JSON
lines to standard output. The first Ctrl-C or SIGTERM stops it gracefully: it
takes nothing new and lets a create that is on its way finish. An error that no
code caught is logged, stops the worker in the same way, and makes it exit with
1.

Example:
  $ LONGHAUL_SERVICE_URL=https://service.example \\
    LONGHAUL_API_KEY_FILE=/run/secrets/key LONGHAUL_ARCHIVE=/srv/archive \\
    LONGHAUL_INPUT_ROOTS=/srv/photos longhaul worker
`;

interface WorkerCommandOptions extends ConnectionOptions {
  readonly buildId?: string;
}

export function addWorkerCommand(program: Command, context: CommandContext): void {
  program
    .command('worker')
    .description('Runs a worker: it uploads, creates, watches and archives. Run as many as you like.')
    .addOption(taskQueueOption())
    .option('--build-id <id>', 'the version of this build, instead of LONGHAUL_BUILD_ID (docs/guides/versions.md)')
    .addHelpText('after', help)
    .action(async ({ taskQueue, buildId }: WorkerCommandOptions) => {
      const env = buildId === undefined ? context.env : { ...context.env, LONGHAUL_BUILD_ID: buildId };
      await runWorker(context, env, taskQueue);
    });
}

async function runWorker(
  context: CommandContext,
  env: NodeJS.ProcessEnv,
  taskQueue: string | undefined,
): Promise<void> {
  const loaded = loadWorkerConfig(env);
  const temporal = loadTemporalConnection(env);
  await runProcess(context, 'longhaul-worker', loaded, async ({ logger, guard, traces }) => {
    const { config } = loaded;
    // Loaded on demand, here and below: the native SDK and the AWS SDK.
    const { installRuntime } = await import('../worker/temporal-runtime.js');
    installRuntime(logger, config.metrics);
    const connection = await connect(temporal);
    try {
      const { namespace } = temporal;
      await guard.untilStopped(await start({ config, connection, namespace, logger, traces, taskQueue }, temporal));
    } finally {
      await connection.close();
    }
  });
}

/** Throws `TemporalUnreachableError` with the address. */
async function connect(temporal: TemporalConnection): Promise<NativeConnection> {
  const { NativeConnection } = await import('@temporalio/worker');
  try {
    return await NativeConnection.connect(temporal.connectionOptions);
  } catch (error) {
    // The native SDK prints its error as Rust does; the operating system's message is inside.
    const text = errorMessage(error);
    const reason = /message: "([^"]+)"/.exec(text)?.[1] ?? text;
    throw new TemporalUnreachableError(temporal.address, reason, { cause: error });
  }
}

/** Throws known causes of a failed start as errors that name the remedy. */
async function start(options: StartWorkerOptions, temporal: TemporalConnection): Promise<RunningWorker> {
  const { startWorker } = await import('../worker.js');
  try {
    return await startWorker(options);
  } catch (error) {
    // The worker itself listens only for its health.
    const { health } = options.config;
    rethrowListenError(error, `LONGHAUL_HEALTH_ADDRESS is "${health?.host}", port ${health?.port}`);
    if (error instanceof ArchiveError) throw new ConfigError([`LONGHAUL_ARCHIVE: ${error.message}`]);
    throw toClientError(error, { ...temporal, workflowId: '' });
  }
}
