import { inspect } from 'node:util';
import { knownSecrets } from '../core/redact';

const shown = '[redacted]';

/**
 * A value that must not be shown: it prints as `[redacted]` in template strings, JSON and `util.inspect`, and has no
 * readable property. Only {@link Secret.reveal} returns it, and it is removed from every text that this process
 * redacts.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    knownSecrets.add(value);
  }

  /** The value itself: for the header or the client that needs it, at the last moment. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}
