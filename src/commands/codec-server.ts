import type { Command } from 'commander';
import type { ListeningServer } from '../servers/listening-server';
import { loadCodecServerConfig } from '../config/codec-keys';
import { ConfigError } from '../config/environment';
import { errorCode } from '../core/text';
import type { CodecServerOptions } from '../servers/codec-server';
import { type CommandContext, guardProcess } from './command-context';

const help = `
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

/** Once everything is closed, the process ends by itself or after this time. */
const endAfterStopMs = 10_000;

/** `longhaul codec-server`: decodes payloads for Temporal's Web UI and command line until a signal stops it. */
export function addCodecServerCommand(program: Command, context: CommandContext): void {
  program
    .command('codec-server')
    .description('Decrypts payloads for Temporal’s Web UI and command line, by Temporal’s remote codec protocol.')
    .addHelpText('after', help)
    .action(() => runCodecServer(context));
}

async function runCodecServer(context: CommandContext): Promise<void> {
  const { config, warnings } = loadCodecServerConfig(context.env);
  // Loaded on demand: the other commands need neither server nor log.
  const { createLogger } = await import('../worker/logger.js');

  const logger = createLogger({ level: config.logLevel });
  for (const warning of warnings) logger.warn(warning);
  const guard = guardProcess(context, logger);
  try {
    const server = await start({ config, logger });
    guard.stopOnFault(() => {
      server.close();
    });
    const stopListening = context.onInterrupt((signal) => {
      logger.info({ signal }, 'stopping');
      server.close();
    });
    await server.closed.finally(stopListening);
    logger.info('codec server stopped');
  } finally {
    // What hangs, such as a log that nobody reads, must not keep the stopped process alive.
    context.endWithin(endAfterStopMs);
    guard.end();
  }
}

/** Starts it; an address that cannot be listened at is thrown as an error that names the variable. */
async function start(options: CodecServerOptions): Promise<ListeningServer> {
  const { startCodecServer } = await import('../servers/codec-server.js');
  try {
    return await startCodecServer(options);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) throw error;
    const { host, port } = options.config;
    const reason = errorCode(error) || error.message;
    throw new ConfigError([
      `LONGHAUL_CODEC_ADDRESS is ${JSON.stringify(`${host}:${port}`)}, which cannot be listened at (${reason}); give another address of this machine, or another port.`,
    ]);
  }
}
