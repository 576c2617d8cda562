import type { Logger } from 'pino';
import type { CommandContext } from './command-context';
import { exitCodes } from './exit-code';

/** A worker lets a create finish for up to 60 s and forces its end after 75 s; then it has its connections to close. */
const endAfterFaultMs = 90_000;

/** A guard that stands. */
export interface ProcessGuard {
  /** What an error stops from now on, in order; one that came before stops it at once. */
  stopOnFault(stop: () => void): void;
  /** Takes the guard away. */
  end(): void;
}

/**
 * The last line of defence of a process that runs for long: an exception that no code caught, or a rejection that no
 * code handled, is logged through the logger, which takes secrets out; what runs is stopped in order; and the process
 * ends with a non-zero exit code, by force if it takes too long.
 */
export function guardProcess(context: CommandContext, logger: Logger): ProcessGuard {
  let hasFault = false;
  let stopAll = (): void => undefined;
  const end = context.onFault((error, origin) => {
    logger.fatal({ err: error, origin }, 'unexpected error: the process stops');
    context.exitWith(exitCodes.unexpected);
    context.endWithin(endAfterFaultMs);
    hasFault = true;
    stopAll();
  });
  return {
    end,
    stopOnFault: (stop) => {
      stopAll = stop;
      if (hasFault) stop();
    },
  };
}
