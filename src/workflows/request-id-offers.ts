/** More than this nobody needs: of a task's callbacks all name the same id. */
const maxOffers = 10;

/** Request ids that callbacks brought before the task had one. None is believed before the service confirms it. */
export class RequestIdOffers {
  private readonly sinceMsById = new Map<string, number>();
  private arrivedCount = 0;

  /** How many came so far; a new one is looked at at once. */
  get arrived(): number {
    return this.arrivedCount;
  }

  get isEmpty(): boolean {
    return this.sinceMsById.size === 0;
  }

  has(requestId: string): boolean {
    return this.sinceMsById.has(requestId);
  }

  /** Takes one up; a repeated one changes nothing. */
  add(requestId: string, nowMs: number): void {
    if (this.has(requestId) || this.sinceMsById.size >= maxOffers) return;
    this.sinceMsById.set(requestId, nowMs);
    this.arrivedCount += 1;
  }

  drop(requestId: string): void {
    this.sinceMsById.delete(requestId);
  }

  /** Those that are undecided, in the order of their arrival. */
  list(): { readonly requestId: string; readonly sinceMs: number }[] {
    return [...this.sinceMsById].map(([requestId, sinceMs]) => ({ requestId, sinceMs }));
  }
}
