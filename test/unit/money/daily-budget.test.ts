import fc from 'fast-check';
import { DailyBudget } from '../../../src/money/daily-budget';
import { type DayOperation, type DayOutcome, endOfDayMs, isGranted, utcDay } from '../../../src/money/day-operations';

const eur = (micros: number) => ({ currency: 'EUR', micros });
const endsAtMs = endOfDayMs('2026-03-01');
const nowMs = endsAtMs - 3_600_000;
const fixed = { app: 5, taskMicros: 20_000, isFixed: true };
const timed = { app: 7, taskMicros: 1_000, isFixed: false };

const id = (number: number): string => number.toString(36).padStart(10, '0');

function reserve(number: number, price: typeof fixed = fixed, by = 'ab'): DayOperation {
  return { kind: 'reserve', by, task: id(number), create: 1, ...price };
}

function hold(number: number, price: typeof fixed = fixed): DayOperation {
  return { kind: 'hold', task: id(number), create: 1, ...price };
}

function settle(number: number, micros: number | null): DayOperation {
  return { kind: 'settle', task: id(number), create: 1, cost: micros === null ? null : eur(micros) };
}

/** Another create of the same task. */
function again(number: number, price: typeof fixed): DayOperation {
  return { ...reserve(number, price), create: 2 };
}

function apply(budget: DailyBudget, limit: number, ...operations: DayOperation[]): DayOutcome[] {
  return budget.apply({ limit: eur(limit), operations }, nowMs, endsAtMs);
}

describe('the daily budget of an account', () => {
  it('lets no more tasks be created than fit, and counts each once however often its worker asks or tells', () => {
    const budget = new DailyBudget();

    expect(apply(budget, 50_000, reserve(1), reserve(1), reserve(2), reserve(3))).toEqual([
      ...['granted', 'known', 'granted', 'noRoom'],
    ]);
    apply(budget, 50_000, settle(1, 20_000), settle(1, 20_000), settle(9, 20_000));
    expect(budget.view()).toMatchObject({ settledMicros: 20_000, reservedMicros: 20_000, settled: 1, running: 1 });
    expect(apply(budget, 50_000, reserve(4))).toEqual(['noRoom']);
    expect(budget.view().refusedSince).toBe(new Date(nowMs).toISOString());
    expect(apply(budget, 60_000, reserve(4))).toEqual(['granted']);
    expect(budget.view().refusedSince).toBeNull();
  });

  it('expects each task of an app to cost as much as the most expensive one of the day', () => {
    const budget = new DailyBudget();
    apply(budget, 1_000_000, reserve(1, timed), reserve(2, timed));
    expect(budget.view().reservedMicros).toBe(2_000);
    apply(budget, 1_000_000, settle(1, 300_000));

    expect(budget.view()).toMatchObject({ settledMicros: 300_000, reservedMicros: 300_000 });
    expect(apply(budget, 1_000_000, reserve(3, timed), reserve(4, timed))).toEqual(['granted', 'noRoom']);
    // Not known what it cost: as much as the most expensive one.
    apply(budget, 1_000_000, settle(2, null));
    expect(budget.view()).toMatchObject({ settledMicros: 600_000, reservedMicros: 300_000, unknown: 1 });
  });

  it('grants nothing on a day that has not begun, or is over, by the clock of Temporal', () => {
    const of = (atMs: number): DayOutcome[] =>
      new DailyBudget().apply({ limit: eur(50_000), operations: [reserve(1)] }, atMs, endsAtMs);
    expect(of(endsAtMs - 25 * 3_600_000)).toEqual(['notYet']);
    expect(of(endsAtMs - 24 * 3_600_000)).toEqual(['granted']);
    expect(of(endsAtMs)).toEqual(['over']);
  });

  it('keeps no price of a worker whose task was refused', () => {
    const budget = new DailyBudget();
    const dear = { ...fixed, taskMicros: 20_000_000 };
    expect(apply(budget, 100_000, reserve(1), reserve(2), reserve(3, dear), reserve(4, dear))).toEqual([
      ...['granted', 'granted', 'noRoom', 'noRoom'],
    ]);
    expect(budget.view().reservedMicros).toBe(40_000);
    expect(apply(budget, 100_000, reserve(3))).toEqual(['granted']);
  });

  it('lets a task of unknown cost be created once more, and one more run when none has told a cost for long', () => {
    const budget = new DailyBudget();
    const asked = [1, 2, 3, 4, 5, 6].map((number) => reserve(number, timed));
    expect(apply(budget, 1e9, ...asked)).toEqual([...Array<DayOutcome>(5).fill('granted'), 'noCost']);
    expect(apply(budget, 1e9, again(1, timed), reserve(6, timed))).toEqual(['granted', 'noCost']);
    const later = (minutes: number, number: number): DayOutcome[] =>
      budget.apply({ limit: eur(1e9), operations: [reserve(number, timed)] }, nowMs + minutes * 60_000, endsAtMs);
    expect([later(14, 6), later(16, 6), later(17, 7), later(32, 7)].flat()).toEqual([
      ...['noCost', 'granted', 'noCost', 'granted'],
    ]);
  });

  it('lets five tasks run of an app whose price depends on time while none of its costs is known', () => {
    const budget = new DailyBudget();
    const asked = [1, 2, 3, 4, 5, 6].map((number) => reserve(number, timed));

    expect(apply(budget, 1e9, ...asked)).toEqual([...Array<DayOutcome>(5).fill('granted'), 'noCost']);
    apply(budget, 1e9, settle(1, null));
    expect(apply(budget, 1e9, reserve(6, timed), reserve(7))).toEqual(['noCost', 'granted']);
    apply(budget, 1e9, settle(2, 5_000));
    expect(apply(budget, 1e9, reserve(6, timed))).toEqual(['granted']);
  });

  it('holds room for a row until its create takes it, the row is given up, or a quarter of an hour is over', () => {
    const budget = new DailyBudget();

    expect(apply(budget, 50_000, hold(1), hold(1), hold(2), hold(3))).toEqual([
      ...['granted', 'known', 'granted', 'noRoom'],
    ]);
    expect(apply(budget, 50_000, reserve(3), reserve(1), hold(1))).toEqual(['noRoom', 'granted', 'known']);
    expect(budget.view()).toMatchObject({ running: 1, held: 1 });
    apply(budget, 50_000, { kind: 'unhold', task: id(2), create: 1 });
    expect(apply(budget, 50_000, hold(3))).toEqual(['granted']);
    const later = budget.apply({ limit: eur(50_000), operations: [reserve(4)] }, nowMs + 15 * 60_000, endsAtMs);
    expect(later).toEqual(['granted']);
  });

  it('releases a create for the attempt that reserved it last, and for no other', () => {
    const budget = new DailyBudget();
    apply(budget, 50_000, reserve(1, fixed, 'aa'), reserve(1, fixed, 'bb'));
    apply(budget, 50_000, { kind: 'release', by: 'aa', task: id(1), create: 1 });
    expect(budget.view().running).toBe(1);
    apply(budget, 50_000, { kind: 'release', by: 'bb', task: id(1), create: 1 });
    expect(budget.view()).toMatchObject({ running: 0, reservedMicros: 0 });
  });

  it('grants nothing once the day is over, or in a currency that it did not begin with', () => {
    const budget = new DailyBudget();
    const request = { limit: eur(50_000), operations: [reserve(1)] };
    expect(budget.apply(request, endsAtMs, endsAtMs)).toEqual(['over']);
    const other = { limit: { currency: 'USD', micros: 50_000 }, operations: [reserve(1)] };
    expect(budget.apply(other, nowMs, endsAtMs)).toEqual(['otherCurrency']);
    expect(budget.view().limit).toEqual(eur(50_000));
  });

  it('takes in whatever runs and fits into what Temporal hands over: the oldest beyond 120,000 stay spent', () => {
    const budget = new DailyBudget();
    const limit = { limit: eur(Number.MAX_SAFE_INTEGER) };
    const ask = (operations: readonly DayOperation[]) => budget.apply({ ...limit, operations }, nowMs, endsAtMs);
    const appOf = (number: number): number => (number < 40 ? number : 36 + (number % 4));
    const numbers = Array.from({ length: 130_000 }, (_, number) => number);

    expect(new Set(ask(numbers.map((number) => reserve(number, { ...fixed, app: appOf(number) }))))).toEqual(
      new Set(['granted']),
    );
    expect(budget.view()).toMatchObject({ running: 120_000, settled: 10_000, unknown: 10_000 });
    expect(budget.view().settledMicros + budget.view().reservedMicros).toBe(130_000 * fixed.taskMicros);
    const state = JSON.stringify(budget.state);
    expect(Buffer.byteLength(state)).toBeLessThan(1_900_000);

    const next = new DailyBudget(JSON.parse(state) as typeof budget.state);
    expect(next.view()).toEqual(budget.view());
    expect(apply(next, 1e12, reserve(10_000), settle(9_999, 5), settle(10_000, 5), settle(10_000, 5))).toEqual([
      ...['known', 'done', 'done', 'done'],
    ]);
    expect(next.view()).toMatchObject({ running: 119_999, settled: 10_001 });
  });

  it('keeps 500 apps apart', () => {
    const asked = Array.from({ length: 501 }, (_, number) => reserve(number, { ...fixed, app: number }));
    expect(apply(new DailyBudget(), Number.MAX_SAFE_INTEGER, ...asked).slice(-2)).toEqual(['granted', 'full']);
  });

  it('hands over what is held and further creates of a task, and takes no more rows than its state holds', () => {
    const budget = new DailyBudget();
    // The app with the greater number comes first.
    apply(budget, 1e12, hold(2, timed), reserve(1), again(1, { ...timed, taskMicros: 1 }));
    const next = new DailyBudget(JSON.parse(JSON.stringify(budget.state)) as typeof budget.state);
    expect(next.state).toEqual(budget.state);
    expect(next.view()).toEqual(budget.view());
    expect(apply(next, 1e12, again(1, timed), hold(2, timed))).toEqual(['known', 'known']);

    const rows = Array.from({ length: 20_001 }, (_, number) => hold(number + 10));
    const outcomes = apply(next, Number.MAX_SAFE_INTEGER, ...rows);
    expect([outcomes.indexOf('full'), next.view().held]).toEqual([19_999, 20_000]);
  });

  it('knows its days by UTC', () => {
    expect(utcDay(Date.parse('2026-03-01T23:59:59.999Z'))).toBe('2026-03-01');
    expect(new Date(endOfDayMs('2026-02-28')).toISOString()).toBe('2026-03-01T00:00:00.000Z');
    for (const day of ['2026-02-30', '2026-3-1', 'today', '']) expect(endOfDayMs(day)).toBeNaN();
  });
});

/** What happens to tasks of two apps in one day, in any order, with everything said once or more than once. */
const story = fc.record({
  limit: fc.integer({ min: 0, max: 400_000 }),
  isFixed: fc.boolean(),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom('hold', 'reserve', 'reserve', 'settle', 'settle', 'lose'),
      number: fc.nat({ max: 30 }),
      cost: fc.integer({ min: 1_000, max: 60_000 }),
      times: fc.integer({ min: 1, max: 3 }),
      isHandedOver: fc.boolean(),
    }),
    { maxLength: 120 },
  ),
});

describe('whatever happens to the tasks of a day', () => {
  it('they cost no more than the limit, but for what tasks that run at the same time cost more than expected', () => {
    fc.assert(
      fc.property(story, ({ limit, isFixed, steps }) => {
        let budget = new DailyBudget();
        const running = new Set<number>();
        const over = new Set<number>();
        let [spent, most] = [0, 0];
        for (const { kind, number, cost, times, isHandedOver } of steps) {
          if (isHandedOver) budget = new DailyBudget(JSON.parse(JSON.stringify(budget.state)) as typeof budget.state);
          const price = isFixed ? fixed : timed;
          const paid = isFixed ? fixed.taskMicros : cost;
          const isEnding = kind === 'settle' || kind === 'lose';
          if (over.has(number) || (isEnding && !running.has(number))) continue;
          const told = kind === 'lose' ? null : paid;
          const operation = isEnding ? settle(number, told) : { hold, reserve }[kind](number, price);
          const before = budget.view();
          const outcomes = Array.from({ length: times }, () => apply(budget, limit, operation)[0] ?? 'done');
          const { settledMicros, reservedMicros } = budget.view();

          const [first = 'done', ...again] = outcomes;
          // What was granted fits; said again, it changes nothing.
          expect(first !== 'granted' || settledMicros + reservedMicros <= limit).toBe(true);
          expect(again.every((one) => isGranted(one) === isGranted(first))).toBe(true);
          expect(isEnding || first === 'granted' || before.running === running.size).toBe(true);
          if (kind === 'reserve' && first === 'granted') {
            running.add(number);
            most = Math.max(most, running.size);
          }
          if (!isEnding) continue;
          running.delete(number);
          over.add(number);
          // What is not known is not in the sum, where it is not known beforehand either.
          spent += isFixed || kind === 'settle' ? paid : 0;
        }
        const open = running.size * (isFixed ? fixed.taskMicros : 60_000);
        const overshoot = isFixed ? 0 : most * 60_000;
        expect(spent + open).toBeLessThanOrEqual(limit + overshoot);
      }),
    );
  });
});
