import type { BatchView } from '../../../../src/client/batch/batch-handle';
import { batchStatusText } from '../../../../src/commands/batch/batch-status';
import { progressOf, startedAt } from './batch-under-test';

describe('the status of a batch', () => {
  it('says once that its budget is reached', () => {
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const budget = {
      ...{ budget: eur(100_000), settled: eur(100_000), expected: eur(0), perRow: eur(20_000) },
      ...{ unknown: 0, places: 0 },
    };
    const progress = progressOf({ state: 'BudgetReached', running: 0, budget });
    const view: BatchView = {
      ...{ workflowId: 'batch:photos', batchId: 'photos', execution: 'RUNNING', isOver: false, startedAt },
      ...{ endedAt: null, source: null, taskQueue: 'longhaul', progress, stuck: null, retrying: [], url: null },
      ...{ refused: null, needPerson: 0, uploading: 0 },
    };
    const text = batchStatusText(view, Date.parse(startedAt) + 1_000);
    expect(text.split('no more rows are started')).toHaveLength(2);
    expect(text).toContain('set-budget photos AMOUNT');
    expect(text).not.toContain('problem');

    const failing = { ...progress, problem: 'the archive is full' };
    expect(batchStatusText({ ...view, progress: failing }, Date.parse(startedAt))).toMatch(/problem +the archive/);
  });

  it('says since when it is paused, which rows are tried again, and once which cannot go on', () => {
    const words = 'The service refused the create for now (HTTP 503): busy';
    const heldUp = { rows: 3, since: startedAt, key: 'order-17', activity: 'createTask', words };
    const rowStates = { asOf: startedAt, counts: { Creating: 3 }, heldUp };
    const progress = progressOf({ state: 'Paused', running: 3, pausedAt: startedAt, toRetry: 2, rowStates });
    const view: BatchView = {
      ...{ workflowId: 'batch:photos', batchId: 'photos', execution: 'RUNNING', isOver: false, startedAt },
      ...{ endedAt: null, source: null, taskQueue: 'longhaul', progress, stuck: null, retrying: [], url: null },
      ...{ refused: null, needPerson: 0, uploading: 0 },
    };
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
});
