/** A row that is found running so often, although it was reported as over, is left to the look at all rows. */
const maxLooks = 6;

/**
 * Rows that a signal reported as over. Anybody may send it, so a row is over only once Temporal says that its workflow
 * is; that is asked for all reported rows at once, a moment after the first report, since the signal is the last act
 * of a task that still runs. The pauses grow while reports turn out to be early or false.
 */
export class ReportedRows {
  private readonly firstPauseMs: number;
  /** Keys, and how often each was found running since. */
  private readonly looks = new Map<string, number>();
  private dueMs = Number.POSITIVE_INFINITY;

  constructor(firstPauseMs: number, keys: readonly string[], nowMs: number) {
    this.firstPauseMs = firstPauseMs;
    for (const key of keys) this.add(key, nowMs);
  }

  get keys(): readonly string[] {
    return [...this.looks.keys()];
  }

  /** When they should be looked at; infinity while there are none. */
  get dueAtMs(): number {
    return this.dueMs;
  }

  add(key: string, nowMs: number): void {
    if (this.looks.has(key)) return;
    this.looks.set(key, 0);
    this.dueMs = Math.min(this.dueMs, nowMs + this.firstPauseMs);
  }

  /** They were looked at; those that still run are looked at again, some time later. */
  looked(isRunning: (key: string) => boolean, nowMs: number): void {
    for (const [key, looks] of this.looks) {
      if (isRunning(key) && looks + 1 < maxLooks) this.looks.set(key, looks + 1);
      else this.looks.delete(key);
    }
    const fewest = Math.min(...this.looks.values());
    this.dueMs = this.looks.size === 0 ? Number.POSITIVE_INFINITY : nowMs + this.firstPauseMs * 2 ** fewest;
  }
}
