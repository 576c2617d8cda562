import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../config/variables';
import { scrubLine } from './scrubber';

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** The least important level that is written. */
  readonly level: LogLevel;
  /** Where lines go. @default standard output */
  readonly destination?: DestinationStream;
}

/** A line that cannot be written (a full disk, a pipe without a reader) is lost; it must not end or stop the process. */
function standardOutput(): DestinationStream {
  return pino.destination({ fd: 1, sync: true }).on('error', () => undefined);
}

/**
 * A log of one JSON object a line: `level` as a word, `time` as ISO-8601, `msg`, and fields such as `workflowId` and
 * `requestId`. No line leaves it before it went through the {@link scrubLine scrubber}.
 */
export function createLogger({ level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err },
    hooks: { streamWrite: scrubLine },
  };
  return pino(options, destination ?? standardOutput());
}
