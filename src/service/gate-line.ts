/** A task that wants to send its create. */
export interface Asker {
  /** The same each time it asks. */
  readonly id: string;
  /** When it asked for the first time; the earlier, the nearer its turn. */
  readonly sinceMs: number;
}

interface Expected extends Asker {
  readonly dueMs: number;
}

/** Who does not come back this long after its time has most likely gone, or asks at another worker now. */
const lateMs = 2_000;

/**
 * The tasks that were told to come back, in the order in which they first asked. They bring that moment with them, so
 * one that was forgotten here, or that comes from another worker, has its old place again.
 */
export class GateLine {
  readonly #expected = new Map<string, Expected>();

  /** How many tasks are still to come that asked before this one. */
  ahead(asker: Asker, nowMs: number): number {
    this.#forgetLate(nowMs);
    let count = 0;
    for (const other of this.#expected.values()) if (isBefore(other, asker)) count += 1;
    return count;
  }

  /** It was told to come back then. */
  expect(asker: Asker, dueMs: number): void {
    this.#expected.set(asker.id, { ...asker, dueMs });
  }

  /** It waits no longer. */
  leave({ id }: Asker): void {
    this.#expected.delete(id);
  }

  /** How many are expected. */
  length(nowMs: number): number {
    this.#forgetLate(nowMs);
    return this.#expected.size;
  }

  #forgetLate(nowMs: number): void {
    for (const { id, dueMs } of this.#expected.values()) if (dueMs + lateMs < nowMs) this.#expected.delete(id);
  }
}

/** Two of the same moment stand in the order of their ids. */
function isBefore(one: Asker, other: Asker): boolean {
  return one.sinceMs === other.sinceMs ? one.id < other.id : one.sinceMs < other.sinceMs;
}
