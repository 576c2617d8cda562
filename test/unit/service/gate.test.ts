import fc from 'fast-check';
import type { CreateOutcome } from '../../../src/domain/create-outcome';
import type { GateAnswer } from '../../../src/domain/gate-answer';
import { Gate, type GateOptions } from '../../../src/service/gate';
import type { GateState, GateView } from '../../../src/service/gate-view';

const accepted: CreateOutcome = { outcome: 'accepted', requestId: 'r-1' };
const queueFull = {
  outcome: 'rejected',
  retryable: true,
  httpStatus: 503,
  code: 30039,
  message: 'queue full',
} as const satisfies CreateOutcome;
const tooMany: CreateOutcome = { ...queueFull, httpStatus: 429, message: 'too many' };

let nowMs: number;
let changes: [string, GateView][];
let gate: Gate;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
  gate = open();
});

function open(options: Partial<GateOptions> = {}): Gate {
  changes = [];
  return new Gate({
    perSecond: 1_000,
    now: () => nowMs,
    dice: () => 0,
    onChange: (...change) => void changes.push(change),
    ...options,
  });
}

/** A task asks; those of a smaller number began to wait earlier. */
function ask(number: number): GateAnswer {
  return gate.ask({ id: `task:${String(number).padStart(5, '0')}`, sinceMs: 1_600_000_000_000 + number });
}

function waitOf(answer: GateAnswer): number {
  return answer.pass ? 0 : answer.waitMs;
}

/** One create goes through and comes to this. */
function create(outcome: CreateOutcome): void {
  expect(ask(0)).toEqual({ pass: true });
  gate.report(outcome);
}

describe('the gate of an account', () => {
  it('is open at first, to a few creates at once, and to one more with each that is answered', () => {
    expect([0, 1, 2, 3, 4].map((number) => ask(number).pass)).toEqual([true, true, true, true, false]);
    expect(ask(4)).toMatchObject({ reason: '4 creates wait for the service’s answer' });
    gate.report(accepted);
    expect([4, 5, 6].map((number) => ask(number).pass)).toEqual([true, true, false]);
    expect(gate.view()).toEqual({
      state: 'open',
      closedUntil: null,
      reason: null,
      waiting: 1,
      unanswered: 5,
      atOnce: 5,
    });
  });

  it.each<[string, CreateOutcome, number, string]>([
    ['refuses it for now', tooMany, 1_000, 'the service refused the last create (HTTP 429: too many)'],
    ['asks to wait longer', { ...tooMany, retryAfterMs: 12_000 }, 12_000, 'HTTP 429'],
    ['asks to wait for less than the pause', { ...queueFull, retryAfterMs: 100 }, 1_000, '(HTTP 503: queue full)'],
    ['cannot be reached', { outcome: 'notSent', reason: 'ECONNREFUSED' }, 1_000, 'could not be sent: ECONNREFUSED'],
    ['gives no usable answer', { outcome: 'uncertain', reason: 'HTTP 500' }, 1_000, 'no usable answer: HTTP 500'],
  ])('closes when the service %s', (_what, outcome, closedMs, words) => {
    create(outcome);
    const answer = ask(1);
    expect(waitOf(answer)).toBe(closedMs);
    expect(answer).toMatchObject({ reason: expect.stringContaining(words) as string });
    expect(gate.view()).toMatchObject({ state: 'closed', closedUntil: new Date(nowMs + closedMs).toISOString() });
  });

  it('stays open when the service rejects a create for good, for that is about the one task', () => {
    create({ ...queueFull, retryable: false, httpStatus: 400, message: 'no such parameter' });
    expect(ask(1)).toEqual({ pass: true });
    expect(changes).toEqual([]);
  });

  it('lets one create through after that, and holds back the others until it is answered', () => {
    create(tooMany);
    nowMs += 1_000;
    expect([1, 2, 3].map((number) => ask(number).pass)).toEqual([true, false, false]);
    expect(ask(2)).toMatchObject({ reason: expect.stringContaining('another one is to show') as string });
    expect(gate.view()).toMatchObject({ state: 'probing', unanswered: 1 });

    gate.report(accepted);
    expect(gate.view()).toMatchObject({ state: 'open', reason: null });
    expect(ask(2)).toEqual({ pass: true });
  });

  it('is closed for longer each time that this one is refused, up to a minute, and for a second anew once it was open', () => {
    const waits = [0, 0, 0, 0, 0, 0, 0, 0].map(() => {
      create(tooMany);
      const waitMs = waitOf(ask(1));
      nowMs += waitMs;
      return waitMs;
    });
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);

    create(accepted);
    create(tooMany);
    expect(waitOf(ask(1))).toBe(1_000);
  });

  it('tells once that it closes, that it stays closed and that it opens, however many tasks wait', () => {
    create(tooMany);
    for (let number = 1; number <= 100; number += 1) ask(number);
    nowMs += 1_000;
    create(tooMany);
    nowMs += 2_000;
    create(accepted);
    create(accepted);
    expect(changes.map(([change, { state }]) => [change, state])).toEqual([
      ['closed', 'closed'],
      ['still closed', 'closed'],
      ['opened', 'open'],
    ]);
  });

  it('takes the answers of creates that went through before it closed for what they are', () => {
    for (const number of [0, 1, 2, 3]) expect(ask(number).pass).toBe(true);
    gate.report(tooMany);
    gate.report(tooMany);
    gate.report(accepted);
    expect(waitOf(ask(5))).toBe(1_000);
    gate.report({ ...tooMany, retryAfterMs: 7_000 });
    expect(waitOf(ask(5))).toBe(7_000);
    expect(changes).toHaveLength(1);
  });

  it('lets the next one through when a create was not sent after all, or has not been heard of for long', () => {
    create(tooMany);
    nowMs += 1_000;
    expect(ask(1).pass).toBe(true);
    gate.withdraw();
    expect(ask(2).pass).toBe(true);
    nowMs += 9_000;
    expect(ask(3).pass).toBe(false);
    nowMs += 1_000;
    expect(ask(3).pass).toBe(true);
  });

  it('has whoever waits ask ever more seldom while a create stays unanswered', () => {
    create(tooMany);
    nowMs += 1_000;
    expect(ask(1).pass).toBe(true);
    const waits: number[] = [];
    while (waits.reduce((sum, waitMs) => sum + waitMs, 0) < 9_000) {
      waits.push(waitOf(ask(2)));
      nowMs += waits.at(-1) ?? 0;
    }
    expect(waits).toEqual([400, 400, 800, 1_600, 3_200, 6_400]);
  });

  it('keeps to its rate', () => {
    gate = open({ perSecond: 2 });
    const answers = [0, 1, 2, 3, 4].map((number) => ask(number));
    expect(answers.map(waitOf)).toEqual([0, 0, 500, 1_000, 1_500]);
    expect(answers[4]).toMatchObject({ reason: 'creates are limited to 2 a second; 2 tasks are before this one' });
    nowMs += 500;
    expect(ask(4).pass).toBe(false);
    expect(ask(2).pass).toBe(true);
  });

  it('spreads those who wait: the later one asked first, the later is its turn', () => {
    create({ ...tooMany, retryAfterMs: 10_000 });
    const waits = [1, 2, 3, 4].map((number) => waitOf(ask(number)));
    expect(waits).toEqual([10_000, 10_100, 10_200, 10_300]);
    expect(waitOf(ask(3))).toBe(10_200);
    expect(Math.max(...Array.from({ length: 2_000 }, (_, number) => waitOf(ask(number + 5))))).toBeLessThan(40_001);
  });

  it('gives nobody who comes later the turn of one who waits', () => {
    create(tooMany);
    ask(1);
    nowMs += 1_000;
    expect(ask(2)).toMatchObject({ pass: false, reason: expect.stringContaining('1 task is before') as string });
    expect(ask(1)).toEqual({ pass: true });
  });

  it('waits for nobody who does not come back, and gives who comes back late its old place', () => {
    create(tooMany);
    ask(1);
    nowMs += 3_001;
    expect(gate.view().waiting).toBe(0);
    expect(ask(2)).toEqual({ pass: true });
    expect(waitOf(ask(3))).toBeGreaterThan(0);
    expect(ask(1)).toMatchObject({ reason: expect.not.stringContaining('before this one') as string });
    expect(ask(3)).toMatchObject({ reason: expect.stringContaining('1 task is before') as string });
  });
});

interface Storm {
  readonly tasks: number;
  /** From the first create on, the service refuses for so long. */
  readonly refusesMs: number;
  readonly retryAfterMs: number | undefined;
  readonly answerMs: number;
  readonly seed: number;
  /** Of the answers, those that another worker hears. */
  readonly lostShare?: number;
}

interface Course {
  /** When each create was sent, and by whom, in order. */
  readonly sent: readonly { readonly number: number; readonly atMs: number }[];
  /** When each task asked, and how the gate stood then. */
  readonly questions: readonly { readonly number: number; readonly atMs: number; readonly state: GateState }[];
}

/** Lives a crowd of tasks at a gate whose service refuses for a while, moment by moment. */
function live({ tasks, refusesMs, retryAfterMs, answerMs, seed, lostShare = 0 }: Storm): Course {
  let state = seed;
  const dice = (): number => (state = (state * 16_807 + 11) % 2_147_483_647) / 2_147_483_647;
  gate = open({ perSecond: 50, dice });
  const startMs = nowMs;
  const sent: { number: number; atMs: number }[] = [];
  const questions: { number: number; atMs: number; state: GateState }[] = [];
  const agenda: { atMs: number; act: () => void }[] = [];
  const at = (atMs: number, act: () => void): void => void agenda.push({ atMs, act });
  const send = (number: number): void => {
    const refused = nowMs - startMs < refusesMs;
    sent.push({ number, atMs: nowMs - startMs });
    at(nowMs + answerMs, () => {
      const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
      if (dice() >= lostShare) gate.report(refused ? { ...tooMany, ...wait } : accepted);
      if (refused) come(number);
    });
  };
  const come = (number: number): void => {
    questions.push({ number, atMs: nowMs - startMs, state: gate.view().state });
    const answer = ask(number);
    if (answer.pass) send(number);
    else
      at(nowMs + answer.waitMs, () => {
        come(number);
      });
  };
  for (let number = 0; number < tasks; number += 1)
    at(startMs + number, () => {
      come(number);
    });
  for (;;) {
    agenda.sort((a, b) => b.atMs - a.atMs);
    const next = agenda.pop();
    if (next === undefined) return { sent, questions };
    nowMs = next.atMs;
    next.act();
  }
}

const storms: fc.Arbitrary<Storm> = fc.record({
  tasks: fc.integer({ min: 1, max: 120 }),
  refusesMs: fc.integer({ min: 1, max: 60_000 }),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }),
  answerMs: fc.integer({ min: 1, max: 2_000 }),
  seed: fc.integer({ min: 1, max: 2_147_483_646 }),
});

describe('a crowd at the gate of a service that refuses for a while', () => {
  it('meets the service as a handful: a few at first, then one at a time, ever more seldom', () => {
    fc.assert(
      fc.property(storms, (storm) => {
        const during = live(storm).sent.filter(({ atMs }) => atMs < storm.refusesMs);
        const probes = changes.filter(([change]) => change !== 'opened').length;
        expect(during.length).toBeLessThanOrEqual(4 + probes);
        expect(probes).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(1 + storm.refusesMs / 1_000)));
      }),
      { numRuns: 60 },
    );
  });

  it('passes whole, each task once, and asks a bounded number of times', () => {
    fc.assert(
      fc.property(storms, (storm) => {
        const { sent, questions } = live(storm);
        const passed = sent.filter(({ atMs }) => atMs >= storm.refusesMs).map(({ number }) => number);
        expect([...passed].sort((a, b) => a - b)).toEqual(Array.from({ length: storm.tasks }, (_, number) => number));
        expect(questions.length).toBeLessThanOrEqual(storm.tasks * 40);
      }),
      { numRuns: 60 },
    );
  });

  it('passes whole, too, when other workers hear of every third create', () => {
    fc.assert(
      fc.property(storms, (storm) => {
        const { sent, questions } = live({ ...storm, lostShare: 1 / 3 });
        const passed = sent.filter(({ atMs }) => atMs >= storm.refusesMs).map(({ number }) => number);
        expect([...passed].sort((a, b) => a - b)).toEqual(Array.from({ length: storm.tasks }, (_, number) => number));
        expect(questions.length).toBeLessThanOrEqual(storm.tasks * 100);
      }),
      { numRuns: 60 },
    );
  });

  it('gives nobody’s turn to one who came later: whoever is passed by finds room when it comes back', () => {
    fc.assert(
      fc.property(storms, (storm) => {
        const { sent, questions } = live(storm);
        const openedAtMs = questions.findLast(({ state }) => state !== 'open')?.atMs ?? 0;
        const sinceOpen = questions.filter(({ atMs, state }) => atMs > openedAtMs && state === 'open');
        for (const { number, atMs } of sinceOpen) {
          const formerMs = sinceOpen.findLast((one) => one.number === number && one.atMs < atMs)?.atMs;
          if (formerMs === undefined || sent.some((one) => one.number === number && one.atMs === atMs)) continue;
          expect(sent.filter((one) => one.number > number && one.atMs > formerMs && one.atMs < atMs)).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has passed soon after the service takes creates again', () => {
    const { sent } = live({ tasks: 200, refusesMs: 10_000, retryAfterMs: 5_000, answerMs: 200, seed: 7 });
    expect(sent.at(-1)?.atMs).toBeLessThan(30_000);
  });
});
