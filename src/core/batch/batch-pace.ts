/** How many rows ended within {@link bucketMs} from `atMs` on. */
export interface PaceSample {
  readonly atMs: number;
  readonly ended: number;
}

const bucketMs = 10_000;
/** Five minutes of steady ends; more of rows that end in bursts, and need it. */
const maxSamples = 30;

/** Bounded, as samples go from run to run: one more than is counted, whose end begins the others. */
export function addEnd(samples: readonly PaceSample[], nowMs: number): readonly PaceSample[] {
  const last = samples.at(-1);
  if (last === undefined || nowMs - last.atMs >= bucketMs) {
    return [...samples, { atMs: nowMs, ended: 1 }].slice(-(maxSamples + 1));
  }
  return [...samples.slice(0, -1), { ...last, ended: last.ended + 1 }];
}

/** No row ran for so long: that time does not count. */
export function skipTime(samples: readonly PaceSample[], ms: number): readonly PaceSample[] {
  return samples.map(({ atMs, ended }) => ({ atMs: atMs + ms, ended }));
}

/** Ends in the last samples over the time since the sample before them, or the start. Null before the first end. */
export function rowsPerMinute(samples: readonly PaceSample[], startMs: number, nowMs: number): number | null {
  const [oldest] = samples;
  if (oldest === undefined) return null;
  const isSinceStart = samples.length <= maxSamples;
  const sinceMs = isSinceStart ? startMs : oldest.atMs + bucketMs;
  const counted = isSinceStart ? samples : samples.slice(1);
  const ended = counted.reduce((sum, sample) => sum + sample.ended, 0);
  return (ended / Math.max(bucketMs, nowMs - sinceMs)) * 60_000;
}

/** The latest moment that a `Date` can hold. */
const latestMs = 8.64e15;

export interface OpenRows {
  readonly running: number;
  readonly waiting: number;
  /** Whether those that wait may start: the batch is not paused, and has budget left. */
  readonly mayStart: boolean;
  /** How many of those that run cannot go on. */
  readonly held: number;
}

/** ISO-8601: when all open rows will have ended; null where there is nothing to go by, or where none goes on. */
export function expectedEnd(
  { running, waiting, mayStart, held }: OpenRows,
  perMinute: number | null,
  nowMs: number,
): string | null {
  const open = running + waiting;
  if (perMinute === null || perMinute === 0 || open === 0) return null;
  if ((waiting > 0 && !mayStart) || (running > 0 && held >= running)) return null;
  const endMs = nowMs + (open / perMinute) * 60_000;
  return endMs > latestMs ? null : new Date(endMs).toISOString();
}

/** A batch of which no row has started or ended for this long, and longer than its pace explains, has stalled. */
const stalledAfterMs = 300_000;
const stalledAfterRows = 3;

/** What is known of how a batch moves; `lastMovedAt` is when a row last started or ended. */
export interface BatchMovement {
  readonly running: number;
  readonly perMinute: number | null;
  readonly lastMovedAt?: string | null;
}

/** For how long no row has started or ended, if too long to predict an end; null otherwise. */
export function stalledForMs({ running, perMinute, lastMovedAt = null }: BatchMovement, nowMs: number): number | null {
  if (lastMovedAt === null || running === 0) return null;
  const usualMs = perMinute === null || perMinute === 0 ? 0 : (stalledAfterRows / perMinute) * 60_000;
  const sinceMs = nowMs - Date.parse(lastMovedAt);
  return sinceMs > Math.max(stalledAfterMs, usualMs) ? sinceMs : null;
}

export function mostFrequent(counts: Readonly<Record<string, number>>): [name: string, count: number][] {
  return Object.entries(counts).sort(([, one], [, other]) => other - one);
}
