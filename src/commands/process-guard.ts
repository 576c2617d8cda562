import type { Logger } from 'pino';
import type { OpenTraces } from '../client/traces/open-traces';
import { ConfigError } from '../config/environment';
import type { TracesConfig } from '../config/traces-config';
import type { LogLevel } from '../config/values';
import { errorCode } from '../core/text';
import { type CommandContext, openProgramTraces } from './command-context';
import { exitCodes } from './exit-code';

/** A worker lets a create finish for up to 60 s and forces its end after 75 s; then it has its connections to close. */
const endAfterFaultMs = 90_000;
/** Once everything is closed, the process ends by itself or after this time: what hangs must not keep it alive. */
const endAfterStopMs = 10_000;

/** What runs until it is stopped. */
interface StartedProcess {
  /** Settles when everything has been answered and is closed. */
  readonly stopped: Promise<void>;
  readonly shutdown: () => void;
  /** The same after an uncaught error. @default shutdown */
  readonly fail?: () => void;
}

/**
 * The guard of a long-running process: an uncaught error is logged without secrets, stops it gracefully, and ends it with
 * a non-zero exit code, by force if that takes too long.
 */
class ProcessGuard {
  readonly #context: CommandContext;
  readonly #logger: Logger;
  readonly #endGuard: () => void;
  #hasFault = false;
  #stop = (): void => undefined;

  constructor(context: CommandContext, logger: Logger) {
    this.#context = context;
    this.#logger = logger;
    this.#endGuard = context.onFault((error, origin) => {
      logger.fatal({ err: error, origin }, 'unexpected error: the process stops');
      context.exitWith(exitCodes.unexpected);
      context.endWithin(endAfterFaultMs);
      this.#hasFault = true;
      this.#stop();
    });
  }

  /** Waits until a signal or an uncaught error, also an earlier one, has stopped the process gracefully. */
  async untilStopped({ stopped, shutdown, fail = shutdown }: StartedProcess): Promise<void> {
    this.#stop = fail;
    if (this.#hasFault) fail();
    const stopListening = this.#context.onInterrupt((signal) => {
      this.#logger.info({ signal }, 'stopping');
      shutdown();
    });
    await stopped.finally(stopListening);
  }

  /** Takes the guard away, once everything is closed. */
  end(): void {
    this.#context.endWithin(endAfterStopMs);
    this.#endGuard();
  }
}

/** What a long-running process has at hand. */
interface ProcessParts {
  readonly logger: Logger;
  readonly guard: ProcessGuard;
  readonly traces: OpenTraces | undefined;
}

/** Runs a long-running process with its log, its traces and its guard, and closes them at its end. */
export async function runProcess(
  context: CommandContext,
  program: string,
  { config, warnings }: { config: { logLevel: LogLevel; traces?: TracesConfig | null }; warnings: readonly string[] },
  run: (parts: ProcessParts) => Promise<void>,
): Promise<void> {
  // Loaded on demand: no other command has a log.
  const { createLogger } = await import('../worker/logger.js');
  const traces = await openProgramTraces(config.traces ?? null, program, (isWorking, reason) => {
    if (isWorking) logger.info('the collector of traces takes spans again');
    else logger.warn({ reason }, 'the collector of traces takes no spans; they are lost until it does');
  });
  const logger = createLogger({ level: config.logLevel, fields: traces?.logFields });
  for (const warning of warnings) logger.warn(warning);
  const guard = new ProcessGuard(context, logger);
  try {
    await run({ logger, guard, traces });
  } finally {
    await traces?.close();
    guard.end();
  }
}

/** Throws what kept a server from listening as an error that names the variable; any other error as it is. */
export function rethrowListenError(error: unknown, address: string): void {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) return;
  const reason = errorCode(error) || error.message;
  const remedy = reason === 'EADDRNOTAVAIL' ? 'give an address of this machine' : 'give another port';
  throw new ConfigError([`${address}, which cannot be listened on (${reason}); ${remedy}.`]);
}
