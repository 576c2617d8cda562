import type { CreateOutcome } from '../../../src/core/create-outcome';
import { CreateLimiter } from '../../../src/service/create-limiter';
import { accepted, app, failed, noBalance, otherApp, tooMany, LimiterUnderTest } from './limiter-under-test';

let account: LimiterUnderTest;
beforeEach(() => {
  account = new LimiterUnderTest();
});

describe('an account that the service refuses', () => {
  it('is closed with what has to change, and open by itself once a create is taken', async () => {
    await account.create(noBalance);
    expect(await account.heldBack()).toMatchObject({
      cause: 'account',
      reason: expect.stringContaining('no balance') as string,
    });
    expect(account.limiter.view()).toMatchObject({ state: 'closed', cause: 'account', isHoldingBack: true });
    // A create a minute is refused, and none of them is lost.
    expect(await account.createFor(600_000, noBalance)).toBeLessThan(20);
    account.nowMs += 60_000;
    await account.create(accepted);
    expect(account.limiter.view()).toMatchObject({ state: 'open', cause: null });
  });

  it('sends no create for as long as a request that costs nothing is refused, too', async () => {
    await account.create(noBalance);
    account.problem = { cause: 'account', reason: 'the key is refused', retryAfterMs: 0 };
    expect(await account.createFor(600_000, noBalance)).toBe(0);
    expect(account.limiter.view()).toMatchObject({
      cause: 'account',
      reason: expect.stringContaining('the key') as string,
    });
  });
});

describe('a service that fails creates', () => {
  it('gets at most three in a quarter of an hour, however well it answers other requests', async () => {
    expect(await account.createFor(900_000, failed)).toBe(3);
    expect(await account.createFor(900_000, failed)).toBeLessThanOrEqual(3);
    account.nowMs += 600_000;
    await account.create(accepted);
    expect(account.limiter.view()).toMatchObject({ state: 'open' });
  });

  it('gets one, and no other before a request that costs nothing is answered', async () => {
    await account.create(failed);
    account.problem = { cause: 'service', reason: 'HTTP 500', retryAfterMs: 0 };
    expect(await account.createFor(900_000, failed)).toBe(0);
    expect(account.checks).toBeLessThan(30);
    account.problem = undefined;
    account.nowMs += 60_000;
    await account.create(accepted);
    expect(account.limiter.view()).toMatchObject({ state: 'open' });
  });

  it('gets creates less often from each of several workers, once each of them has seen it', async () => {
    account.limiter.setRate(1_000, 4);
    expect(await account.createFor(900_000, failed)).toBe(2);
  });

  it('is not checked before a create that was only refused for now', async () => {
    await account.createFor(10_000, tooMany);
    expect(account.checks).toBe(0);
  });
});

describe('an app that is refused while others are not', () => {
  it('leaves the next create to another app, and is then alone with its refusals', async () => {
    await account.create(accepted, otherApp);
    await account.create(tooMany);
    account.nowMs += 1_000;
    // It was refused last.
    expect(await account.heldBack()).toMatchObject({ cause: 'service' });
    await account.create(accepted, otherApp);
    expect(account.limiter.view()).toMatchObject({
      state: 'open',
      apps: { [app]: expect.stringContaining('429') as string },
    });

    for (let round = 0; round < 5; round += 1) {
      account.nowMs += (await account.heldBack()).waitMs;
      await account.create(tooMany);
      await account.create(accepted, otherApp);
    }
    expect(account.limiter.view()).toMatchObject({ state: 'open', isHoldingBack: true, cause: 'service' });
    account.nowMs += (await account.heldBack()).waitMs;
    await account.create(accepted);
    expect(account.limiter.view()).toMatchObject({ apps: {}, isHoldingBack: false, cause: null });
  });

  it('closes the account when the other one is refused, too', async () => {
    await account.create(accepted, otherApp);
    await account.create(tooMany);
    account.nowMs += 1_000;
    await account.create(tooMany, otherApp);
    expect(await account.heldBack(otherApp)).toMatchObject({ waitMs: 3_000 });
    expect((await account.heldBack()).waitMs).toBe(2_000);
    expect(account.limiter.view()).toMatchObject({ state: 'closed', apps: {} });
  });

  it('keeps no other app for long, however long it asks to wait', async () => {
    await account.create({ ...tooMany, retryAfterMs: 3_600_000 });
    expect((await account.heldBack(otherApp)).waitMs).toBe(60_000);
    expect((await account.heldBack()).waitMs).toBeGreaterThan(3_500_000);
  });

  it('keeps an app that comes later no longer, however often it was refused', async () => {
    for (let refusals = 0; refusals < 6; refusals += 1) {
      await account.create(tooMany);
      account.nowMs += (await account.heldBack()).waitMs;
    }
    await account.create(tooMany);
    expect((await account.heldBack(otherApp)).waitMs).toBe(1_000);
    expect((await account.heldBack()).waitMs).toBe(60_000);
  });

  it('is one of those that take turns, however many of its creates wait', async () => {
    account.open({ patienceMs: 60_000 });
    await account.come(1);
    const order: number[] = [];
    const waiting = [app, app, app, otherApp].map(async (id) => {
      await account.acquire(id);
      order.push(id);
      account.report(accepted, id);
    });
    account.report(accepted);
    await Promise.all(waiting);
    expect(order.indexOf(otherApp)).toBeLessThan(2);
  });
});

describe('a crowd of creates', () => {
  /** A service that answers after so long. */
  async function live(tasks: number, answerMs: number, answer: () => CreateOutcome): Promise<number> {
    let sent = 0;
    const send = async (): Promise<void> => {
      const answerOrWait = await account.acquire();
      if (answerOrWait !== undefined) return;
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, answerMs));
      account.report(answer());
    };
    await Promise.all(Array.from({ length: tasks }, send));
    return sent;
  }

  it('is let through whole, within moments, by a service that is well', async () => {
    account.limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(100, 20, () => accepted)).toBe(100);
  });

  it('meets a service that refuses as a single one', async () => {
    account.limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(400, 20, () => tooMany)).toBe(1);
    expect(account.limiter.view().waiting).toBe(0);
  });
});

describe('an app with few creates beside one with a crowd', () => {
  it('has its turn soon, however many creates of the other one come back', async () => {
    jest.useFakeTimers({ now: account.nowMs });
    try {
      const limiter = new CreateLimiter({ perSecond: 1, now: Date.now });
      const send = async (id: number): Promise<void> => {
        for (;;) {
          const answer = await limiter.acquire(id, () => Promise.resolve(undefined));
          if (answer === undefined) break;
          await new Promise((resolve) => setTimeout(resolve, answer.waitMs));
        }
        limiter.report(id, accepted);
      };
      for (let count = 0; count < 1_000; count += 1) void send(app);
      await jest.advanceTimersByTimeAsync(60_000);
      const sentMs: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const beganMs = Date.now();
        void send(otherApp).then(() => sentMs.push(Date.now() - beganMs));
        await jest.advanceTimersByTimeAsync(30_370);
      }
      expect(sentMs).toHaveLength(10);
      expect(Math.max(...sentMs)).toBeLessThanOrEqual(2_000);
    } finally {
      jest.useRealTimers();
    }
  });
});
