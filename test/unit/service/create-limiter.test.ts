import type { CreateOutcome } from '../../../src/domain/create-outcome';
import type { Refusal } from '../../../src/service/create-gate';
import {
  CreateLimiter,
  type CreateLimiterOptions,
  type CreateLimiterView,
  type HeldBack,
} from '../../../src/service/create-limiter';
import { refusedCreate } from '../../support/refused-create';

const accepted: CreateOutcome = { outcome: 'accepted', requestId: 'r-1' };
const queueFull = refusedCreate(503, 'queue full', { code: 30039 });
const tooMany: CreateOutcome = { ...queueFull, httpStatus: 429, message: 'too many' };
const noBalance: CreateOutcome = refusedCreate(402, 'no balance left');
const failed: CreateOutcome = { outcome: 'uncertain', reason: 'HTTP 500' };
const [app, otherApp] = [7, 8];

/** What the request that costs nothing comes to. */
let problem: Refusal | undefined;
let checks: number;
let nowMs: number;
let changes: [string, CreateLimiterView][];
let limiter: CreateLimiter;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  [problem, checks] = [undefined, 0];
  limiter = open();
});

function acquire(webAppId = app): Promise<HeldBack | undefined> {
  return limiter.acquire(webAppId, () => {
    checks += 1;
    return Promise.resolve(problem);
  });
}

function report(outcome: CreateOutcome, webAppId = app): void {
  limiter.report(webAppId, outcome);
}

function open(options: Partial<CreateLimiterOptions> = {}): CreateLimiter {
  changes = [];
  return new CreateLimiter({
    perSecond: 1_000,
    patienceMs: 1,
    now: () => nowMs,
    random: () => 0,
    onChange: (...change) => void changes.push(change),
    ...options,
  });
}

/** Creates that come at the same moment: whose turn it is. */
async function come(count: number): Promise<boolean[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => acquire()));
  return answers.map((heldBack) => heldBack === undefined);
}

async function heldBack(webAppId = app): Promise<HeldBack> {
  const answer = await acquire(webAppId);
  if (answer === undefined) throw new Error('It was its turn.');
  return answer;
}

/** One create is sent and comes to this. */
async function create(outcome: CreateOutcome, webAppId = app): Promise<void> {
  expect(await acquire(webAppId)).toBeUndefined();
  report(outcome, webAppId);
}

/** So many may be sent at once. */
async function grow(atOnce: number): Promise<void> {
  while (limiter.view().atOnce < atOnce) await create(accepted);
}

/** Creates are sent as soon as they may, for so long: how many. */
async function createFor(ms: number, outcome: CreateOutcome): Promise<number> {
  const untilMs = nowMs + ms;
  for (let sent = 0; ;) {
    const answer = await acquire();
    if (answer === undefined) {
      sent += 1;
      report(outcome);
    } else if (nowMs + answer.waitMs > untilMs) return sent;
    else nowMs += answer.waitMs;
  }
}

describe('the limiter of an account’s creates', () => {
  it('is open at first, to one create at once, and to one more with each that is answered', async () => {
    expect(await come(2)).toEqual([true, false]);
    expect(await heldBack()).toMatchObject({ reason: '1 creates wait for the service’s answer', cause: null });
    report(accepted);
    expect(await come(3)).toEqual([true, true, false]);
    expect(limiter.view()).toEqual({
      ...{ state: 'open', closedUntil: null, reason: null, cause: null, apps: {} },
      ...{ waiting: 0, unanswered: 2, atOnce: 2, isHoldingBack: false },
    });
  });

  it('sends one create at once again after a rest: what it knew of the service is old', async () => {
    for (let count = 0; count < 5; count += 1) await create(accepted);
    nowMs += 10_001;
    expect(await come(2)).toEqual([true, false]);
  });

  it('gives the turn of a create that is answered to the one that has waited longest', async () => {
    limiter = open({ patienceMs: 60_000 });
    await grow(4);
    await come(4);
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (number) => {
      await acquire();
      order.push(number);
    });
    expect(limiter.view().waiting).toBe(3);
    report(accepted);
    limiter.withdraw(app);
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
    await create(outcome);
    const reason = expect.stringContaining(words) as string;
    expect(await heldBack()).toEqual({ waitMs: closedMs, reason, cause: 'service' });
    expect(limiter.view()).toMatchObject({ state: 'closed', closedUntil: new Date(nowMs + closedMs).toISOString() });
  });

  it('sends those away that wait for their turn when it closes', async () => {
    limiter = open({ patienceMs: 60_000 });
    await come(1);
    const waiting = [acquire(), acquire()];
    report(tooMany);
    expect(await Promise.all(waiting)).toEqual([
      { waitMs: 1_000, reason: expect.stringContaining('429') as string, cause: 'service' },
      { waitMs: 1_001, reason: expect.stringContaining('429') as string, cause: 'service' },
    ]);
  });

  it('stays open when the service rejects a create for good, for that is about the one task', async () => {
    await create(refusedCreate(400, 'no such parameter'));
    expect(await acquire()).toBeUndefined();
    expect(changes).toEqual([]);
  });

  it('holds back none after a create that got no answer, until others come', async () => {
    await create({ outcome: 'uncertain', reason: 'the connection was closed' });
    expect(limiter.view()).toMatchObject({ state: 'closed', isHoldingBack: false });
    const { waitMs } = await heldBack();
    expect(limiter.view().isHoldingBack).toBe(true);

    nowMs += waitMs;
    await create({ outcome: 'uncertain', reason: 'the connection was closed' });
    expect(limiter.view().isHoldingBack).toBe(true);
    nowMs += 300_000;
    expect(limiter.view()).toMatchObject({ state: 'probing', isHoldingBack: false });
    expect(await acquire()).toBeUndefined();
    expect(limiter.view().isHoldingBack).toBe(true);
    report(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open', isHoldingBack: false });
  });

  it('lets one create through after that, and holds back the others until it is answered', async () => {
    await create(tooMany);
    nowMs += 1_000;
    expect(await acquire()).toBeUndefined();
    expect(await heldBack()).toMatchObject({ cause: 'service' });
    expect(limiter.view()).toMatchObject({ state: 'probing', unanswered: 1 });

    report(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open', reason: null });
    expect(await come(3)).toEqual([true, true, false]);
  });

  it('is closed for longer each time that this one is refused, up to a minute, and for a second anew once it was open', async () => {
    const waits: number[] = [];
    for (let refusals = 0; refusals < 8; refusals += 1) {
      await create(tooMany);
      waits.push((await heldBack()).waitMs);
      nowMs += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);

    await create(accepted);
    await create(tooMany);
    expect((await heldBack()).waitMs).toBe(1_000);
  });

  it('tells once that it closes, that it stays closed and that it opens, however many tasks wait', async () => {
    await create(tooMany);
    await come(100);
    nowMs += 1_000;
    await create(tooMany);
    nowMs += 2_000;
    await create(accepted);
    await create(accepted);
    expect(changes.map(([change, { state }]) => [change, state])).toEqual([
      ['closed', 'closed'],
      ['still closed', 'closed'],
      ['opened', 'open'],
    ]);
  });

  it('takes the answers of creates that were sent before it closed for what they are', async () => {
    await grow(4);
    await come(4);
    report(tooMany);
    report(tooMany);
    report(accepted);
    expect((await heldBack()).waitMs).toBe(1_000);
    report({ ...tooMany, retryAfterMs: 7_000 });
    expect((await heldBack()).waitMs).toBe(7_000);
    expect(changes).toHaveLength(1);
  });

  it('keeps to its rate', async () => {
    await grow(5);
    limiter.setRate(2, 1);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => acquire()));
    expect(answers.map((answer) => answer?.waitMs ?? 0)).toEqual([0, 0, 500, 1_000, 1_500]);
    expect(answers[4]?.reason).toBe('creates are limited to 2 a second in this worker');
    nowMs += 500;
    expect(await come(2)).toEqual([true, false]);
  });

  it('keeps those here whose place in the rate comes soon', async () => {
    limiter = new CreateLimiter({ perSecond: 20 });
    const startedAtMs = Date.now();
    for (let round = 0; round < 24; round += 1) await create(accepted);
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(190);
  });

  it('has a crowd come back one after the other, and nobody much later than it opens', async () => {
    limiter = open({ perSecond: 50 });
    await create({ ...tooMany, retryAfterMs: 10_000 });
    const waits: number[] = [];
    for (let count = 0; count < 3_000; count += 1) waits.push((await heldBack()).waitMs);
    expect(waits.slice(0, 4)).toEqual([10_000, 10_020, 10_040, 10_060]);
    expect(Math.max(...waits)).toBeLessThanOrEqual(40_000);
  });
});

describe('an account that the service refuses', () => {
  it('is closed with what has to change, and open by itself once a create is taken', async () => {
    await create(noBalance);
    expect(await heldBack()).toMatchObject({
      cause: 'account',
      reason: expect.stringContaining('no balance') as string,
    });
    expect(limiter.view()).toMatchObject({ state: 'closed', cause: 'account', isHoldingBack: true });
    // A create a minute is refused, and none of them is lost.
    expect(await createFor(600_000, noBalance)).toBeLessThan(20);
    nowMs += 60_000;
    await create(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open', cause: null });
  });

  it('sends no create for as long as a request that costs nothing is refused, too', async () => {
    await create(noBalance);
    problem = { cause: 'account', reason: 'the key is refused', retryAfterMs: 0 };
    expect(await createFor(600_000, noBalance)).toBe(0);
    expect(limiter.view()).toMatchObject({ cause: 'account', reason: expect.stringContaining('the key') as string });
  });
});

describe('a service that fails creates', () => {
  it('gets at most three in a quarter of an hour, however well it answers other requests', async () => {
    expect(await createFor(900_000, failed)).toBe(3);
    expect(await createFor(900_000, failed)).toBeLessThanOrEqual(3);
    nowMs += 600_000;
    await create(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open' });
  });

  it('gets one, and no other before a request that costs nothing is answered', async () => {
    await create(failed);
    problem = { cause: 'service', reason: 'HTTP 500', retryAfterMs: 0 };
    expect(await createFor(900_000, failed)).toBe(0);
    expect(checks).toBeLessThan(30);
    problem = undefined;
    nowMs += 60_000;
    await create(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open' });
  });

  it('gets creates less often from each of several workers, once each of them has seen it', async () => {
    limiter.setRate(1_000, 4);
    expect(await createFor(900_000, failed)).toBe(2);
  });

  it('is not checked before a create that was only refused for now', async () => {
    await createFor(10_000, tooMany);
    expect(checks).toBe(0);
  });
});

describe('an app that is refused while others are not', () => {
  it('leaves the next create to another app, and is then alone with its refusals', async () => {
    await create(accepted, otherApp);
    await create(tooMany);
    nowMs += 1_000;
    // It was refused last.
    expect(await heldBack()).toMatchObject({ cause: 'service' });
    await create(accepted, otherApp);
    expect(limiter.view()).toMatchObject({ state: 'open', apps: { [app]: expect.stringContaining('429') as string } });

    for (let round = 0; round < 5; round += 1) {
      nowMs += (await heldBack()).waitMs;
      await create(tooMany);
      await create(accepted, otherApp);
    }
    expect(limiter.view()).toMatchObject({ state: 'open', isHoldingBack: true, cause: 'service' });
    nowMs += (await heldBack()).waitMs;
    await create(accepted);
    expect(limiter.view()).toMatchObject({ apps: {}, isHoldingBack: false, cause: null });
  });

  it('closes the account when the other one is refused, too', async () => {
    await create(accepted, otherApp);
    await create(tooMany);
    nowMs += 1_000;
    await create(tooMany, otherApp);
    expect(await heldBack(otherApp)).toMatchObject({ waitMs: 3_000 });
    expect((await heldBack()).waitMs).toBe(2_000);
    expect(limiter.view()).toMatchObject({ state: 'closed', apps: {} });
  });

  it('keeps no other app for long, however long it asks to wait', async () => {
    await create({ ...tooMany, retryAfterMs: 3_600_000 });
    expect((await heldBack(otherApp)).waitMs).toBe(60_000);
    expect((await heldBack()).waitMs).toBeGreaterThan(3_500_000);
  });

  it('keeps an app that comes later no longer, however often it was refused', async () => {
    for (let refusals = 0; refusals < 6; refusals += 1) {
      await create(tooMany);
      nowMs += (await heldBack()).waitMs;
    }
    await create(tooMany);
    expect((await heldBack(otherApp)).waitMs).toBe(1_000);
    expect((await heldBack()).waitMs).toBe(60_000);
  });

  it('is one of those that take turns, however many of its creates wait', async () => {
    limiter = open({ patienceMs: 60_000 });
    await come(1);
    const order: number[] = [];
    const waiting = [app, app, app, otherApp].map(async (id) => {
      await acquire(id);
      order.push(id);
      report(accepted, id);
    });
    report(accepted);
    await Promise.all(waiting);
    expect(order.indexOf(otherApp)).toBeLessThan(2);
  });
});

describe('a crowd of creates', () => {
  /** A service that answers after so long. */
  async function live(tasks: number, answerMs: number, answer: () => CreateOutcome): Promise<number> {
    let sent = 0;
    const send = async (): Promise<void> => {
      const answerOrWait = await acquire();
      if (answerOrWait !== undefined) return;
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, answerMs));
      report(answer());
    };
    await Promise.all(Array.from({ length: tasks }, send));
    return sent;
  }

  it('is let through whole, within moments, by a service that is well', async () => {
    limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(100, 20, () => accepted)).toBe(100);
  });

  it('meets a service that refuses as a single one', async () => {
    limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(400, 20, () => tooMany)).toBe(1);
    expect(limiter.view().waiting).toBe(0);
  });
});

describe('an app with few creates beside one with a crowd', () => {
  it('has its turn soon, however many creates of the other one come back', async () => {
    jest.useFakeTimers({ now: nowMs });
    try {
      limiter = new CreateLimiter({ perSecond: 1, now: Date.now });
      const send = async (id: number): Promise<void> => {
        for (;;) {
          const answer = await limiter.acquire(id, () => Promise.resolve(undefined));
          if (answer === undefined) break;
          await new Promise((resolve) => setTimeout(resolve, answer.waitMs));
        }
        report(accepted, id);
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
