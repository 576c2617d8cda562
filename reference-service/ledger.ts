import type { EndpointName } from './endpoint-name';

/** One request that the service was asked. Holds no header but the correlation, and no secret. */
export interface LedgerEntry {
  /** Counts the requests from 1. */
  readonly number: number;
  /** ISO-8601, UTC. */
  readonly at: string;
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  readonly endpoint: EndpointName | undefined;
  accountId?: string;
  /** The task asked about; for a create, the task that it made, whether or not the caller was told. */
  requestId?: string;
  webAppId?: number;
  /** Value of `X-Svc-Task-Correlation`. */
  correlation?: string;
  objectKey?: string;
  /** HTTP status answered; null while unanswered, and for ever when the connection was cut. */
  status: number | null;
}

/** Whether a correlation is this one, or goes on after it and a slash: `task:a/2` is of `task:a`. */
export function isOf(correlation: string | undefined, whole: string): boolean {
  return correlation === whole || correlation?.startsWith(`${whole}/`) === true;
}

/** Which entries of the ledger are meant; every given field must be equal, and the correlation {@link isOf} that one. */
export type LedgerFilter = Partial<
  Pick<LedgerEntry, 'endpoint' | 'requestId' | 'correlation' | 'webAppId' | 'accountId' | 'objectKey' | 'status'>
>;

/**
 * What the service was asked, in order. Bounded per endpoint, so that many polls never push out the creates; the
 * totals keep counting.
 */
export class Ledger {
  readonly #perEndpointLimit: number;
  readonly #entries = new Map<EndpointName | undefined, LedgerEntry[]>();
  readonly #totals = new Map<EndpointName | undefined, number>();
  #lastNumber = 0;

  constructor(perEndpointLimit: number) {
    this.#perEndpointLimit = perEndpointLimit;
  }

  /** Enters a request and returns its entry, to be completed while it is answered. */
  open(facts: Pick<LedgerEntry, 'method' | 'path' | 'endpoint'>): LedgerEntry {
    this.#lastNumber += 1;
    const entry: LedgerEntry = { number: this.#lastNumber, at: new Date().toISOString(), ...facts, status: null };
    const entries = this.#entries.get(facts.endpoint) ?? [];
    this.#entries.set(facts.endpoint, entries);
    entries.push(entry);
    // Dropping a tenth at a time makes the cost of a shift negligible.
    if (entries.length > this.#perEndpointLimit) entries.splice(0, Math.ceil(this.#perEndpointLimit / 10));
    this.#totals.set(facts.endpoint, this.total(facts.endpoint) + 1);
    return entry;
  }

  /** The remembered entries that match, oldest first. */
  entries(filter: LedgerFilter = {}): readonly LedgerEntry[] {
    const wanted = Object.entries(filter);
    return [...this.#entries.values()]
      .flat()
      .filter((entry) => {
        const fields = new Map(Object.entries(entry));
        return wanted.every(([name, value]) =>
          name === 'correlation' ? isOf(entry.correlation, String(value)) : fields.get(name) === value,
        );
      })
      .sort((a, b) => a.number - b.number);
  }

  /** How many remembered entries match. */
  count(filter: LedgerFilter = {}): number {
    return this.entries(filter).length;
  }

  /** How often an endpoint was asked since the start, forgotten entries included. */
  total(endpoint: EndpointName | undefined): number {
    return this.#totals.get(endpoint) ?? 0;
  }
}
