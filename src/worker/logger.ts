import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import type { LogLevel } from '../config/values';
import { parseJson } from '../core/json';
import { redactJson } from '../core/redact';
import { boundedText } from '../core/text';

export interface LoggerOptions {
  /** The least important one that is written. */
  readonly level: LogLevel;
  /** @default standard output */
  readonly destination?: DestinationStream;
  /** Fields of every line, as they are where it is written. @default none */
  readonly fields?: () => object;
}

/** Lines that are buffered for a slow reader; more are lost. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** In the background: with a full disk or a stalled reader, lines are lost and the process goes on. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: false, maxLength: maxWaitingBytes });
  let isFailing = false;
  output
    .on('error', () => {
      isFailing = true;
    })
    .on('write', () => {
      isFailing = false;
    });
  const flush = output.flushSync.bind(output);
  // Pino calls it at exit. On a full disk it would try again and again, and no timer could end that.
  output.flushSync = () => {
    if (!isFailing) flush();
  };
  return output;
}

/** JSON lines: `level` as a word, `time` as ISO-8601, `msg`, and fields. Each is redacted by {@link scrubLine}. */
export function createLogger({ level, destination, fields }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.err },
    hooks: { streamWrite: scrubLine },
    mixin: fields,
  };
  return pino(options, destination ?? standardOutput());
}

/** Longest text of one field; a stack is shorter. */
const maxTextLength = 8_192;

/** A second layer: known secrets, what has their shape, fields named like a credential. @internal exported for tests */
export function scrubLine(line: string): string {
  // A line that is not JSON is logged as text.
  const scrubbed = redactJson(parseJson(line) ?? { msg: line }, (text) => boundedText(text, maxTextLength));
  return `${JSON.stringify(scrubbed)}\n`;
}
