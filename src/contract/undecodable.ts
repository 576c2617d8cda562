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
export const plainJsonRemedy = 'Send plain JSON (encoding json/plain), without a payload codec';

/** Throws, for the sender of a query or an update to read, when one of its arguments cannot be decoded. */
export function requireDecodable(args: readonly unknown[]): void {
  const bad = args.find((one) => one instanceof Undecodable);
  if (bad instanceof Undecodable) throw new Error(`The argument cannot be decoded: ${bad.reason}. ${plainJsonRemedy}.`);
}
