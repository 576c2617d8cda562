import {
  addEnd,
  expectedEnd,
  type PaceSample,
  rowsPerMinute,
  skipTime,
  stalledForMs,
} from '../../../src/core/batch/batch-pace';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const startMs = Date.parse('2026-01-01T00:00:00Z');

/** Lets a row end at each of these moments. */
function endsAt(times: readonly number[], samples: readonly PaceSample[] = []): readonly PaceSample[] {
  return times.reduce(addEnd, samples);
}

/** Every so many milliseconds. */
function every(stepMs: number, fromMs: number, toMs: number): number[] {
  return Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, index) => fromMs + index * stepMs);
}

describe('the pace of a batch', () => {
  it('is unknown only as long as no row has ended, and not taken from the first seconds alone', () => {
    expect(rowsPerMinute([], startMs, startMs + 12 * minuteMs)).toBeNull();
    const one = endsAt([startMs + 10]);
    expect(rowsPerMinute(one, startMs, startMs + 600 * minuteMs)).toBeGreaterThan(0);
    expect(rowsPerMinute(one, startMs, startMs + 20)).toBe(6);
  });

  it('of rows that end together, 100 every ten minutes, is 10 a minute', () => {
    let pace: readonly PaceSample[] = [];
    for (let burst = 1; burst <= 40; burst += 1) {
      const atMs = startMs + burst * 10 * minuteMs;
      pace = endsAt(
        Array.from({ length: 100 }, () => atMs),
        pace,
      );
      expect(rowsPerMinute(pace, startMs, atMs)).toBeCloseTo(10, 0);
      // Half-way to the next burst it is lower, and it is never unknown.
      expect(rowsPerMinute(pace, startMs, atMs + 5 * minuteMs)).toBeGreaterThan(6);
    }
  });

  it('of rows that end one after another follows a change within minutes, and stays small', () => {
    const changeMs = startMs + 20 * minuteMs;
    const slow = endsAt(every(2 * secondMs, startMs, changeMs));
    expect(rowsPerMinute(slow, startMs, changeMs)).toBeCloseTo(30, 0);
    const endMs = changeMs + 40 * minuteMs;
    const quick = endsAt(every(secondMs, changeMs, endMs), slow);
    expect(rowsPerMinute(quick, startMs, endMs)).toBeCloseTo(60, 0);
    expect(quick.length).toBeLessThan(40);
  });

  it('is what it was after a time in which no row might run', () => {
    const heldMs = 120 * minuteMs;
    const atMs = startMs + 2 * minuteMs;
    const pace = skipTime(endsAt(every(2 * secondMs, startMs, atMs)), heldMs);
    expect(rowsPerMinute(pace, startMs + heldMs, atMs + heldMs)).toBeCloseTo(30, 0);
    const endMs = atMs + heldMs + 10 * minuteMs;
    const next = endsAt(every(secondMs, atMs + heldMs, endMs), pace);
    expect(rowsPerMinute(next, startMs + heldMs, endMs)).toBeCloseTo(60, 0);
  });
});

describe('a batch that does not move', () => {
  const lastMovedAt = new Date(startMs).toISOString();

  it('has stalled once no row has started or ended for five minutes, and longer than its pace explains', () => {
    const quick = { running: 3, perMinute: 30, lastMovedAt };
    expect(stalledForMs(quick, startMs + 5 * minuteMs)).toBeNull();
    expect(stalledForMs(quick, startMs + 6 * minuteMs)).toBe(6 * minuteMs);
    const slow = { ...quick, perMinute: 0.1 };
    expect(stalledForMs(slow, startMs + 29 * minuteMs)).toBeNull();
    expect(stalledForMs(slow, startMs + 31 * minuteMs)).toBe(31 * minuteMs);
    expect(stalledForMs({ ...quick, perMinute: null }, startMs + 6 * minuteMs)).toBe(6 * minuteMs);
  });

  it('has not when no row runs, or nothing is known', () => {
    expect(stalledForMs({ running: 0, perMinute: 30, lastMovedAt }, startMs + 60 * minuteMs)).toBeNull();
    expect(stalledForMs({ running: 3, perMinute: 30, lastMovedAt: null }, startMs + 60 * minuteMs)).toBeNull();
    expect(stalledForMs({ running: 3, perMinute: 30 }, startMs + 60 * minuteMs)).toBeNull();
  });
});

describe('the end of a batch', () => {
  const open = { running: 2, waiting: 8, mayStart: true, held: 0 };
  const nowMs = Date.parse('2026-01-01T00:00:00.000Z');

  it('is when its open rows will have ended at its pace', () => {
    expect(expectedEnd(open, 10, nowMs)).toBe('2026-01-01T00:01:00.000Z');
    expect(expectedEnd({ ...open, waiting: 0, mayStart: false, held: 1 }, 1, nowMs)).toBe('2026-01-01T00:02:00.000Z');
  });

  it('is not known while rows wait that may not start, while all that run are held up, or without a pace', () => {
    expect(expectedEnd({ ...open, mayStart: false }, 10, nowMs)).toBeNull();
    expect(expectedEnd({ ...open, held: 2 }, 10, nowMs)).toBeNull();
    expect(expectedEnd(open, null, nowMs)).toBeNull();
    expect(expectedEnd({ ...open, running: 0, waiting: 0 }, 10, nowMs)).toBeNull();
  });
});
