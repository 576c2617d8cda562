import { BatchPace, expectedEnd, stalledForMs } from '../../../src/core/batch/batch-pace';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const startMs = Date.parse('2026-01-01T00:00:00Z');

/** Lets so many rows end at the same moment. */
function endTogether(pace: BatchPace, rows: number, atMs: number): void {
  for (let row = 0; row < rows; row += 1) pace.add(atMs);
}

describe('the pace of a batch', () => {
  it('is unknown only as long as no row has ended', () => {
    const pace = new BatchPace(startMs);
    expect(pace.perMinute(startMs + 12 * minuteMs)).toBeNull();
    pace.add(startMs + minuteMs);
    expect(pace.perMinute(startMs + 600 * minuteMs)).toBeGreaterThan(0);
  });

  it('of rows that end together, 100 every ten minutes, is 10 a minute', () => {
    const pace = new BatchPace(startMs);
    for (let burst = 1; burst <= 40; burst += 1) {
      const atMs = startMs + burst * 10 * minuteMs;
      endTogether(pace, 100, atMs);
      expect(pace.perMinute(atMs)).toBeCloseTo(10, 0);
      // Half-way to the next burst it is lower, and it is never unknown.
      expect(pace.perMinute(atMs + 5 * minuteMs)).toBeGreaterThan(6);
    }
  });

  it('of rows that end one after another follows a change within minutes', () => {
    const pace = new BatchPace(startMs);
    let atMs = startMs;
    for (; atMs < startMs + 20 * minuteMs; atMs += 2 * secondMs) pace.add(atMs);
    expect(pace.perMinute(atMs)).toBeCloseTo(30, 0);
    for (; atMs < startMs + 26 * minuteMs; atMs += secondMs) pace.add(atMs);
    expect(pace.perMinute(atMs)).toBeCloseTo(60, 0);
  });

  it('is what it was after a time in which no row might run', () => {
    const pace = new BatchPace(startMs);
    let atMs = startMs;
    for (; atMs < startMs + 2 * minuteMs; atMs += 2 * secondMs) pace.add(atMs);
    const heldMs = 120 * minuteMs;
    pace.skip(heldMs);
    expect(pace.perMinute(atMs + heldMs)).toBeCloseTo(30, 0);
    const next = new BatchPace(startMs + heldMs, pace.samples);
    for (const endMs = atMs + 10 * minuteMs; atMs < endMs; atMs += secondMs) next.add(atMs + heldMs);
    expect(next.perMinute(atMs + heldMs)).toBeCloseTo(60, 0);
  });

  it('is not taken from the first seconds alone', () => {
    const pace = new BatchPace(startMs);
    pace.add(startMs + 10);
    expect(pace.perMinute(startMs + 20)).toBe(6);
  });

  it('goes on as it was when it is handed to the next run, and stays small', () => {
    const pace = new BatchPace(startMs);
    for (let second = 0; second < 3_600; second += 1) pace.add(startMs + second * secondMs);
    expect(pace.samples.length).toBeLessThan(40);
    const nowMs = startMs + 3_600 * secondMs;
    expect(new BatchPace(startMs, pace.samples).perMinute(nowMs)).toBe(pace.perMinute(nowMs));
    expect(pace.perMinute(nowMs)).toBeCloseTo(60, 0);
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
  const open = { running: 2, waiting: 8, mayStart: true, heldUp: 0 };
  const nowMs = Date.parse('2026-01-01T00:00:00.000Z');

  it('is when its open rows will have ended at its pace', () => {
    expect(expectedEnd(open, 10, nowMs)).toBe('2026-01-01T00:01:00.000Z');
    expect(expectedEnd({ ...open, waiting: 0, mayStart: false, heldUp: 1 }, 1, nowMs)).toBe('2026-01-01T00:02:00.000Z');
  });

  it('is not known while rows wait that may not start, while all that run are held up, or without a pace', () => {
    expect(expectedEnd({ ...open, mayStart: false }, 10, nowMs)).toBeNull();
    expect(expectedEnd({ ...open, heldUp: 2 }, 10, nowMs)).toBeNull();
    expect(expectedEnd(open, null, nowMs)).toBeNull();
    expect(expectedEnd({ ...open, running: 0, waiting: 0 }, 10, nowMs)).toBeNull();
  });
});
