/** A request id that a callback brought, and since when. Plain JSON: it is handed from run to run. */
export interface Candidate {
  readonly requestId: string;
  readonly sinceMs: number;
}

/** The newest so many are kept: a create has one task, and its callbacks repeat one id. */
const maxCandidates = 50;

/** Request ids that callbacks of the current create brought. None is believed before the service confirms it. */
export class CandidateRequestIds {
  readonly #byId: Map<string, Candidate>;
  #arrivedCount = 0;

  constructor(candidates: readonly Candidate[] = []) {
    this.#byId = new Map(candidates.map((candidate) => [candidate.requestId, candidate]));
  }

  /** How many came so far; a new one is checked at once. */
  get arrived(): number {
    return this.#arrivedCount;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  has(requestId: string): boolean {
    return this.#byId.has(requestId);
  }

  /** Takes one up; a repeated one changes nothing. */
  add(requestId: string, nowMs: number): void {
    if (this.has(requestId)) return;
    this.#byId.set(requestId, { requestId, sinceMs: nowMs });
    this.#arrivedCount += 1;
    const [oldest = ''] = this.#byId.keys();
    if (this.#byId.size > maxCandidates) this.remove(oldest);
  }

  remove(requestId: string): void {
    this.#byId.delete(requestId);
  }

  clear(): void {
    this.#byId.clear();
  }

  /** Those that are undecided, in the order of their arrival. */
  list(): readonly Candidate[] {
    return [...this.#byId.values()];
  }
}
