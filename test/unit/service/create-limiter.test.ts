import type { CreateOutcome } from '../../../src/domain/create-outcome';
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

let nowMs: number;
let changes: [string, CreateLimiterView][];
let limiter: CreateLimiter;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  limiter = open();
});

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
  const answers = await Promise.all(Array.from({ length: count }, () => limiter.acquire()));
  return answers.map((heldBack) => heldBack === undefined);
}

async function heldBack(): Promise<HeldBack> {
  const answer = await limiter.acquire();
  if (answer === undefined) throw new Error('It was its turn.');
  return answer;
}

/** One create is sent and comes to this. */
async function create(outcome: CreateOutcome): Promise<void> {
  expect(await limiter.acquire()).toBeUndefined();
  limiter.report(outcome);
}

describe('the limiter of an account’s creates', () => {
  it('is open at first, to a few creates at once, and to one more with each that is answered', async () => {
    expect(await come(5)).toEqual([true, true, true, true, false]);
    expect(await heldBack()).toMatchObject({ reason: '4 creates wait for the service’s answer', isInTurn: true });
    limiter.report(accepted);
    expect(await come(3)).toEqual([true, true, false]);
    expect(limiter.view()).toEqual({
      state: 'open',
      closedUntil: null,
      reason: null,
      waiting: 0,
      unanswered: 5,
      atOnce: 5,
      isHoldingBack: false,
    });
  });

  it('gives the turn of a create that is answered to the one that has waited longest', async () => {
    limiter = open({ patienceMs: 60_000 });
    await come(4);
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (number) => {
      await limiter.acquire();
      order.push(number);
    });
    expect(limiter.view().waiting).toBe(3);
    limiter.report(accepted);
    limiter.withdraw();
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
    expect(await heldBack()).toEqual({ waitMs: closedMs, reason, isInTurn: false });
    expect(limiter.view()).toMatchObject({ state: 'closed', closedUntil: new Date(nowMs + closedMs).toISOString() });
  });

  it('sends those away that wait for their turn when it closes', async () => {
    limiter = open({ patienceMs: 60_000 });
    await come(4);
    const waiting = [limiter.acquire(), limiter.acquire()];
    limiter.report(tooMany);
    expect(await Promise.all(waiting)).toEqual([
      { waitMs: 1_000, reason: expect.stringContaining('429') as string, isInTurn: false },
      { waitMs: 1_001, reason: expect.stringContaining('429') as string, isInTurn: false },
    ]);
  });

  it('stays open when the service rejects a create for good, for that is about the one task', async () => {
    await create({ ...queueFull, retryable: false, httpStatus: 400, message: 'no such parameter' });
    expect(await limiter.acquire()).toBeUndefined();
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
    nowMs += 60_000;
    expect(limiter.view()).toMatchObject({ state: 'probing', isHoldingBack: false });
    expect(await limiter.acquire()).toBeUndefined();
    expect(limiter.view().isHoldingBack).toBe(true);
    limiter.report(accepted);
    expect(limiter.view()).toMatchObject({ state: 'open', isHoldingBack: false });
  });

  it('lets one create through after that, and holds back the others until it is answered', async () => {
    await create(tooMany);
    nowMs += 1_000;
    expect(await limiter.acquire()).toBeUndefined();
    expect((await heldBack()).reason).toContain('another one is to show');
    expect(limiter.view()).toMatchObject({ state: 'probing', unanswered: 1 });

    limiter.report(accepted);
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
    await come(4);
    limiter.report(tooMany);
    limiter.report(tooMany);
    limiter.report(accepted);
    expect((await heldBack()).waitMs).toBe(1_000);
    limiter.report({ ...tooMany, retryAfterMs: 7_000 });
    expect((await heldBack()).waitMs).toBe(7_000);
    expect(changes).toHaveLength(1);
  });

  it('keeps to its rate', async () => {
    limiter = open({ perSecond: 2 });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => limiter.acquire()));
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

describe('a crowd of creates', () => {
  /** A service that answers after so long. */
  async function live(tasks: number, answerMs: number, answer: () => CreateOutcome): Promise<number> {
    let sent = 0;
    const send = async (): Promise<void> => {
      const answerOrWait = await limiter.acquire();
      if (answerOrWait !== undefined) return;
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, answerMs));
      limiter.report(answer());
    };
    await Promise.all(Array.from({ length: tasks }, send));
    return sent;
  }

  it('is let through whole, within moments, by a service that is well', async () => {
    limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(100, 20, () => accepted)).toBe(100);
  });

  it('meets a service that refuses as a handful', async () => {
    limiter = new CreateLimiter({ perSecond: 1_000 });
    expect(await live(400, 20, () => tooMany)).toBe(4);
    expect(limiter.view().waiting).toBe(0);
  });
});
