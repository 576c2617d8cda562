import fc from 'fast-check';
import {
  batchPlaceProblems,
  isArchiveFolder,
  reservedFolderProblem,
  taskPlaceProblems,
} from '../../../src/contract/archive-folder';

describe('the folder that batches keep their records in', () => {
  it.each([
    'batches',
    'batches/nb',
    'batches/nb/results',
    'batches/nb/results/mine',
    'batches/nb/outputs',
    'batches/x/y',
  ])('is closed to a task of its own: %s', (folder) => {
    const problem = reservedFolderProblem(folder, null) ?? '';
    expect(problem).toContain(`archive is "${folder}", which is reserved`);
    expect(problem).toContain('give a folder outside "batches"');
  });

  it.each(['Batches/nb', 'BATCHES', 'batches./nb', 'batches /nb', 'ｂａｔｃｈｅｓ/nb', 'batcheſ/nb'])(
    'is closed in every spelling that a file system may take for it: %s',
    (folder) => {
      expect(reservedFolderProblem(folder, null)).toBeDefined();
      expect(reservedFolderProblem(folder, 'nb')).toBeDefined();
    },
  );

  it('is open to the rows of a batch where their outputs go, and nowhere else', () => {
    expect(reservedFolderProblem('batches/nb/outputs', 'nb')).toBeUndefined();
    expect(reservedFolderProblem('batches/nb/outputs/drafts', 'nb')).toBeUndefined();
    for (const folder of [
      'batches',
      'batches/nb',
      'batches/nb/results',
      'batches/nb/outputs2',
      'batches/other/outputs',
    ]) {
      expect(reservedFolderProblem(folder, 'nb')).toContain('"batches/nb/outputs"');
    }
  });

  it('is the only one that is closed', () => {
    expect(
      ['', 'campaign-7', 'my/batches', 'batches2', 'batche'].map((one) => reservedFolderProblem(one, null)),
    ).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  it('is not reached by any other folder that a task may name', () => {
    const part = fc.stringMatching(/^[\p{L}\p{N} ._-]{1,12}$/u);
    const named = fc.mixedCase(fc.constant('batches'));
    fc.assert(
      fc.property(fc.oneof(part, named), fc.array(part, { maxLength: 2 }), (first, rest) => {
        const folder = [first, ...rest].join('/');
        fc.pre(isArchiveFolder(folder) && reservedFolderProblem(folder, null) === undefined);
        // As Windows, macOS and Linux compare names.
        const same = first
          .normalize('NFD')
          .toUpperCase()
          .replace(/[. ]+$/, '');
        expect(same).not.toBe('BATCHES');
      }),
    );
  });
});

const row = { id: 'b', key: 'r' };

describe('where a task belongs', () => {
  it('is the batch that its workflow id names, and no other', () => {
    expect(taskPlaceProblems({ archiveFolder: 'batches/b/outputs', batch: row }, 'batch:b:r')).toEqual([]);
    for (const workflowId of ['task:mine', 'batch:b:other', 'batch:other:r', 'batch:b', 'batch:b:r ', '']) {
      const [problem = ''] = taskPlaceProblems({ archiveFolder: '', batch: row }, workflowId);
      expect(problem).toContain('batch is {"id":"b","key":"r"}');
      expect(problem).toContain(JSON.stringify(workflowId));
      expect(problem).toContain('leave batch out');
    }
  });

  it('is outside the folders of batches for every other task', () => {
    expect(taskPlaceProblems({ archiveFolder: 'mine', batch: null }, 'task:mine')).toEqual([]);
    expect(taskPlaceProblems({ archiveFolder: 'batches/b/results', batch: null }, 'task:mine')).toHaveLength(1);
    expect(taskPlaceProblems({ archiveFolder: 'batches/c/outputs', batch: row }, 'task:mine')).toHaveLength(2);
  });
});

describe('the names that a task asks for', () => {
  const plan = (template: string, columns: Record<string, string> = {}): Parameters<typeof taskPlaceProblems>[0] => {
    return { archiveFolder: '', batch: { ...row, names: { template, columns } } };
  };

  it.each([
    ['a folder of too many bytes', { archiveFolder: '山'.repeat(100), batch: null }, ['archive is "山', '143 bytes']],
    [
      'folders of too many bytes',
      { archiveFolder: 'a/'.repeat(300).slice(0, -1), batch: null },
      ['archive', '500 in all'],
    ],
    ['a template that is none', plan('{index'), ['batch.names.template', '{index', '{key}']],
    ['a template of a megabyte', plan('{key}/'.repeat(200_000)), ['batch.names.template', '1200000', 'at most 1000']],
    ['a column that is not given', plan('{batch}/{key}/{city}-{index}'), ['batch.names.columns', '"city"', 'give it']],
  ])('are refused before it is paid: %s', (_what, asked, words) => {
    const problems = taskPlaceProblems(asked, asked.batch === null ? 'task:mine' : 'batch:b:r');
    expect(problems.length).toBeGreaterThan(0);
    for (const word of words) expect(problems.join('\n')).toContain(word);
    expect(problems.join('\n').length).toBeLessThan(2_000);
  });

  it('are let be when they can be had', () => {
    expect(taskPlaceProblems(plan('{batch}/{key}/{city}-{index}', { city: 'Rome' }), 'batch:b:r')).toEqual([]);
  });
});

describe('where a batch belongs', () => {
  it('is the workflow of its id, which alone keeps its record', () => {
    expect(batchPlaceProblems({ id: 'b' }, 'batch:b')).toEqual([]);
    expect(batchPlaceProblems({ id: 'b' }, 'batch:c')).toEqual([
      'id is "b", but the workflow id is "batch:c"; start it as "batch:b".',
    ]);
  });
});
