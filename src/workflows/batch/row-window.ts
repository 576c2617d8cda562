import type { RowEnd, RunningRow } from '../../contract/batch/batch-rows';

/** So many ends of rows that are being started are kept; a row that is not among them is found by the next poll of all rows. */
const maxEarlyEnds = 1_000;

/** An end of a row, and when those who told it were asked. */
interface ToldEnd {
  readonly end: RowEnd;
  readonly askedMs: number;
}

/** The rows whose tasks run, oldest first. An end may be told before its start has returned, and after a new start. */
export class RowWindow {
  readonly #running: Map<string, RunningRow>;
  /** Of rows that are being started: a task may be over before the call that started it has returned. */
  readonly #earlyEnds = new Map<string, RowEnd>();
  /** When the call that starts rows was made; null while there is none. */
  #startingSinceMs: number | null = null;
  /** When the call that started each running row was made, and when it had returned. */
  readonly #starts = new Map<string, { readonly calledMs: number; readonly returnedMs: number }>();

  constructor(running: readonly RunningRow[]) {
    this.#running = new Map(running.map((row) => [row.key, row]));
  }

  get rows(): readonly RunningRow[] {
    return [...this.#running.values()];
  }

  get size(): number {
    return this.#running.size;
  }

  get isStarting(): boolean {
    return this.#startingSinceMs !== null;
  }

  beginStart(): void {
    this.#startingSinceMs = Date.now();
  }

  add(running: readonly RunningRow[]): void {
    const start = { calledMs: this.#startingSinceMs ?? Date.now(), returnedMs: Date.now() };
    for (const row of running) {
      this.#running.set(row.key, row);
      this.#starts.set(row.key, start);
    }
  }

  /** No row is being started any more. Returns the ends that were told meanwhile, each to be taken now. */
  endStart(): readonly ToldEnd[] {
    const sinceMs = this.#startingSinceMs ?? Number.POSITIVE_INFINITY;
    this.#startingSinceMs = null;
    // An older end is that of the row's previous task.
    const ends = [...this.#earlyEnds.values()].filter((end) => Date.parse(end.endedAt) >= sinceMs);
    this.#earlyEnds.clear();
    return ends.map((end) => ({ end, askedMs: sinceMs }));
  }

  /** Takes a row that ended out of the window, and returns it; undefined for an end that is none of a running task's. */
  takeEnd(end: RowEnd, askedMs: number): RunningRow | undefined {
    const row = this.#running.get(end.key);
    if (row !== undefined) {
      if (this.#isOfPreviousTask(end, askedMs)) return undefined;
      this.#running.delete(end.key);
      this.#starts.delete(end.key);
    } else if (this.isStarting && this.#earlyEnds.size < maxEarlyEnds) {
      this.#earlyEnds.set(end.key, end);
    }
    return row;
  }

  /** Read before the row was started again. A later answer stands whatever time it tells: clocks differ. */
  #isOfPreviousTask({ key, endedAt }: RowEnd, askedMs: number): boolean {
    const start = this.#starts.get(key);
    return start !== undefined && askedMs < start.returnedMs && Date.parse(endedAt) < start.calledMs;
  }
}
