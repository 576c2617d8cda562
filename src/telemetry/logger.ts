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
  return destination === undefined ? pino(options) : pino(options, destination);
}
