import fc from 'fast-check';
import { TokenBucket } from '../../../src/service/token-bucket';

let nowMs = 0;
const now = (): number => nowMs;
beforeEach(() => {
  nowMs = 1_000_000;
});

describe('a rate', () => {
  it('has a second’s places free after a quiet time, and then one at a time', () => {
    const rate = new TokenBucket({ perSecond: 4, now });
    const waits = Array.from({ length: 6 }, () => {
      const waitMs = rate.untilMs();
      rate.take();
      return waitMs;
    });
    expect(waits).toEqual([0, 0, 0, 0, 250, 500]);
  });

  it('is changed at once: what is free is at most a second’s worth of the new one', () => {
    const rate = new TokenBucket({ perSecond: 10, now });
    rate.setRate(2);
    expect([rate.untilMs(2), rate.untilMs(3)]).toEqual([0, 500]);
    rate.take();
    rate.take();
    rate.setRate(4);
    expect(rate.untilMs()).toBe(250);
    nowMs += 10_000;
    expect([rate.untilMs(4), rate.untilMs(5)]).toEqual([0, 250]);
  });

  it('gives nothing and takes nothing when the clock is set back', () => {
    const rate = new TokenBucket({ perSecond: 1, now });
    rate.take();
    nowMs -= 3_600_000;
    expect(rate.untilMs()).toBe(1_000);
    nowMs += 1_000;
    expect(rate.untilMs()).toBe(0);
  });

  it('never lets through more than a second’s places beyond its average, in any span of time', () => {
    const perSecond = fc.double({ min: 0.1, max: 100, noNaN: true });
    const pausesMs = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(perSecond, pausesMs, (limit, pauses) => {
        const rate = new TokenBucket({ perSecond: limit, now });
        const taken: number[] = [];
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          if (rate.untilMs() > 0) continue;
          rate.take();
          taken.push(nowMs);
        }
        taken.forEach((fromMs, first) => {
          const spanMs = (taken.at(-1) ?? fromMs) - fromMs;
          expect(taken.length - first).toBeLessThanOrEqual(Math.max(1, limit) + (spanMs / 1_000) * limit + 1e-6);
        });
      }),
    );
  });

  it('has the place free at the moment that it named', () => {
    const perSecond = fc.double({ min: 0.1, max: 5_000, noNaN: true });
    fc.assert(
      fc.property(perSecond, fc.integer({ min: 0, max: 300 }), (limit, count) => {
        const rate = new TokenBucket({ perSecond: limit, now });
        for (let taken = 0; taken < count; taken += 1) rate.take();
        nowMs += rate.untilMs();
        // What computing with fractions loses.
        expect(rate.untilMs()).toBeLessThanOrEqual(1);
      }),
    );
  });
});
