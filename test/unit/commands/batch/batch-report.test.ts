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
        '  results  /archive/batches/photos/results.csv',
        '           /archive/batches/photos/results.jsonl',
      ].join('\n'),
    );
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
      '  correct  2 rows refused and not paid: correct the file,',
      '           then the same command with --retry-failed',
      expect.stringContaining('  results  '),
      expect.any(String),
    ]);
    const refused = batchReport(resultOf({ failed: 2, failures: { TaskRejected: 2 } }), null, 160);
    expect(refused).not.toContain('batch retry');
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
