import { type DeadlineStarts, passedDeadline } from '../../../src/core/task-state';

const limits = { queue: 100, run: 200, total: 1_000 };
const accepted: DeadlineStarts = { startedAtMs: 0, acceptedAtMs: 50, runningSinceMs: null };
const running: DeadlineStarts = { ...accepted, runningSinceMs: 140 };

describe('the deadline that has passed', () => {
  it.each<[string, DeadlineStarts, number, string | undefined]>([
    ['none of a young task', accepted, 150, undefined],
    ['queue, from accepted on', accepted, 151, 'queue'],
    ['none once it runs in time', running, 300, undefined],
    ['run, from running on', running, 341, 'run'],
    ['none before it is accepted', { ...accepted, acceptedAtMs: null }, 1_000, undefined],
    ['total, before any other', running, 1_001, 'total'],
  ])('is %s', (_what, starts, nowMs, expected) => {
    expect(passedDeadline(starts, limits, nowMs)).toBe(expected);
  });
});
