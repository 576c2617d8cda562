import fc from 'fast-check';
import {
  adoptionKey,
  createRecordName,
  isLonghaulWorkflowId,
  isTaskKey,
  taskKeyOf,
  taskWorkflowId,
  workflowIdOf,
} from '../../../src/contract/workflow-ids';

const keys = fc.stringMatching(/^[A-Za-z0-9._-]{1,80}$/);

describe('the workflow id of a task', () => {
  it('leads back to its key, for every key', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(isTaskKey(key)).toBe(true);
        expect(taskWorkflowId(key)).toBe(`task:${key}`);
        expect(taskKeyOf(taskWorkflowId(key))).toBe(key);
      }),
    );
  });

  it.each(['', 'a b', 'a:b', 'a/b', 'ü', 'x'.repeat(81), 'a\n'])('is refused for the key %j, which it names', (key) => {
    expect(isTaskKey(key)).toBe(false);
    expect(() => taskWorkflowId(key)).toThrow(JSON.stringify(key));
  });

  it.each(['', 'task:', 'task:a:b', 'batch:b1', 'batch:b1:row', 'Task:a', 'task:a b'])('is not %j', (workflowId) => {
    expect(taskKeyOf(workflowId)).toBeUndefined();
  });

  it('is what a person means by a key, and other ids stand as they are', () => {
    expect(workflowIdOf('photo-1')).toBe('task:photo-1');
    expect(workflowIdOf('task:photo-1')).toBe('task:photo-1');
    expect(workflowIdOf('batch:b1:row-2')).toBe('batch:b1:row-2');
    expect(() => workflowIdOf('no such key')).toThrow(RangeError);
  });
});

describe('the key of an adopted task', () => {
  const requestIds = fc.stringMatching(/^[\x21-\x7e]{1,200}$/);

  it('shows the request id where that can stand in a key, and is durable', () => {
    expect(adoptionKey('3f0c2a4e-51c5')).toBe('adopt-3f0c2a4e-51c5');
    expect(adoptionKey('a/b:c')).toBe('adopt-a-b-c-9f1fd9bc435d1ea6');
  });

  it('is a key, and another one for every request id', () => {
    fc.assert(
      fc.property(requestIds, requestIds, (one, other) => {
        fc.pre(one !== other);
        expect(isTaskKey(adoptionKey(one))).toBe(true);
        expect(adoptionKey(one)).not.toBe(adoptionKey(other));
      }),
    );
  });
});

describe('the id that a callback names', () => {
  it('is Longhaul’s for every task, batch and row', () => {
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const ids = [taskWorkflowId(one), `batch:${one}`, `batch:${one}:${other}`];
        expect(ids.every(isLonghaulWorkflowId)).toBe(true);
      }),
    );
  });

  it.each([
    ...[
      '',
      'task',
      'task:',
      'task:a:b',
      'batch',
      'batch:',
      'batch:a:',
      'batch::a',
      'batch:a:b:c',
      'a',
      ':a',
      'payroll:a',
    ],
    ...['Task:a', 'task:a b', 'task:a\n', 'task:ü', `task:${'x'.repeat(81)}`, 'toString:a', '__proto__:a'],
  ])('is not %j', (id) => {
    expect(isLonghaulWorkflowId(id)).toBe(false);
  });
});

describe('createRecordName', () => {
  const workflowIds = fc.oneof(
    keys.map((key) => `task:${key}`),
    // Any Temporal client may start a task under any id.
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('.', '..', '...', '%2E', '%2E%2E', 'a/b', 'a%2Fb', '../../etc/passwd', 'task:a', 'task%3Aa'),
  );

  it('is durable: records that were made before are found under it', () => {
    expect(createRecordName('task:photo-1', 1)).toBe('.creates/dc/task%3Aphoto-1.1.json');
  });

  it('spreads creates evenly over 256 folders, so that none grows too large to list', () => {
    const names = Array.from({ length: 20_000 }, (_, row) => createRecordName(`batch:night:${row}`, 1));
    const sizes = new Map<string, number>();
    for (const name of names) sizes.set(name.slice(0, 11), (sizes.get(name.slice(0, 11)) ?? 0) + 1);
    expect(sizes.size).toBe(256);
    expect(Math.max(...sizes.values())).toBeLessThan((2 * names.length) / 256);
  });

  it('differs for every two creates, or one task would take over the other’s request id', () => {
    const create = fc.tuple(workflowIds, fc.integer({ min: 1, max: 50 }));
    fc.assert(
      fc.property(create, create, (one, other) => {
        fc.pre(one[0] !== other[0] || one[1] !== other[1]);
        expect(createRecordName(...one)).not.toBe(createRecordName(...other));
      }),
    );
  });

  it('stays in its folder, whatever the workflow id is', () => {
    fc.assert(
      fc.property(workflowIds, (workflowId) => {
        const parts = createRecordName(workflowId, 1).split('/');
        expect(parts).toHaveLength(3);
        expect(['', '.', '..']).not.toContain(parts[1]);
      }),
    );
  });
});
