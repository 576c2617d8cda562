import type { Command } from 'commander';
import { loadTemporalConnection } from '../config/temporal-connection';
import { loadWorkerConfig } from '../config/worker-config';
import type { CommandContext, ConnectionOptions } from './command-context';
import { taskQueueOption } from './shared-options';

const help = `
Reads LONGHAUL_* and TEMPORAL_* (docs/configuration.md) and logs JSON lines to
standard output. The first Ctrl-C or SIGTERM stops it gracefully: it takes
nothing new and hears out a create that is on its way.

Example:
  $ LONGHAUL_SERVICE_URL=https://service.example \\
    LONGHAUL_API_KEY_FILE=/run/secrets/key LONGHAUL_ARCHIVE=/srv/archive \\
    LONGHAUL_INPUT_ROOTS=/srv/photos longhaul worker
`;

/** `longhaul worker`: runs a worker until it is told to stop. */
export function addWorkerCommand(program: Command, context: CommandContext): void {
  program
    .command('worker')
    .summary('run a worker')
    .description('Runs a worker: it uploads, creates, watches and archives. Run as many as you like.')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action(async ({ taskQueue }: ConnectionOptions) => {
      await runWorker(context, taskQueue);
    });
}

async function runWorker(context: CommandContext, taskQueue: string | undefined): Promise<void> {
  const { config, warnings } = loadWorkerConfig(context.env);
  const temporal = loadTemporalConnection(context.env);
  // Loaded here and nowhere else: the other commands must not wait for the native SDK or the AWS SDK.
  const { connectNative, createLogger, installRuntime, startWorker } = await import('./worker-parts.js');

  const logger = createLogger({ level: config.logLevel });
  for (const warning of warnings) logger.warn(warning);
  installRuntime(logger);
  const connection = await connectNative(temporal);
  try {
    const { namespace } = temporal;
    const worker = await startWorker(
      { config, connection, namespace, logger, ...(taskQueue !== undefined && { taskQueue }) },
      temporal,
    );
    const stopListening = context.onInterrupt((signal) => {
      logger.info({ signal }, 'stopping');
      worker.shutdown();
    });
    await worker.stopped.finally(stopListening);
  } finally {
    await connection.close();
  }
}
