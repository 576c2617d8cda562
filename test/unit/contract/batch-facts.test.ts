import { batchFacts, type KnownBatch, lastFailures, paceText } from '../../../src/contract/batch/batch-facts';
import { problemOfRows } from '../../../src/contract/batch/batch-activities';
import type { BatchProgress } from '../../../src/contract/batch/batch-messages';
import { progressOf, resultOf, startedAt } from '../../support/batch-progress';

const startMs = Date.parse(startedAt);
const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
const words = (text: string): string => `<${text}>`;
const code = (text: string): string => `$${text}`;

function factsOf(progress: Partial<BatchProgress> = {}, more: Partial<KnownBatch> = {}): Record<string, string> {
  const batch = { progress: progressOf(progress), isOver: false, ...more };
  return Object.fromEntries(batchFacts(batch, { nowMs: startMs, words, code }).map(({ name, value }) => [name, value]));
}

function budgetOf(places: number): NonNullable<BatchProgress['budget']> {
  return {
    budget: eur(20e6),
    settled: eur(12.4e6),
    expected: eur(1.5e6),
    perRow: eur(50_000),
    unknown: 0,
    places,
  };
}

describe('the facts of a batch', () => {
  it('are its counts and its pace where nothing else is to say', () => {
    expect(factsOf()).toEqual({
      Rows: '1,234 of 2,000 ended (61 %)',
      Ended: '1,200 succeeded, 30 failed, 4 canceled',
      Now: '100 running (at most 100), 666 waiting',
      Pace: '12 rows a minute, over at about 2026-03-01 12:02 UTC',
    });
    expect(factsOf({ rows: 0, badRows: 2, success: 0, failed: 0, canceled: 0 })['Rows']).toBe(
      '0 of 0 ended (100 %), 2 bad rows left out',
    );
  });

  it('tell the moment of the counts, until they are final', () => {
    expect(factsOf({ lastMovedAt: startedAt })['Now']).toContain('waiting; as of 2026-03-01 12:00:00 UTC');
    expect(factsOf({ lastMovedAt: startedAt }, { isOver: true })['Now']).toBe('100 running, 666 waiting');
  });

  it('tell how a paused batch goes on, which rows are tried again, and which attempt runs', () => {
    expect(factsOf({ state: 'Paused', pausedAt: startedAt, toRetry: 2, attempt: { number: 2, of: 3 } })).toMatchObject({
      Paused: 'since 2026-03-01 12:00:00 UTC; to go on: $longhaul batch resume photos, or the update $resume',
      'To try again': '2 rows so far, once every row had its turn',
      Attempt: '2 of 3; rows that failed run again, and count as running, no longer as ended',
    });
    expect(factsOf({ attempt: { number: 1, of: 3 } })['Attempt']).toBe('1 of 3');
    const over = factsOf({ state: 'Paused', pausedAt: startedAt, toRetry: 2 }, { isOver: true });
    expect(Object.keys(over)).toEqual(['Rows', 'Ended', 'Now']);
  });

  it('tell what the running rows do, and which wait for a person, as of the last poll', () => {
    const rowStates = { asOf: startedAt, counts: { CreateUncertain: 1, Running: 2_000 } };
    const asOf = 'as of 2026-03-01 12:00 UTC';
    expect(factsOf({ rowStates })).toMatchObject({
      'Running rows': `2,000 Running, 1 CreateUncertain; ${asOf}`,
      'Wait for you': '1 row: $longhaul list --batch photos --needs-person',
    });
    const lastMovedAt = '2026-03-01T12:00:01.000Z';
    expect(factsOf({ rowStates, lastMovedAt })['Running rows']).toMatch(/UTC, and rows have started or ended since$/);
    // Those that run may have started since.
    expect(factsOf({ rowStates: { asOf: startedAt, counts: {} } })).not.toHaveProperty('Running rows');
    for (const none of [factsOf({ rowStates, running: 0 }), factsOf({ rowStates }, { isOver: true })]) {
      expect(none).not.toHaveProperty('Running rows');
    }
  });

  it('tell of the problem of a batch that is not over, and what a client knows rather than the last poll', () => {
    const slug = { key: 'A-20-0123', originalKey: 'A 20/ä' };
    const busy = { code: 'Retrying', message: 'createTask: busy', since: startedAt, remedy: null } as const;
    const problem = problemOfRows('photos', { rows: 3, ...slug, problem: busy });
    const remedy = 'longhaul list --batch photos --problem names them.';
    const told = `<Retrying since 2026-03-01 12:00:00 UTC: 3 rows, the first (A 20/ä): createTask: busy ${remedy}>`;
    expect(factsOf({ problem })['Problem']).toBe(told);
    expect(factsOf({ problem }, { isOver: true })).not.toHaveProperty('Problem');
    const nextAttemptAt = new Date(startMs + 7_500).toISOString();
    const facts = factsOf({ problem }, { needPerson: 2, uploading: 5, problem: { ...busy, nextAttemptAt } });
    expect(facts['Problem']).toBe('<Retrying since 2026-03-01 12:00:00 UTC, next try in 8 s: createTask: busy>');
    expect(facts['Now']).toMatch(/^98 running .* 2 waiting for you/);
    expect(Object.keys(facts).slice(0, 2)).toEqual(['Wait for you', 'Problem']);
    expect(facts['Wait for you']).toMatch(/^2 rows:/);
    expect(facts['Uploads']).toBe('5 rows now, 0 files (0 B) sent, 0 shared');
  });

  it('tell what is spent of a budget, and how a batch goes on that has reached it', () => {
    const spent = '12.40 EUR of 20.00 EUR spent';
    expect(factsOf({ budget: budgetOf(3) })['Budget']).toBe(`${spent}, 1.50 EUR expected for rows that run`);
    const reached = factsOf({ state: 'BudgetReached', budget: budgetOf(0), running: 0 });
    expect(reached['Budget']).toMatch(
      /no more rows .*; to go on: \$longhaul batch set-budget photos AMOUNT, or the update \$setBudget; to end it: \$longhaul batch drain photos$/,
    );
    expect(reached['Pace']).toBe('no row starts until the budget is raised');
    const dailyBudget = { account: 'default', words: 'the daily budget is reached', untilMs: 0 };
    expect(factsOf({ dailyBudget })['Daily budget']).toBe('<the daily budget is reached>');
    const over = factsOf({ budget: budgetOf(0), dailyBudget }, { isOver: true });
    expect(over['Budget']).toBe(spent);
    expect(over).not.toHaveProperty('Daily budget');
  });

  it('tell the known costs where there is no budget', () => {
    expect(factsOf({ costs: { sums: [eur(1e6)], unknown: 0 } })['Costs']).toBe('1.00 EUR');
    expect(factsOf({ costs: { sums: [], unknown: 3 } })).not.toHaveProperty('Costs');
  });

  it('explain attempts that failed, and tell the rows of the report once it is made', () => {
    const failures = { B: 2, A: 3 };
    expect(factsOf({ failed: 5, failures })['Failures']).toBe('3 <A>, 2 <B>');
    expect(factsOf({ failed: 4, failures })['Failures']).toBe('3 <A>, 2 <B>; of this run, each attempt counted');
    const report = resultOf({ csv: '/a/results.csv', html: '/a/report.html', failures: { A: 4 } });
    const ended = factsOf({ state: 'Ended', failed: 4, failures, report });
    expect(ended).toMatchObject({ Failures: '4 <A>', Table: '</a/results.csv>', Report: '</a/report.html>' });
    expect(ended).not.toHaveProperty('Pace');
  });
});

describe('the pace of a batch in words', () => {
  it('has no end before enough rows have ended for it to keep', () => {
    const ended = (success: number): string =>
      paceText({ progress: progressOf({ success, failed: 0, canceled: 0 }) }, startMs);
    expect(ended(4)).toBe('12 rows a minute');
    expect(ended(5)).toContain('over at about');
  });

  it('has none while no row moves, or nearly none can go on', () => {
    const stalled = { progress: progressOf({ lastMovedAt: startedAt }) };
    expect(paceText(stalled, startMs + 60_000)).toContain('over at about');
    expect(paceText(stalled, startMs + 432_000)).toMatch(/^no row has started or ended for 7 m 12 s/);
    const problem = { code: 'Retrying', message: 'watchTask: HTTP 301', since: startedAt, remedy: null } as const;
    const rowStates = {
      asOf: startedAt,
      counts: { Watching: 24, ArchiveIncomplete: 9 },
      problem: { rows: 22, key: 'a', problem },
    };
    const pace = (running: number, needPerson?: number): string =>
      paceText({ progress: progressOf({ running, rowStates }), needPerson }, startMs);
    expect(pace(33)).toBe('no end can be estimated');
    expect(pace(60)).toContain('over at about');
    expect(pace(60, 40)).toBe('no end can be estimated');
  });

  it('says that nothing has ended only when nothing has', () => {
    const none = { perMinute: null, expectedEnd: null };
    expect(paceText({ progress: progressOf({ ...none, success: 0, failed: 0, canceled: 0 }) }, startMs)).toBe(
      'no row has ended yet',
    );
    expect(paceText({ progress: progressOf(none) }, startMs)).toBe('no row has ended since the start');
  });
});

describe('the last rows that failed', () => {
  it('are each named once, by the keys that they gave, and those that failed alike together', () => {
    const failures = ['no', 'full', 'no', 'no'].map((message, index) => ({
      key: `k${index}`,
      line: index + 2,
      message,
    }));
    const again = { key: 'k1', line: 3, message: 'before' };
    const slug = { key: 'A-20', originalKey: 'A 20/ä', line: 9, message: 'no' };
    expect(lastFailures(progressOf({ lastFailures: [...failures, again, slug] }), (text) => text)).toEqual([
      '4 rows, k0 (line 2), k2 (line 4), k3 (line 5), A 20/ä (line 9): no',
      'k1 (line 3): full',
    ]);
  });
});
