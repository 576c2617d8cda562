import type { Command } from 'commander';
import { loadTemporalConnection } from '../config/temporal-connection';
import { loadWorkerConfig } from '../config/worker-config';
import type { CommandContext, ConnectionOptions } from './command-context';
import { guardProcess } from './process-guard';
import { taskQueueOption } from './shared-options';

const help = `
Reads LONGHAUL_* and TEMPORAL_* (docs/configuration.md) and logs JSON lines to
standard output. The first Ctrl-C or SIGTERM stops it gracefully: it takes
nothing new and lets a create that is on its way finish. An error that no code
caught is logged, stops the worker in the same way, and makes it exit with 1.

Example:
  $ LONGHAUL_SERVICE_URL=https://service.example \\
    LONGHAUL_API_KEY_FILE=/run/secrets/key LONGHAUL_ARCHIVE=/srv/archive \\
    LONGHAUL_INPUT_ROOTS=/srv/photos longhaul worker
`;

/** Once everything is closed, the process ends by itself or after this time. */
const endAfterStopMs = 10_000;

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
  const guard = guardProcess(context, logger);
  const connection = await connectNative(temporal);
  try {
    const { namespace } = temporal;
    const worker = await startWorker(
      { config, connection, namespace, logger, ...(taskQueue !== undefined && { taskQueue }) },
      temporal,
    );
    guard.stopOnFault(() => {
      worker.fail();
    });
    const stopListening = context.onInterrupt((signal) => {
      logger.info({ signal }, 'stopping');
      worker.shutdown();
    });
    await worker.stopped.finally(stopListening);
  } finally {
    await connection.close();
    // What hangs in a file system or a socket keeps no process alive that has stopped.
    context.endWithin(endAfterStopMs);
    guard.end();
  }
}
