/** How many rows ended within {@link bucketMs} from `atMs` on. */
export interface PaceSample {
  readonly atMs: number;
  readonly ended: number;
}

const bucketMs = 10_000;
/** Five minutes: long enough to be steady, short enough to follow a change. */
const maxSamples = 30;

/** How fast rows end, of late. Bounded, and plain data, so that it can be handed from run to run. */
export class BatchPace {
  private buckets: readonly PaceSample[];

  constructor(samples: readonly PaceSample[] = []) {
    this.buckets = samples;
  }

  get samples(): readonly PaceSample[] {
    return this.buckets;
  }

  /** One row ended. */
  add(nowMs: number): void {
    const last = this.buckets.at(-1);
    if (last === undefined || nowMs - last.atMs >= bucketMs) {
      this.buckets = [...this.buckets, { atMs: nowMs, ended: 1 }].slice(-maxSamples);
    } else {
      this.buckets = [...this.buckets.slice(0, -1), { ...last, ended: last.ended + 1 }];
    }
  }

  /** Rows a minute; null before there is anything to go by. */
  perMinute(nowMs: number): number | null {
    const recent = this.buckets.filter(({ atMs }) => nowMs - atMs <= maxSamples * bucketMs);
    const [first] = recent;
    if (first === undefined) return null;
    const ended = recent.reduce((sum, sample) => sum + sample.ended, 0);
    return (ended / Math.max(bucketMs, nowMs - first.atMs)) * 60_000;
  }
}
