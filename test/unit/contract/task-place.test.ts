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

describe('where a batch belongs', () => {
  it('is the workflow of its id, which alone keeps its record', () => {
    expect(batchPlaceProblems({ id: 'b' }, 'batch:b')).toEqual([]);
    expect(batchPlaceProblems({ id: 'b' }, 'batch:c')).toEqual([
      'id is "b", but the workflow id is "batch:c"; start it as "batch:b".',
    ]);
  });
});
