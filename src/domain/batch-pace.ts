/** How many rows ended within {@link bucketMs} from `atMs` on. */
export interface PaceSample {
  readonly atMs: number;
  readonly ended: number;
}

const bucketMs = 10_000;
/** Five minutes of steady ends; more of rows that end in bursts, and need it. */
const maxSamples = 30;

/**
 * How fast rows end, of late: so many as ended in the last samples, over the time since the sample before them, or since
 * the start. So rows that end together count for all of the time that they ran. Bounded, and plain data, so that it can
 * be handed from run to run.
 */
export class BatchPace {
  private readonly startMs: number;
  /** One more than is counted: its end is the beginning of the others. */
  private buckets: readonly PaceSample[];

  constructor(startMs: number, samples: readonly PaceSample[] = []) {
    this.startMs = startMs;
    this.buckets = samples;
  }

  get samples(): readonly PaceSample[] {
    return this.buckets;
  }

  /** One row ended. */
  add(nowMs: number): void {
    const last = this.buckets.at(-1);
    if (last === undefined || nowMs - last.atMs >= bucketMs) {
      this.buckets = [...this.buckets, { atMs: nowMs, ended: 1 }].slice(-(maxSamples + 1));
    } else {
      this.buckets = [...this.buckets.slice(0, -1), { ...last, ended: last.ended + 1 }];
    }
  }

  /** Rows a minute; null before the first one has ended. */
  perMinute(nowMs: number): number | null {
    const [oldest] = this.buckets;
    if (oldest === undefined) return null;
    const isSinceStart = this.buckets.length <= maxSamples;
    const sinceMs = isSinceStart ? this.startMs : oldest.atMs + bucketMs;
    const counted = isSinceStart ? this.buckets : this.buckets.slice(1);
    const ended = counted.reduce((sum, sample) => sum + sample.ended, 0);
    return (ended / Math.max(bucketMs, nowMs - sinceMs)) * 60_000;
  }
}
