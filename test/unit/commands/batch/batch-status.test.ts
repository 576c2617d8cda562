import type { BatchView } from '../../../../src/client/batch/batch-view';
import { batchStatusText } from '../../../../src/commands/batch/batch-status';
import { progressOf, resultOf, startedAt } from './batch-under-test';

function viewOf(more: Partial<BatchView>): BatchView {
  return {
    ...{ workflowId: 'batch:photos', batchId: 'photos', execution: 'RUNNING', isOver: false, startedAt },
    ...{ endedAt: null, source: null, taskQueue: 'longhaul', progress: null, stuck: null, retrying: [], url: null },
    ...{ refused: null, failure: null, needPerson: 0, uploading: 0, isOverloaded: false, createsHeldUp: null },
    ...more,
  };
}

const endedAt = '2026-03-01T12:00:42.000Z';

describe('the status of a batch', () => {
  it('says once that its budget is reached', () => {
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const budget = {
      ...{ budget: eur(100_000), settled: eur(100_000), expected: eur(0), perRow: eur(20_000) },
      ...{ unknown: 0, places: 0 },
    };
    const progress = progressOf({ state: 'BudgetReached', running: 0, budget });
    const view = viewOf({ progress });
    const text = batchStatusText(view, Date.parse(startedAt) + 1_000);
    expect(text.split('no more rows are started')).toHaveLength(2);
    expect(text).toContain('set-budget photos AMOUNT');
    expect(text).toMatch(/^ {2}pace +no row starts until the budget is raised$/m);
    expect(text).not.toContain('problem');

    const failing = { ...progress, problem: 'the archive is full' };
    expect(batchStatusText({ ...view, progress: failing }, Date.parse(startedAt))).toMatch(/problem +the archive/);
  });

  it('says how old its counts are, and why fewer rows have ended than before', () => {
    const attempt = { number: 2, of: 3 };
    const view = viewOf({ progress: progressOf({ running: 3, lastMovedAt: startedAt, attempt }) });
    const text = batchStatusText(view, Date.parse(startedAt) + 42_000);
    expect(text).toMatch(/^ {2}rows +.*; at most \d+ at a time; as of 0:42 ago$/m);
    expect(text).toMatch(/^ {2}attempt +2 of 3; rows that failed run again, and count as running$/m);

    const over = { ...view, isOver: true, execution: 'COMPLETED', endedAt } as const;
    expect(batchStatusText(over, Date.parse(endedAt))).not.toContain('as of');
  });

  it('says since when it is paused, which rows are tried again, and once which cannot go on', () => {
    const words = 'The service refused the create for now (HTTP 503): busy';
    const heldUp = { rows: 3, since: startedAt, key: 'order-17', activity: 'createTask', words };
    const rowStates = { asOf: startedAt, counts: { Creating: 3 }, heldUp };
    const progress = progressOf({ state: 'Paused', running: 3, pausedAt: startedAt, toRetry: 2, rowStates });
    const view = viewOf({ progress });
    const text = batchStatusText(view, Date.parse(startedAt) + 42_000);
    expect(text).toMatch(/^ {2}paused +since .* UTC, for 0:42; longhaul batch resume photos$/m);
    expect(text).toMatch(/^ {2}to be tried +2 rows again, once every row had its turn$/m);
    expect(text).toMatch(
      /^ {2}held up +3 rows, the first \(order-17\) since .* UTC: createTask: The service .*\): busy$/m,
    );
    expect(text.split('HTTP 503')).toHaveLength(2);
    expect(text).not.toContain('problem');

    const none = batchStatusText({ ...view, progress: { ...progress, toRetry: 0 } }, Date.parse(startedAt));
    expect(none).not.toContain('to be tried');

    const dailyBudget = { account: 'default', words: 'the daily budget of default is reached', untilMs: 0 };
    const both = batchStatusText({ ...view, progress: { ...progress, dailyBudget } }, Date.parse(startedAt));
    expect(both).toMatch(/^ {2}problem +the daily budget of default is reached$/m);
    expect(both.split('HTTP 503')).toHaveLength(2);
  });

  it.each([
    ['COMPLETED', 'Completed, over after 0:42; see "longhaul batch report photos"'],
    ['CANCELLED', 'Stopped, over after 0:42; see "longhaul batch report photos"'],
    ['TERMINATED', 'Cut off (terminated), over after 0:42'],
  ] as const)('has one word for the end of a workflow that is %s', (execution, words) => {
    const progress = progressOf({ state: 'Ended', running: 0, waiting: 0 });
    const text = batchStatusText(viewOf({ execution, isOver: true, endedAt, progress }), Date.now());
    expect(text.split('\n')[1]).toBe(`  state        ${words}`);
    expect(text).toMatch(/^ {2}rows +0 running, 0 waiting, 30 failed, 4 canceled$/m);
    expect(text).not.toMatch(/Ended|COMPLETED|CANCELLED/);
  });

  it('suggests no larger budget once it is over, and explains attempts that failed', () => {
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const budget = {
      ...{ budget: eur(100_000), settled: eur(100_000), expected: eur(0), perRow: eur(20_000) },
      ...{ unknown: 0, places: 0 },
    };
    const dailyBudget = { account: 'default', words: 'the daily budget of default is reached', untilMs: 0 };
    const twice = { key: 'a', line: 2 };
    const lastFailures = [
      { ...twice, message: 'again' },
      { key: 'b', line: 3, message: 'no' },
      { ...twice, message: 'first' },
    ];
    const progress = progressOf({ budget, dailyBudget, failed: 2, failures: { TaskFailed: 3 }, lastFailures });
    const over = viewOf({ execution: 'COMPLETED', isOver: true, endedAt, progress });
    const text = batchStatusText(over, Date.now());
    expect(text).toMatch(/^ {2}budget +0\.10 EUR of 0\.10 EUR spent$/m);
    expect(text).not.toMatch(/set-budget|problem|no more rows/);
    expect(text).toMatch(/^ {2}failures +3 TaskFailed; of this run, each attempt counted$/m);
    expect(text.match(/failed: .*/g)).toEqual(['failed: a (line 2): again', 'failed: b (line 3): no']);

    const reported = { ...progress, report: resultOf({ failures: { TaskFailed: 2 } }) };
    expect(batchStatusText({ ...over, progress: reported }, Date.now())).toMatch(/^ {2}failures +2 TaskFailed$/m);
  });

  it('names rows by the keys that they gave', () => {
    const slug = { key: 'A-20-0123456789abcdef', originalKey: 'A 20/ä' };
    const heldUp = { rows: 1, since: startedAt, ...slug, activity: 'createTask', words: 'busy' };
    const rowStates = { asOf: startedAt, counts: { Creating: 1 }, heldUp };
    const lastFailures = [{ ...slug, line: 3, message: 'no' }];
    const text = batchStatusText(viewOf({ progress: progressOf({ rowStates, lastFailures }) }), Date.parse(startedAt));
    expect(text).toMatch(/^ {2}held up +1 row, A 20\/ä since/m);
    expect(text).toMatch(/^ {2}failed: A 20\/ä \(line 3\): no$/m);
    expect(text).not.toContain('A-20');
  });

  it('says the words of rows that failed alike once', () => {
    const lastFailures = ['no', 'full', 'no', 'no'].map((message, index) => ({
      key: `k${index}`,
      line: index + 2,
      message,
    }));
    const view = viewOf({ progress: progressOf({ failed: 4, lastFailures }) });
    expect(batchStatusText(view, Date.parse(startedAt)).match(/failed: .*/g)).toEqual([
      'failed: 3 rows, k0 (line 2), k2 (line 4), k3 (line 5): no',
      'failed: k1 (line 3): full',
    ]);
  });

  it('says how many rows more have failed than it names, and how to list them', () => {
    const lastFailures = [{ key: 'a', line: 3, message: 'no' }];
    const shown = (failed: number): string =>
      batchStatusText(viewOf({ progress: progressOf({ failed, lastFailures }) }), Date.parse(startedAt));
    expect(shown(8)).toMatch(/^ {2}and 7 more that failed: longhaul list --batch \S+ --status Failed$/m);
    expect(shown(1)).not.toContain('more that failed');
  });

  it('says what is left to do once its workflow was cut off', () => {
    const over = viewOf({ execution: 'TERMINATED', isOver: true, endedAt, progress: progressOf({ running: 2 }) });
    const [next] = /^ {2}next .*$/m.exec(batchStatusText(over, Date.now())) ?? [];
    expect(next).toMatch(/rows that ran go on, and are paid: longhaul batch retry photos takes it up again/);
    expect(next).toMatch(/longhaul list --batch photos, then longhaul stop batch:photos:KEY of each$/);
  });

  it('says once it is over that rows may have tasks that nothing follows', () => {
    const progress = progressOf({ failures: { TaskFailed: 1, StopUnconfirmed: 2 } });
    const over = viewOf({ execution: 'CANCELLED', isOver: true, endedAt, progress });
    expect(batchStatusText(over, Date.now())).toMatch(/^ {2}next +longhaul reconcile: of 2 rows the service may/m);
    expect(batchStatusText(viewOf({ progress }), Date.now())).not.toMatch(/^ {2}next/m);
    const others = { ...over, progress: progressOf({ failures: { TaskFailed: 1 } }) };
    expect(batchStatusText(others, Date.now())).not.toMatch(/^ {2}next/m);
  });

  it('says how it ended where that is known', () => {
    const over = viewOf({ execution: 'COMPLETED', isOver: true, endedAt });
    expect(batchStatusText(over, Date.now(), 'drained')).toMatch(/^ {2}state +Drained, over after/m);
    expect(batchStatusText(over, Date.now())).toMatch(/^ {2}state +Completed, over after/m);
  });

  it('says why a run failed, and that it was refused where it started no row', () => {
    const failure = { type: 'BudgetUnusable', message: 'no price is known' };
    const over = { execution: 'FAILED', isOver: true, endedAt, failure } as const;
    const opening = viewOf({ ...over, progress: progressOf({ state: 'Opening' }) });
    const text = batchStatusText(opening, Date.now());
    expect(text).toMatch(/^ {2}state +Refused, over after 0:42\n {2}failure +BudgetUnusable: no price is known$/m);
    const running = viewOf({ ...over, progress: progressOf() });
    expect(batchStatusText(running, Date.now())).toMatch(/^ {2}state +Failed, over after 0:42$/m);
  });
});
