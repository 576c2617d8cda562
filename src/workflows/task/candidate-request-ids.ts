/** A request id that a callback brought, and since when. Plain JSON: it is handed from run to run. */
export interface Candidate {
  readonly requestId: string;
  readonly sinceMs: number;
  /** When the service said last that it does not know it. */
  readonly unknownAtMs?: number;
}

/** Up to so many are asked about one after the other. */
const few = 10;
/** Of those that the service does not know, the last so many are asked about again: they may be not visible yet. */
const maxUnknown = 50;
/** All together, as JSON, so that they fit into the state of the next run beside the largest input: 9,000 UUIDs. */
const maxBytes = 700_000;
/** What the JSON of one has beside its request id. */
const bytesBesideId = 39;

/** Request ids that callbacks brought before the task had one. None is believed before the service confirms it. */
export class CandidateRequestIds {
  readonly #byId: Map<string, Candidate>;
  #bytes: number;
  #unknownCount: number;
  #arrivedCount = 0;

  constructor(candidates: readonly Candidate[] = []) {
    this.#byId = new Map(candidates.map((candidate) => [candidate.requestId, candidate]));
    this.#bytes = candidates.reduce((sum, { requestId }) => sum + bytesOf(requestId), 0);
    this.#unknownCount = candidates.filter(({ unknownAtMs }) => unknownAtMs !== undefined).length;
  }

  /** How many came so far; a new one is checked at once. */
  get arrived(): number {
    return this.#arrivedCount;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** More than a task's own callbacks bring: somebody sends what is not true. */
  get areMany(): boolean {
    return this.#byId.size > few;
  }

  has(requestId: string): boolean {
    return this.#byId.has(requestId);
  }

  /** Takes one up; a repeated one changes nothing. */
  add(requestId: string, nowMs: number): void {
    if (this.has(requestId)) return;
    while (this.#bytes + bytesOf(requestId) > maxBytes) if (!this.#removeUnknown()) return;
    this.#byId.set(requestId, { requestId, sinceMs: nowMs });
    this.#bytes += bytesOf(requestId);
    this.#arrivedCount += 1;
  }

  remove(requestId: string): void {
    const candidate = this.#byId.get(requestId);
    if (candidate === undefined) return;
    this.#byId.delete(requestId);
    this.#bytes -= bytesOf(requestId);
    if (candidate.unknownAtMs !== undefined) this.#unknownCount -= 1;
  }

  /** The service does not know it (any more): it makes room for those that were not asked about yet. */
  markUnknown(requestId: string, nowMs: number): void {
    const known = this.#byId.get(requestId);
    if (known === undefined) return;
    if (known.unknownAtMs === undefined) this.#unknownCount += 1;
    this.#byId.set(requestId, { ...known, unknownAtMs: nowMs });
    if (this.#unknownCount > maxUnknown) this.#removeUnknown();
  }

  /** The service gave no answer about it: the others come first. */
  postpone(requestId: string): void {
    const candidate = this.#byId.get(requestId);
    if (candidate === undefined) return;
    this.#byId.delete(requestId);
    this.#byId.set(requestId, candidate);
  }

  clear(): void {
    this.#byId.clear();
    this.#bytes = 0;
    this.#unknownCount = 0;
  }

  /** Those that are undecided, in the order of their arrival. */
  list(): readonly Candidate[] {
    return [...this.#byId.values()];
  }

  /** Removes the oldest one that the service does not know; `false`: there is none. */
  #removeUnknown(): boolean {
    // A flood of them must not look through all that are kept, each time.
    if (this.#unknownCount === 0) return false;
    for (const { requestId, unknownAtMs } of this.#byId.values()) {
      if (unknownAtMs === undefined) continue;
      this.remove(requestId);
      return true;
    }
    return false;
  }
}

function bytesOf(requestId: string): number {
  return JSON.stringify(requestId).length + bytesBesideId;
}
