import { batchPlaceProblems, taskPlaceProblems } from '../../../src/contract/task-place';

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
    ['a folder of too many bytes', { archiveFolder: '山'.repeat(100), batch: null }, ['archive is "山', '255 bytes']],
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
