import { isRecord } from '../core/json';
import { showValue, utf8Bytes } from '../core/text';

/**
 * The largest input of a task or a batch: its JSON in bytes. Temporal refuses a payload above 2 MiB; the largest that is
 * derived from an input has it twice, and for each of {@link maxInputFiles} files some 1.5 KiB: 1.3 MiB.
 *
 * @internal exported for tests
 */
export const maxInputBytes = 256 * 1024;

/** How many files one task takes; see {@link maxInputBytes}. */
export const maxInputFiles = 500;

/** So many problems are reported; a rubbish input may have as many as it has bytes. */
const maxProblems = 40;

/** Why a value is no input whatever its fields are: it cannot be decoded, is no object, or is too large. */
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

/** `Infinity` for what is nested too deeply to be written; 0 for what JSON cannot hold, which the check of its field tells. */
function jsonBytes(value: unknown): number {
  try {
    return utf8Bytes(JSON.stringify(value));
  } catch (error) {
    return error instanceof RangeError ? Infinity : 0;
  }
}

/** The first problems, and how many there are beside them. */
export function firstProblems(problems: readonly string[]): readonly string[] {
  if (problems.length <= maxProblems) return problems;
  return [...problems.slice(0, maxProblems), `There are ${problems.length - maxProblems} more problems.`];
}

/**
 * Stands for a payload that cannot be decoded: another encoding, a client with a codec, broken JSON. Decoding it must not
 * throw: in a workflow that fails every workflow task from then on.
 */
export class Undecodable {
  /** Why it cannot be decoded. */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** What the sender of such a payload can do about it. */
const plainJsonRemedy = 'Send plain JSON (encoding json/plain), without a payload codec';

/** Throws, for the sender of a query or an update to read, when one of its arguments cannot be decoded. */
export function requireDecodable(args: readonly unknown[]): void {
  const bad = args.find((one) => one instanceof Undecodable);
  if (bad instanceof Undecodable) throw new Error(`The argument cannot be decoded: ${bad.reason}. ${plainJsonRemedy}.`);
}
