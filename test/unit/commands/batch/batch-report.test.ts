import { batchReport, batchExitCode } from '../../../../src/commands/batch/batch-report';
import { resultOf } from './batch-under-test';

const failed = { key: 'dog', line: 3, type: 'TaskFailed', message: 'the darkroom\nis out of order' };

describe('the table at the end of a batch', () => {
  it('has totals, the slowest rows, the failed rows in the service’s words, and where the results are', () => {
    const slowest = [{ key: 'a-key-that-is-much-longer-than-its-column', line: 2, ms: 65_000 }];
    const uploads = { files: 2, bytes: 3_400_000, shared: 1_998 };
    const failures = { TaskFailed: 1 };
    const result = resultOf({ success: 2, failed: 1, badRows: 4, slowest, failures, uploads, unsuccessful: [failed] });

    expect(batchReport(result, 125_000, 80)).toBe(
      [
        'Completed  batch:photos, 3 rows in 2:05',
        '  succeeded           2  3 outputs, 1.5 MB',
        '  failed              1  1 TaskFailed',
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
        '  again    longhaul batch retry photos',
        '           as they are; rows that the service ran are paid anew',
        '           corrected rows: the command of the run with --allow-changed, without',
        '           --retry-failed; they are paid anew',
        '  results  /archive/batches/photos/results.csv',
        '           /archive/batches/photos/results.jsonl',
      ].join('\n'),
    );
  });

  it('says the words of rows that failed alike once, and keeps each row', () => {
    const rejected = { type: 'TaskRejected', message: 'no such app' };
    const rows = ['a', 'b', 'c'].map((key, index) => ({ key, line: index + 2, ...rejected }));
    const unsuccessful = [...rows, { ...failed, line: 9 }, { ...failed, line: 10, type: 'TaskRejected' }];
    const text = batchReport(resultOf({ failed: 5, unsuccessful }), null, 200);
    expect(text.match(/no such app/g)).toHaveLength(1);
    expect(text.match(/^ {2}[bc] +[34] {2}TaskRejected +as above$/gm)).toHaveLength(2);
    expect(text.match(/the darkroom is out of order/g)).toHaveLength(2);
  });

  it('names rows by the keys that they gave', () => {
    const slug = { key: 'A-20-0123456789abcdef', originalKey: 'A 20/ä', line: 3, sheetRow: 2 };
    const unsuccessful = [{ ...slug, type: 'TaskFailed', message: 'no' }];
    const text = batchReport(resultOf({ failed: 1, slowest: [{ ...slug, ms: 1_000 }], unsuccessful }), null);
    expect(text).toMatch(/^ {2}A 20\/ä +2 {2}0:01$/m);
    expect(text).toMatch(/^ {2}A 20\/ä +2 {2}TaskFailed +no$/m);
    expect(text).not.toContain('A-20');
  });

  it('counts rows that were on record before, and those that the file no longer has, where there are any', () => {
    const onRecord = { success: 1_200, failed: 34, canceled: 0, gone: 2 };
    expect(batchReport(resultOf({ success: 1_300, onRecord }), null)).toContain(
      [
        '  on record       1,234  ended in an earlier run, and not run again',
        '  not in file         2  on record, and not among these rows',
      ].join('\n'),
    );
    const uploads = { files: 2, bytes: 3_400_000, shared: 3 };
    expect(batchReport(resultOf({ success: 1_300, onRecord, uploads }), null)).toContain(
      [
        '  uploads             2  files, 3.4 MB, over all runs',
        '  shared              3  files, not uploaded again, over all runs',
      ].join('\n'),
    );
    const eur = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    const goneRows = { rows: 2, sums: [eur(40_000)], unknownRows: 1 };
    const costs = { sums: [eur(20_000)], withoutResult: [], knownRows: 1, unknownRows: 0, goneRows };
    expect(batchReport(resultOf({ success: 1_300, onRecord, costs }), null, 80)).toContain(
      [
        '  not in file         2  on record, and not among these rows',
        '  their cost          2  rows: 0.04 EUR, not in "cost" or budget; 1 unknown',
        '  cost                1  row: 0.02 EUR over all runs',
      ].join('\n'),
    );
    const none = { success: 0, failed: 0, canceled: 0, gone: 0 };
    expect(batchReport(resultOf({ success: 1, onRecord: none }), null)).not.toMatch(/on record|not in file/);
  });

  it('has the rows that are not in the file also of a batch that was stopped, which has no result of its own', () => {
    const goneRows = { rows: 2, sums: [{ currency: 'EUR', micros: 40_000 }], unknownRows: 0 };
    const costs = { sums: [], withoutResult: [], knownRows: 0, unknownRows: 0, goneRows };
    const lines = batchReport(resultOf({ ending: 'stopped', costs }), null).split('\n');
    expect(lines).toContain('  not in file         2  on record, and not among these rows');
    expect(lines).toContain('  their cost          2  rows: 0.04 EUR, not in "cost" or budget');
  });

  it.each([40, 80])('keeps the end of a message, which says what to do, at %i columns', (columns) => {
    const message =
      'The task failed at the service: node 7 ran out of memory at 4096 x 4096; give a width of at most 2048.';
    const text = batchReport(resultOf({ failed: 1, unsuccessful: [{ ...failed, message }] }), null, columns);

    const lines = text.split('\n');
    expect(lines.filter((line) => line.length > columns && !line.includes('/archive/'))).toEqual([]);
    const from = lines.findIndex((line) => line.startsWith('  dog'));
    const told = lines.slice(from + 1, lines.indexOf('', from)).map((line) => line.trim());
    expect(told.join(' ')).toBe(message);
  });

  it('says what applies to rows that were refused, apart from those that can run again as they are', () => {
    const failures = { TaskRejected: 2, TaskFailed: 1 };
    const lines = batchReport(resultOf({ failed: 3, failures }), null, 60).split('\n');
    expect(lines.filter((line) => line.length > 60 && !line.includes('/archive/'))).toEqual([]);
    expect(lines.slice(lines.indexOf('  again    longhaul batch retry photos'))).toEqual([
      '  again    longhaul batch retry photos',
      '           as they are; rows that the service ran are paid',
      '           anew',
      '           corrected rows: the command of the run with',
      '           --allow-changed, without --retry-failed; they are',
      '           paid anew',
      '  correct  2 rows refused and not paid: correct the file,',
      '           then the command of the run, without',
      '           --retry-failed, which pays failed rows anew',
      '           where the cause was not in the row, such as a',
      expect.any(String),
      '           batch retry photos --unpaid, which runs no other',
      '           failed row',
      expect.stringContaining('  results  '),
      expect.any(String),
    ]);
    const refused = batchReport(resultOf({ failed: 2, failures: { TaskRejected: 2 } }), null, 160);
    expect(refused).not.toContain('  again ');
    expect(refused).not.toContain('--allow-changed');
  });

  it('does not say that a row runs again whose key stands for other content', () => {
    const text = batchReport(resultOf({ failed: 2, failures: { InputChanged: 2 } }), null);
    expect(text).not.toContain('again    longhaul batch retry');
    expect(text).toContain('  changed  2 rows not started and not paid: their keys stand for other content;');
    expect(text).toContain('--allow-changed');
    const both = batchReport(resultOf({ failed: 3, failures: { InputChanged: 1, TaskFailed: 2 } }), null);
    expect(both).toContain('again    longhaul batch retry photos');
    expect(both).toContain('  changed  1 row not started and not paid: its key stands');
  });

  it('numbers rows of a table as the sheet does', () => {
    const unsuccessful = [{ ...failed, sheetRow: 2 }];
    const slowest = [{ key: 'cat', line: 9, sheetRow: 5, ms: 1_000 }];
    const lines = batchReport(resultOf({ failed: 1, unsuccessful, slowest }), null).split('\n');
    expect(lines.find((line) => line.includes('SLOWEST'))).toMatch(/ ROW {2}TOOK$/);
    expect(lines.find((line) => line.includes('  cat '))).toMatch(/ 5 {2}0:01$/);
    expect(lines.find((line) => line.includes('  dog '))).toMatch(/ 2 {2}TaskFailed/);
  });

  it.each(['InputUnusable', 'TaskRejected'])('says how a row refused as %s runs again, and stays as it is', (type) => {
    const text = batchReport(resultOf({ failed: 1, failures: { [type]: 1 } }), null);
    expect(text).toContain('longhaul batch retry photos --unpaid');
  });

  it('has rows looked for that may run unfollowed at the service, before it has the others run again', () => {
    const failures = { CreateUncertain: 2, StopUnconfirmed: 1 };
    const uncertain = batchReport(resultOf({ failed: 3, failures }), null);
    expect(uncertain).toContain(
      '  ask      longhaul reconcile\n           3 rows of which the service may have the task, and nothing follows it',
    );
    expect(uncertain).not.toMatch(/batch retry|paid anew/);
    const both = batchReport(resultOf({ failed: 4, failures: { ...failures, TaskFailed: 1 } }), null);
    expect(both.indexOf('longhaul reconcile')).toBeLessThan(both.indexOf('longhaul batch retry photos'));
  });

  it.each(['drained', 'stopped'] as const)(
    'says that rows are paid once retry starts them: a batch that was %s',
    (ending) => {
      expect(batchReport(resultOf({ ending, notStarted: 3 }), null)).toContain(
        '  again    longhaul batch retry photos\n           3 rows not started and not paid so far: retry starts and pays them\n',
      );
      expect(batchReport(resultOf({ ending, notStarted: 1 }), null)).toContain('retry starts and pays it\n');
    },
  );

  it('names nothing as paid where rows were not created', () => {
    const failures = { AccountUnknown: 2 };
    expect(batchReport(resultOf({ failed: 2, failures }), null)).not.toContain('paid');
  });

  it('says that costs are those of all runs, so that a run in which nothing ran does not look paid', () => {
    const sums = [{ currency: 'EUR', micros: 1_140_000 }];
    const costs = { sums, withoutResult: [{ currency: 'EUR', micros: 20_000 }], knownRows: 57, unknownRows: 0 };
    expect(batchReport(resultOf({ costs }), 1_000)).toContain(
      'cost               57  rows: 1.14 EUR over all runs, of which 0.02 EUR without a result',
    );
  });

  it('counts every failure by its type, and says how many it does not show', () => {
    const failures = { CreateUncertain: 10, TaskFailed: 1_190 };
    const text = batchReport(resultOf({ rows: 1_203, failed: 1_200, failures, unsuccessful: [failed, failed] }), null);

    expect(text).toContain('failed          1,200  1,190 TaskFailed, 10 CreateUncertain');
    expect(text).toContain('and 1,198 more; the result files have all');
  });

  it('says that there are no results of a batch that was stopped before it started a row', () => {
    const text = batchReport(resultOf({ ending: 'stopped', notStarted: 3, csv: '', jsonl: '' }), null);
    expect(text.split('\n').at(-1)).toBe('  results  none: no row was started');
  });

  it('cuts no path', () => {
    const csv = `/archive/${'deep/'.repeat(40)}results.csv`;
    expect(batchReport(resultOf({ csv }), null, 40)).toContain(csv);
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
