import { batchReport, batchExitCode } from '../../../../src/commands/batch/batch-report';
import type { BatchResult } from '../../../../src/contract/batch/batch-messages';
import { resultOf } from '../../../support/batch-progress';

const failed = { key: 'dog', line: 3, type: 'TaskFailed', message: 'the darkroom\nis out of order' };

/** With the same source in each test. */
function reportOf(more: Partial<BatchResult>, columns?: number, elapsedMs: number | null = null): string {
  return batchReport(resultOf(more), elapsedMs, { source: 'photos.csv', files: null }, columns);
}

describe('the table at the end of a batch', () => {
  it('has totals, the slowest rows, the failed rows in the service’s words, and where the results are', () => {
    const slowest = [{ key: 'a-key-that-is-much-longer-than-its-column', line: 2, ms: 65_000 }];
    const uploads = { files: 2, bytes: 3_400_000, shared: 1_998 };
    const failures = { CreateUncertain: 1 };
    const result = { success: 2, failed: 1, badRows: 4, slowest, failures, uploads, unsuccessful: [failed] };

    expect(reportOf(result, 80, 125_000)).toBe(
      [
        'Completed  batch:photos, 3 rows in 2:05',
        '  next     longhaul batch results photos -o photos-results',
        '             2 rows: Fetch the files, named by the keys of their rows',
        '           longhaul reconcile',
        '             1 row: Find out whether the service has the task: nothing follows',
        '             it, and one that exists is paid',
        '  succeeded           2  3 outputs, 1.5 MB',
        '  failed              1  1 CreateUncertain',
        '  bad rows            4  left out',
        '  uploads             2  files, 3.4 MB',
        '  shared          1,998  files, not uploaded again',
        '',
        '  SLOWEST                     LINE  TOOK',
        '  a-key-that-is-much-long…       2  1:05',
        '',
        '  NOT SUCCEEDED               LINE  TYPE                WORDS',
        '  dog                            3  TaskFailed',
        '      the darkroom is out of order',
        '',
        '  results  /archive/batches/photos/results.csv',
        '           /archive/batches/photos/results.jsonl',
      ].join('\n'),
    );
  });

  it.each([
    [{ success: 1, failed: 1 }, 'Completed'],
    [{ success: 0, failed: 2 }, 'Failed'],
    [{ success: 0, failed: 0, canceled: 2 }, 'Canceled'],
    [{ success: 0, canceled: 2, ending: 'stopped' }, 'Stopped'],
  ] as const)('of %j is called %s', (result, word) => {
    expect(reportOf(result)).toMatch(new RegExp(`^${word}  batch:photos`));
  });

  it('says the words of rows that failed alike once, and keeps each row', () => {
    const rejected = { type: 'TaskRejected', message: 'no such app' };
    const rows = ['a', 'b', 'c'].map((key, index) => ({ key, line: index + 2, ...rejected }));
    const unsuccessful = [...rows, { ...failed, line: 9 }, { ...failed, line: 10, type: 'TaskRejected' }];
    const text = reportOf({ failed: 1_200, unsuccessful }, 200);
    expect(text.match(/no such app/g)).toHaveLength(1);
    expect(text.match(/^ {2}[bc] +[34] {2}TaskRejected +as above$/gm)).toHaveLength(2);
    expect(text.match(/the darkroom is out of order/g)).toHaveLength(2);
    expect(text).toContain('and 1,195 more; the result files have all');
  });

  it('names rows by the keys that they gave, and numbers those of a table as the sheet does', () => {
    const slug = { key: 'A-20-0123456789abcdef', originalKey: 'A 20/ä', line: 3, sheetRow: 2 };
    const unsuccessful = [{ ...slug, type: 'TaskFailed', message: 'no' }];
    const text = reportOf({ failed: 1, slowest: [{ ...slug, ms: 1_000 }], unsuccessful });
    expect(text).toMatch(/^ {2}SLOWEST +ROW {2}TOOK\n {2}A 20\/ä +2 {2}0:01$/m);
    expect(text).toMatch(/^ {2}A 20\/ä +2 {2}TaskFailed +no$/m);
    expect(text).not.toContain('A-20');
  });

  it('counts rows that were on record before, and those that the file no longer has, where there are any', () => {
    const onRecord = { success: 1_200, failed: 34, canceled: 0, gone: 2 };
    const uploads = { files: 2, bytes: 3_400_000, shared: 3 };
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const goneRows = { rows: 2, sums: [eur(40_000)], unknownRows: 1 };
    const costs = { sums: [eur(20_000)], withoutResult: [eur(5_000)], knownRows: 1, unknownRows: 0, goneRows };
    expect(reportOf({ success: 1_300, onRecord, costs, uploads }, 100)).toContain(
      [
        '  on record       1,234  ended in an earlier run, and not run again',
        '  not in file         2  on record, and not among these rows',
        '  their cost          2  rows: 0.04 EUR, not in "cost" or budget; 1 unknown',
        '  cost                1  row: 0.02 EUR over all runs, of which 0.005 EUR without a result',
        '  uploads             2  files, 3.4 MB, over all runs',
        '  shared              3  files, not uploaded again, over all runs',
      ].join('\n'),
    );
    const none = { success: 0, failed: 0, canceled: 0, gone: 0 };
    expect(reportOf({ success: 1, onRecord: none })).not.toMatch(/on record|not in file|all runs/);
    // One that was stopped has no result of its own.
    const stopped = reportOf({ ending: 'stopped', costs: { ...costs, sums: [], withoutResult: [] } });
    expect(stopped).toContain(
      '\n  not in file         2  on record, and not among these rows\n  their cost          2',
    );
  });

  it.each([40, 80])('keeps the end of a message, which says what to do, at %i columns', (columns) => {
    const message =
      'The task failed at the service: node 7 ran out of memory at 4096 x 4096; give a width of at most 2048.';
    const text = reportOf({ success: 0, failed: 1, unsuccessful: [{ ...failed, message }] }, columns);
    const lines = text.split('\n');
    expect(lines.filter((line) => line.length > columns && !line.includes('/archive/'))).toEqual([]);
    const from = lines.findIndex((line) => line.startsWith('  dog'));
    const told = lines.slice(from + 1, lines.indexOf('', from)).map((line) => line.trim());
    expect(told.join(' ')).toBe(message);
  });

  it.each([
    [{ failures: { TaskRejected: 2 } }, ['batch run photos.csv --id photos OPTIONS', 'batch retry photos --unpaid']],
    [{ failures: { AccountUnknown: 2 } }, ['batch retry photos --unpaid']],
    [
      { failures: { TaskFailed: 2 } },
      ['batch retry photos', 'batch run photos.csv --id photos OPTIONS --allow-changed'],
    ],
    [{ failures: { InputChanged: 2 } }, ['batch run photos.csv --id photos OPTIONS --allow-changed']],
    [{ failures: { ArchiveIncomplete: 1, StopUnconfirmed: 1 } }, ['reconcile', 'batch retry photos']],
    [{ ending: 'drained', notStarted: 2, canceled: 1 }, ['batch retry photos']],
    [
      { success: 1, failures: { AccountUnknown: 1 } },
      ['batch results photos -o photos-results', 'batch retry photos --unpaid'],
    ],
    [{}, []],
  ] as const)('says which commands apply to %j', (result, commands) => {
    const told = reportOf({ success: 0, ...result, failed: 2 }).match(/^(?: {2}next {5}| {11})longhaul .*$/gm) ?? [];
    expect(told.map((line) => line.replace(/^ *(?:next +)?longhaul /, ''))).toEqual(commands);
  });

  it('prints the whole command where its options are on record, also for an id that begins with a hyphen', () => {
    const result = resultOf({ batchId: '-x', success: 1, failed: 1, failures: { TaskRejected: 1 } });
    const text = batchReport(result, null, { source: 'a and 1 more', files: ['/in/my rows.csv', '/in/b.jpg'] }, 200);
    expect([...text.matchAll(/longhaul batch .*$/gm)].map(([command]) => command)).toEqual([
      'longhaul batch results -o -x-results -- -x',
      "longhaul batch run '/in/my rows.csv' /in/b.jpg --id -x",
      'longhaul batch retry --unpaid -- -x',
    ]);
  });

  it('says that rows that were not started are paid once they start', () => {
    expect(reportOf({ ending: 'stopped', notStarted: 3 }, 200)).toMatch(/ 3 rows: Start the rows .*; they are paid$/m);
  });

  it('says that there are no results of a batch that was stopped before it started a row', () => {
    const text = reportOf({ ending: 'stopped', notStarted: 3, csv: '', jsonl: '' });
    expect(text.split('\n').at(-1)).toBe('  results  none: no row was started');
  });

  it('cuts no path', () => {
    const csv = `/archive/${'deep/'.repeat(40)}results.csv`;
    expect(reportOf({ csv }, 40)).toContain(csv);
  });
});

describe('what a shell is told of a batch', () => {
  it.each([
    ['every row succeeded', {}, 0],
    ['bad rows were left out on purpose', { badRows: 2 }, 0],
    ['rows failed', { failed: 1 }, 3],
    ['rows failed and others were stopped', { failed: 1, canceled: 1, ending: 'stopped' }, 3],
    ['rows were stopped', { canceled: 1, ending: 'stopped' }, 4],
    ['rows were not started', { notStarted: 1, ending: 'drained' }, 4],
  ] as const)('when %s', (_, more, code) => {
    expect(batchExitCode(resultOf(more))).toBe(code);
  });
});
