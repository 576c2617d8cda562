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
/** Once everything is closed, what hangs must not keep the process alive for longer. */
const endAfterStopMs = 10_000;

interface StartedProcess {
  /** Settles when everything has been answered and is closed. */
  readonly stopped: Promise<void>;
  readonly shutdown: () => void;
  /** After an uncaught error. @default shutdown */
  readonly fail?: () => void;
}

/** Logs an uncaught error without secrets, stops gracefully, or by force if that takes too long; exits non-zero. */
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

  /** Settles once a signal or an uncaught error, also an earlier one, has stopped the process gracefully. */
  async untilStopped({ stopped, shutdown, fail = shutdown }: StartedProcess): Promise<void> {
    this.#stop = fail;
    if (this.#hasFault) fail();
    const stopListening = this.#context.onInterrupt((signal) => {
      this.#logger.info({ signal }, 'stopping');
      shutdown();
    });
    await stopped.finally(stopListening);
  }

  /** Called once everything is closed. */
  end(): void {
    this.#context.endWithin(endAfterStopMs);
    this.#endGuard();
  }
}

interface ProcessParts {
  readonly logger: Logger;
  readonly guard: ProcessGuard;
  readonly traces: OpenTraces | undefined;
}

/** Closes the log, the traces and the guard at its end. */
export async function runProcess(
  context: CommandContext,
  program: string,
  { config, warnings }: { config: { logLevel: LogLevel; traces?: TracesConfig | null }; warnings: readonly string[] },
  run: (parts: ProcessParts) => Promise<void>,
): Promise<void> {
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

/** Throws a failure to listen as an error that names the variable; returns for any other error. */
export function rethrowListenError(error: unknown, address: string): void {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'listen')) return;
  const reason = errorCode(error) || error.message;
  const remedy = reason === 'EADDRNOTAVAIL' ? 'give an address of this machine' : 'give another port';
  throw new ConfigError([`${address}, which cannot be listened on (${reason}); ${remedy}.`]);
}
