import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../config/variables';
import { parseJson } from '../domain/json';
import { redactJson } from '../domain/redact';
import { boundedText } from '../domain/safe-text';

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** The least important level that is written. */
  readonly level: LogLevel;
  /** Where lines go. @default standard output */
  readonly destination?: DestinationStream;
}

/** Lines that are buffered for a slow reader; more are lost. */
const maxWaitingBytes = 16 * 1024 * 1024;

/**
 * Standard output, written in the background: a disk that is full or a reader that stands still costs lines, and must
 * neither end the process nor hold up its work.
 */
function standardOutput(): DestinationStream {
  return pino.destination({ fd: 1, sync: false, maxLength: maxWaitingBytes }).on('error', () => undefined);
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

/** Longest text of one field; a stack is shorter. */
const maxTextLength = 8_192;

/**
 * Takes secrets out of a line of JSON: known values, whatever has the shape of one, and fields that are named like a
 * credential. The second layer: nothing of this should be logged at all.
 *
 * @internal exported for tests
 */
export function scrubLine(line: string): string {
  // What is no JSON is logged as text, whatever it was.
  return `${JSON.stringify(redactJson(parseJson(line) ?? { msg: line }, bounded))}\n`;
}

function bounded(text: string): string {
  return boundedText(text, maxTextLength);
}
