import { isRecord } from '../core/json';
import { showValue, utf8Bytes } from '../core/text';

/** Bytes of JSON: a payload may double it and add 1.5 KiB a file; Temporal takes 2 MiB. @internal exported for tests */
export const maxInputBytes = 256 * 1024;

export const maxInputFiles = 500;

const maxProblems = 40;

/** Why a value is no input, whatever its fields: it cannot be decoded, is no object, or is too large. */
export function unusableInput(input: unknown, wanted: string): string | undefined {
  if (input === undefined) return `There is no input; give ${wanted}.`;
  if (input instanceof Undecodable) return `The input cannot be decoded: ${input.reason}. ${plainJsonRemedy}.`;
  if (ArrayBuffer.isView(input)) return `The input is binary, not an object; give ${wanted}. ${plainJsonRemedy}.`;
  const bytes = jsonBytes(input);
  if (bytes === Infinity) return 'The input is nested too deeply to be written as JSON.';
  if (bytes > maxInputBytes) {
    return `The input has ${bytes} bytes as JSON. At most ${maxInputBytes} fit into Temporal’s history; give long texts as files ({ "file": … }).`;
  }
  return isRecord(input) ? undefined : `The input ${showValue(input)} is not an object; give ${wanted}.`;
}

/** `Infinity`: nested too deeply to be written; 0: JSON cannot hold it, which the check of its field tells. */
function jsonBytes(value: unknown): number {
  try {
    return utf8Bytes(JSON.stringify(value));
  } catch (error) {
    return error instanceof RangeError ? Infinity : 0;
  }
}

export function firstProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= maxProblems) return problems;
  return [...problems.slice(0, maxProblems), `There are ${problems.length - maxProblems} more problems.`];
}

/** A payload that cannot be decoded. Decoding must not throw: every workflow task would fail from then on. */
export class Undecodable {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

const plainJsonRemedy = 'Send plain JSON (encoding json/plain), without a payload codec';

/** Throws, for the sender of a query or an update to read, when one of its arguments cannot be decoded. */
export function requireDecodable(args: readonly unknown[]): void {
  const bad = args.find((one) => one instanceof Undecodable);
  if (bad instanceof Undecodable) throw new Error(`The argument cannot be decoded: ${bad.reason}. ${plainJsonRemedy}.`);
}
