import { refusedCreate } from '../../support/refused-create';
import type { CreateOutcome } from '../../../src/core/create-outcome';
import { CreateLimiter } from '../../../src/service/create-limiter';
import { accepted, app, queueFull, tooMany, LimiterUnderTest } from './limiter-under-test';

let account: LimiterUnderTest;
beforeEach(() => {
  account = new LimiterUnderTest();
});

describe('the limiter of an account’s creates', () => {
  it('is open at first, to one create at once, and to one more with each that is answered', async () => {
    expect(await account.come(2)).toEqual([true, false]);
    expect(await account.heldBack()).toMatchObject({ reason: '1 creates wait for the service’s answer', cause: null });
    account.report(accepted);
    expect(await account.come(3)).toEqual([true, true, false]);
    expect(account.limiter.view()).toEqual({
      ...{ state: 'open', closedUntil: null, reason: null, cause: null, apps: {} },
      ...{ waiting: 0, unanswered: 2, atOnce: 2, isForNow: false, isHoldingBack: false },
    });
  });

  it('sends one create at once again after a rest: what it knew of the service is old', async () => {
    for (let count = 0; count < 5; count += 1) await account.create(accepted);
    account.nowMs += 10_001;
    expect(await account.come(2)).toEqual([true, false]);
  });

  it('gives the turn of a create that is answered to the one that has waited longest', async () => {
    account.open({ patienceMs: 60_000 });
    await account.grow(4);
    await account.come(4);
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (number) => {
      await account.acquire();
      order.push(number);
    });
    expect(account.limiter.view().waiting).toBe(3);
    account.report(accepted);
    account.limiter.withdraw(app);
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it.each<[string, CreateOutcome, number, string]>([
    ['refuses it for now', tooMany, 1_000, 'the service refused the last create (HTTP 429: too many)'],
    ['asks to wait longer', { ...tooMany, retryAfterMs: 12_000 }, 12_000, 'HTTP 429'],
    ['asks to wait for less than the pause', { ...queueFull, retryAfterMs: 100 }, 1_000, '(HTTP 503: queue full)'],
    ['cannot be reached', { outcome: 'notSent', reason: 'ECONNREFUSED' }, 1_000, 'could not be sent: ECONNREFUSED'],
    ['gives no usable answer', { outcome: 'uncertain', reason: 'HTTP 500' }, 1_000, 'no usable answer: HTTP 500'],
  ])('closes when the service %s', async (_what, outcome, closedMs, words) => {
    await account.create(outcome);
    const reason = expect.stringContaining(words) as string;
    expect(await account.heldBack()).toEqual({ waitMs: closedMs, reason, cause: 'service' });
    expect(account.limiter.view()).toMatchObject({
      state: 'closed',
      closedUntil: new Date(account.nowMs + closedMs).toISOString(),
    });
  });

  it('sends those away that wait for their turn when it closes', async () => {
    account.open({ patienceMs: 60_000 });
    await account.come(1);
    const waiting = [account.acquire(), account.acquire()];
    account.report(tooMany);
    expect(await Promise.all(waiting)).toEqual([
      { waitMs: 1_000, reason: expect.stringContaining('429') as string, cause: 'service' },
      { waitMs: 1_001, reason: expect.stringContaining('429') as string, cause: 'service' },
    ]);
  });

  it('stays open when the service rejects a create for good, for that is about the one task', async () => {
    await account.create(refusedCreate(400, 'no such parameter'));
    expect(await account.acquire()).toBeUndefined();
    expect(account.changes).toEqual([]);
  });

  it('says that creates are refused when none waits, until one is taken or the service has answered for minutes; of a single refusal only while it answers nothing', async () => {
    const isRefusing = (): boolean => account.limiter.view().isHoldingBack;
    const checks: string[] = [];
    const recheck = async (answer: 'fails' | 'passes'): Promise<void> => {
      await account.limiter.recheck(() => {
        checks.push(answer);
        const refusal = { cause: 'service', reason: 'HTTP 500', retryAfterMs: 0 } as const;
        return Promise.resolve(answer === 'fails' ? refusal : undefined);
      });
    };
    await account.create({ outcome: 'uncertain', reason: 'the connection was closed' });
    account.nowMs += 2_000;
    await recheck('passes');
    expect([isRefusing(), checks.length]).toEqual([false, 1]);

    for (let minute = 0; minute < 60; minute += 1) {
      account.nowMs += 60_000;
      await recheck('fails');
      expect(isRefusing()).toBe(true);
    }
    expect(checks).toHaveLength(61);
    account.nowMs += 60_000;
    await recheck('passes');
    expect(isRefusing()).toBe(true);
    account.nowMs += 300_000;
    await recheck('passes');
    expect([isRefusing(), account.limiter.view().state]).toEqual([false, 'probing']);

    expect(await account.acquire()).toBeUndefined();
    expect(isRefusing()).toBe(true);
    account.report(accepted);
    expect(account.limiter.view()).toMatchObject({ state: 'open', isHoldingBack: false });
  });

  it('asks again only when a refusal is over, and once at a time', async () => {
    await account.create({ outcome: 'uncertain', reason: 'the connection was closed' });
    let checks = 0;
    const refuse = Promise.resolve({ cause: 'service', reason: 'HTTP 500', retryAfterMs: 600_000 } as const);
    const recheck = async (): Promise<void> => {
      await account.limiter.recheck(() => {
        checks += 1;
        return refuse;
      });
    };
    await recheck();
    expect(checks).toBe(0);
    account.nowMs += 2_000;
    await Promise.all([recheck(), recheck()]);
    account.nowMs += 599_999;
    await recheck();
    expect(checks).toBe(1);
    account.nowMs += 1;
    await recheck();
    expect(checks).toBe(2);
  });

  it('lets one create through after that, and holds back the others until it is answered', async () => {
    await account.create(tooMany);
    account.nowMs += 1_000;
    expect(await account.acquire()).toBeUndefined();
    expect(await account.heldBack()).toMatchObject({ cause: 'service' });
    expect(account.limiter.view()).toMatchObject({ state: 'probing', unanswered: 1 });

    account.report(accepted);
    expect(account.limiter.view()).toMatchObject({ state: 'open', reason: null });
    expect(await account.come(3)).toEqual([true, true, false]);
  });

  it('is closed for longer each time that this one is refused, up to a minute, and for a second anew once it was open', async () => {
    const waits: number[] = [];
    for (let refusals = 0; refusals < 8; refusals += 1) {
      await account.create(tooMany);
      waits.push((await account.heldBack()).waitMs);
      account.nowMs += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);

    await account.create(accepted);
    await account.create(tooMany);
    expect((await account.heldBack()).waitMs).toBe(1_000);
  });

  it('tells once that it closes, that it stays closed and that it opens, however many tasks wait', async () => {
    await account.create(tooMany);
    await account.come(100);
    account.nowMs += 1_000;
    await account.create(tooMany);
    account.nowMs += 2_000;
    await account.create(accepted);
    await account.create(accepted);
    expect(account.changes.map(([change, { state }]) => [change, state])).toEqual([
      ['closed', 'closed'],
      ['still closed', 'closed'],
      ['opened', 'open'],
    ]);
  });

  it('takes the answers of creates that were sent before it closed for what they are', async () => {
    await account.grow(4);
    await account.come(4);
    account.report(tooMany);
    account.report(tooMany);
    account.report(accepted);
    expect((await account.heldBack()).waitMs).toBe(1_000);
    account.report({ ...tooMany, retryAfterMs: 7_000 });
    expect((await account.heldBack()).waitMs).toBe(7_000);
    expect(account.changes).toHaveLength(1);
  });

  it('keeps to its rate', async () => {
    await account.grow(5);
    account.limiter.setRate(2, 1);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => account.acquire()));
    expect(answers.map((answer) => answer?.waitMs ?? 0)).toEqual([0, 0, 500, 1_000, 1_500]);
    expect(answers[4]?.reason).toBe('creates are limited to 2 a second in this worker');
    account.nowMs += 500;
    expect(await account.come(2)).toEqual([true, false]);
  });

  it('keeps those here whose place in the rate comes soon', async () => {
    account.limiter = new CreateLimiter({ perSecond: 20 });
    const startedAtMs = Date.now();
    for (let round = 0; round < 24; round += 1) await account.create(accepted);
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(190);
  });

  it('has a crowd come back one after the other, and nobody much later than it opens', async () => {
    account.open({ perSecond: 50 });
    await account.create({ ...tooMany, retryAfterMs: 10_000 });
    const waits: number[] = [];
    for (let count = 0; count < 3_000; count += 1) waits.push((await account.heldBack()).waitMs);
    expect(waits.slice(0, 4)).toEqual([10_000, 10_020, 10_040, 10_060]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(40_000);
  });
});
