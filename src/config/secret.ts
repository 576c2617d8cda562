import { inspect } from 'node:util';
import { knownSecrets } from '../core/redact';

const shown = '[redacted]';

/** Prints as `[redacted]`, also in JSON and `util.inspect`; this process removes it from every text that it redacts. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    knownSecrets.add(value);
  }

  /** For the header or the client that needs it, at the last moment. */
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
