import { RateLimitedError } from '../../../src/service';
import { CreateLimiter } from '../../../src/service/create-limiter';
import { PollLimiter } from '../../../src/service/account-gate';
import { refusedCreate } from '../../support/refused-create';

const dayMs = 86_400_000;

/** How far the system's clock is ahead. */
let aheadMs: number;
beforeEach(() => {
  const right = Date.now.bind(Date);
  aheadMs = dayMs;
  jest.spyOn(Date, 'now').mockImplementation(() => right() + aheadMs);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a limiter that was closed while the clock was a day ahead', () => {
  it('sends creates again after its pause once the clock is set right', async () => {
    const limiter = new CreateLimiter({ perSecond: 100 });
    const acquire = (): ReturnType<CreateLimiter['acquire']> => limiter.acquire(7, () => Promise.resolve(undefined));
    await acquire();
    limiter.report(7, refusedCreate(429, 'slow down'));
    aheadMs = 0;
    expect((await acquire())?.waitMs).toBeLessThan(60_000);
  });

  it('sends queries again after the service’s pause once the clock is set right', async () => {
    const limiter = new PollLimiter({ perSecond: 100 });
    const refused = new RateLimitedError('slow down', { httpStatus: 429, retryAfterMs: 50 }, 'RATE_LIMITED');
    await expect(limiter.run(() => Promise.reject(refused), 0)).rejects.toBe(refused);
    aheadMs = 0;
    expect(await limiter.run(() => Promise.resolve('detail'), 1_000)).toBe('detail');
  });
});
