import fc from 'fast-check';
import { nextPollDelayMs, recommendedPollBounds, type PollSituation } from '../../../src/core/poll-cadence';
import { serviceStatuses } from '../../../src/core/task-state';

const middle = { status: 'Running', queuePosition: undefined, inStateMs: 10_000, random: 0.5 } as const;

function delayOf(situation: Partial<PollSituation>): number {
  return nextPollDelayMs({ ...middle, ...situation });
}

describe('nextPollDelayMs', () => {
  it('stays inside its bounds in every situation', () => {
    const situation = fc.record({
      status: fc.option(fc.constantFrom(...serviceStatuses), { nil: undefined }),
      queuePosition: fc.option(fc.integer({ min: -1, max: 10_000 }), { nil: undefined }),
      // A clock that went back between two machines makes the age negative.
      inStateMs: fc.integer({ min: -60_000, max: 1_000_000_000 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    const bounds = fc
      .tuple(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 0, max: 10_000 }))
      .map(([minMs, span]) => ({ minMs, maxMs: minMs + span }));
    fc.assert(
      fc.property(situation, bounds, (one, { minMs, maxMs }) => {
        const delayMs = nextPollDelayMs(one, { minMs, maxMs });
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(minMs);
        expect(delayMs).toBeLessThanOrEqual(maxMs);
      }),
    );
  });

  it('keeps to the 1 to 3 s that the service recommends by default', () => {
    expect(recommendedPollBounds).toEqual({ minMs: 1_000, maxMs: 3_000 });
    expect(delayOf({ inStateMs: 0, random: 0 })).toBe(1_000);
    expect(delayOf({ inStateMs: 3_600_000, random: 0.999 })).toBe(3_000);
  });

  it('asks a young task more often than an old one', () => {
    const delays = [0, 5_000, 10_000, 20_000].map((inStateMs) => delayOf({ inStateMs }));
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
    expect(delays[0]).toBeLessThan(delays[3] ?? 0);
  });

  it('asks as seldom as allowed while many others are ahead in the queue', () => {
    const position = (queuePosition: number): number => delayOf({ status: 'Queuing', queuePosition, inStateMs: 0 });
    expect(position(6)).toBe(3_000);
    expect(position(5)).toBe(1_000);
  });

  it('asks more often while the task is preparing, which is usually short', () => {
    expect(delayOf({ status: 'Preparing', inStateMs: 60_000 })).toBeLessThan(delayOf({ inStateMs: 60_000 }));
  });

  it('spreads tasks of the same age, so that a batch does not ask in step', () => {
    expect(delayOf({ random: 0 })).toBeLessThan(delayOf({ random: 0.9 }));
  });

  it('asks again when it is the turn of a task for which others came first, and once a minute before that', () => {
    const turn = (turnInMs: number): number => delayOf({ turnInMs, failedInARow: 9, random: 0 });
    expect([turn(1), turn(45_000.5), turn(3_600_000)]).toEqual([1, 45_001, 60_000]);
    expect(delayOf({ turnInMs: 5_000, random: 0.5 })).toBe(5_500);
  });

  it('asks once a tenth of the time in a state where a callback will tell the end, and a minute later at most', () => {
    const seconds = [0, 20, 60, 300, 600, 86_400];
    const delays = seconds.map((s) => delayOf({ callbacksCome: true, inStateMs: s * 1_000 }));
    expect(delays).toEqual([1_000, 3_000, 6_000, 30_000, 60_000, 60_000]);
    const usual = seconds.map((s) => delayOf({ inStateMs: s * 1_000 }));
    expect(Math.max(...usual)).toBe(3_000);
  });

  it('asks ever more seldom while queries bring no answer, up to ten times the longest delay', () => {
    const delays = [0, 3, 4, 5, 6, 7, 100].map((failedInARow) => delayOf({ failedInARow, inStateMs: 60_000 }));
    expect(delays).toEqual([3_000, 3_000, 6_000, 12_000, 24_000, 30_000, 30_000]);
  });
});
