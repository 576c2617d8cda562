import type { BatchView } from '../../../../src/client/batch/batch-view';
import { batchStatusText } from '../../../../src/commands/batch/batch-status';
import { progressOf, startedAt } from '../../../support/batch-progress';

function viewOf(more: Partial<BatchView>): BatchView {
  return {
    ...{ workflowId: 'batch:photos', batchId: 'photos', execution: 'RUNNING', isOver: false, startedAt },
    ...{ endedAt: null, source: null, files: null, taskQueue: 'longhaul', progress: null, problem: null, url: null },
    ...{ refused: null, failure: null, needPerson: 0, uploading: 0 },
    ...more,
  };
}

const endedAt = '2026-03-01T12:00:42.000Z';

describe('the status of a batch', () => {
  it('has the facts of the batch, and the step that fails', () => {
    const problem = { code: 'Retrying', message: 'openBatch: disk full', since: null, remedy: null } as const;
    const progress = progressOf({ state: 'Paused', lastFailures: [{ key: 'a', line: 3, message: 'no' }], failed: 1 });
    const text = batchStatusText(viewOf({ progress, source: 'photos.csv', problem }), Date.parse(startedAt) + 42_000);
    expect(text.split('\n')).toEqual([
      'batch:photos',
      '  state         Paused for 0:42',
      '  rows of       photos.csv',
      '  problem       Retrying: openBatch: disk full',
      '  rows          1,205 of 2,000 ended (60 %)',
      '  ended         1,200 succeeded, 1 failed, 4 canceled',
      '  now           100 running (at most 100), 666 waiting',
      '  paused        to go on: longhaul batch resume photos, or the update resume',
      expect.stringMatching(/^ {2}pace {10}12 rows a minute/),
      '  failed: a (line 3): no',
    ]);
  });

  it.each([
    ['COMPLETED', 'Completed, over after 0:42; see "longhaul batch report photos"'],
    ['CANCELLED', 'Stopped, over after 0:42; see "longhaul batch report photos"'],
    ['TERMINATED', 'Cut off (terminated), over after 0:42'],
  ] as const)('has one word for the end of a workflow that is %s', (execution, words) => {
    const progress = progressOf({ state: 'Ended', running: 0, waiting: 0 });
    const text = batchStatusText(viewOf({ execution, isOver: true, endedAt, progress }), Date.now());
    expect(text.split('\n')[1]).toBe(`  state         ${words}`);
    expect(text).not.toMatch(/Ended|COMPLETED|CANCELLED/);
  });

  it('says how many rows more have failed than it names, and how to list them', () => {
    const lastFailures = [{ key: 'a', line: 3, message: 'no' }];
    const shown = (failed: number): string =>
      batchStatusText(viewOf({ progress: progressOf({ failed, lastFailures }) }), Date.parse(startedAt));
    expect(shown(8)).toMatch(/^ {2}and 7 more that failed: longhaul list --batch \S+ --status Failed$/m);
    expect(shown(1)).not.toContain('more that failed');
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
    expect(batchStatusText(over, Date.now(), { ending: 'drained', rows: 2, success: 0, failed: 0 })).toMatch(
      /^ {2}state +Drained, over after/m,
    );
    expect(batchStatusText(over, Date.now())).toMatch(/^ {2}state +Completed, over after/m);
    const none = { ending: 'completed', rows: 2, success: 0, failed: 2 } as const;
    expect(batchStatusText(over, Date.now(), none)).toMatch(/^ {2}state +Failed, over after/m);
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
