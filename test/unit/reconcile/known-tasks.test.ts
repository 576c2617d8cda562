import { randomUUID } from 'node:crypto';
import type { ListedTask } from '../../../src/client/task/list-tasks';
import { KnownTasks, type KnownTasksScope, type ReadManifest } from '../../../src/reconcile/known-tasks';
import type { RecordedCreate } from '../../../src/archive/archive-reader';

const nowMs = Date.parse('2026-03-01T12:00:00Z');

function open(scope: Partial<KnownTasksScope> = {}): KnownTasks {
  return new KnownTasks({ sinceMs: 0, taskQueue: null, ...scope });
}

function workflow(more: Partial<ListedTask> = {}): ListedTask {
  return {
    workflowId: 'task:a',
    key: 'a',
    runId: randomUUID(),
    status: 'Running',
    isOver: true,
    execution: more.isOver === false ? 'RUNNING' : 'TERMINATED',
    requestId: 'r-1',
    app: '7',
    account: 'studio',
    taskQueue: 'longhaul',
    startedAt: new Date(nowMs - 3_600_000).toISOString(),
    endedAt: null,
    problem: null,
    undecodable: [],
    ...{ tags: [], failure: null },
    ...more,
  };
}

function record(more: Partial<RecordedCreate> = {}): RecordedCreate {
  return {
    workflowId: 'task:a',
    createNumber: 1,
    sentAtMs: nowMs - 3_600_000,
    requestId: 'r-1',
    account: null,
    webAppId: null,
    end: null,
    ...more,
  };
}

function manifest(more: Partial<ReadManifest> = {}): ReadManifest {
  return { requestId: 'r-1', account: null, createdBy: null, folder: '', problems: [], archivedAtMs: null, ...more };
}

describe('what is known of a task', () => {
  it('is put together from all who know of it', () => {
    const known = open();
    known.addWorkflow(workflow());
    known.addRecord(record());
    known.addManifest(manifest({ account: 'studio', createdBy: 'task:a/1', archivedAtMs: nowMs }));
    known.addListed('r-1');
    known.answer({ requestId: 'r-1', account: 'studio' }, 'studio', { says: 'gone' });

    expect([...known.all()]).toMatchObject([
      {
        requestId: 'r-1',
        account: 'studio',
        workflowId: 'task:a',
        lastStatus: 'Running',
        follower: null,
        archived: { problems: [] },
        atService: { says: 'gone' },
      },
    ]);
  });

  it('tells how often it ended without an output, which an adoption finds out once more', () => {
    const known = open();
    for (const workflowId of ['task:adopt-r-1', 'task:a']) {
      known.addWorkflow(workflow({ workflowId, status: 'Failed', failure: 'SuccessNoOutputs' }));
    }
    expect([...known.all()]).toMatchObject([{ endsWithoutOutputs: 2 }]);
  });

  it('takes a workflow that follows it before one that waits for a person', () => {
    for (const order of [0, 1]) {
      const known = open();
      const followers = [
        workflow({ workflowId: 'task:b', isOver: false, status: 'ArchiveIncomplete' }),
        workflow({ workflowId: 'task:c', isOver: false }),
      ];
      for (const one of order === 0 ? followers : [...followers].reverse()) known.addWorkflow(one);
      expect([...known.all()]).toMatchObject([{ follower: { workflowId: 'task:c' } }]);
    }
  });

  it('takes the archive that is whole, where it was archived twice', () => {
    const whole = manifest({ folder: 'b' });
    const damaged = manifest({ folder: 'a', problems: ['a/r-1/0.png is missing'] });
    for (const [first, second] of [
      [whole, damaged],
      [damaged, whole],
    ] as const) {
      const known = open();
      known.addManifest(first);
      known.addManifest(second);
      expect([...known.all()]).toMatchObject([{ archived: { folder: 'b', problems: [] } }]);
    }
  });

  it('is not archived by the manifest of another task that the service gave the same id', () => {
    const known = open();
    known.addRecord(record());
    known.addRecord(record({ workflowId: 'task:b' }));
    known.addManifest(manifest({ createdBy: 'task:a/1' }));
    expect([...known.all()]).toMatchObject([{ workflowId: 'task:b', archived: null }]);
    known.addManifest(manifest({ createdBy: 'task:b/1' }));
    expect([...known.all()]).toMatchObject([{ archived: { problems: [] } }]);
  });

  it('is not safe by the whole archive of another task that the service gave the same id', () => {
    const own = manifest({ account: 'studio', createdBy: 'task:a/1' });
    const other = manifest({ account: 'studio', createdBy: 'task:b/1', problems: ['outputs are missing'] });
    for (const creates of [
      [{ workflowId: 'task:a' }, { workflowId: 'task:b' }],
      // The record of the first is older than what is compared.
      [{ workflowId: 'task:b' }],
    ]) {
      const known = open();
      for (const create of creates) known.addRecord(record({ ...create, account: 'studio' }));
      known.addManifest(other);
      known.addManifest(own);
      expect([...known.all()]).toMatchObject([{ workflowId: 'task:b', archived: { problems: other.problems } }]);
    }
    const retried = open();
    for (const createNumber of [1, 2]) retried.addRecord(record({ createNumber }));
    retried.addManifest(own);
    expect([...retried.all()]).toMatchObject([{ workflowId: 'task:a', archived: null }]);
  });

  it('is not safe by an archive from before it was created, whose id the service gave again', () => {
    const known = open({ sinceMs: nowMs - 7_200_000 });
    known.addOldManifest('r-1', 'old');
    known.addRecord(record());
    expect([...known.all()]).toMatchObject([{ archived: null }]);
  });

  it('is another one in another account, whatever its id', () => {
    const known = open();
    known.addWorkflow(workflow({ isOver: false }));
    known.addRecord(record({ account: 'studio' }));
    known.addRecord(record({ account: 'night', workflowId: 'task:b' }));
    known.answer({ requestId: 'r-1', account: 'night' }, 'night', { says: 'gone' });
    expect([...known.all()]).toMatchObject([
      { account: 'studio', follower: { workflowId: 'task:a' }, atService: null },
      { account: 'night', workflowId: 'task:b', follower: null, atService: { says: 'gone' } },
    ]);
  });

  it('leaves out what began or was archived before it matters, but not who follows it', () => {
    const known = open({ sinceMs: nowMs - 60_000 });
    known.addWorkflow(workflow());
    known.addRecord(record());
    known.addRecord(record({ requestId: null }));
    known.addWorkflow(workflow({ requestId: 'r-2', isOver: false }));
    known.addManifest(manifest({ requestId: 'r-3', problems: ['it is gone'], archivedAtMs: nowMs - 120_000 }));

    expect([...known.all()]).toMatchObject([{ requestId: 'r-2' }, { requestId: 'r-3', archived: { problems: [] } }]);
    expect([...known.uncertainCreates()]).toEqual([]);
  });

  it('leaves out what the workers of another queue ran, but not that they follow a task of ours', () => {
    const known = open({ taskQueue: 'longhaul' });
    const other = { taskQueue: 'night' };
    known.addWorkflow(workflow({ ...other, requestId: 'r-1' }));
    known.addWorkflow(workflow({ ...other, requestId: 'r-2', isOver: false }));
    known.addWorkflow(workflow({ ...other, workflowId: 'task:d', requestId: 'r-3', isOver: false }));
    known.addWorkflow(workflow({ ...other, requestId: null, isOver: false, status: 'CreateUncertain' }));
    known.addRecord(record({ requestId: 'r-3' }));

    expect([...known.all()]).toMatchObject([{ requestId: 'r-3', follower: { workflowId: 'task:d' } }]);
    expect([...known.uncertainCreates()]).toEqual([]);
  });

  it('leaves out an adoption of an id that the service never knew, unless something else names it', () => {
    const adoption = { workflowId: 'task:adopt-r-1', status: 'Failed', execution: 'FAILED' } as const;
    const afterwards = (
      failure: ListedTask['failure'],
      name: (known: KnownTasks) => void = () => undefined,
    ): unknown[] => {
      const known = open();
      known.addWorkflow(workflow({ ...adoption, failure }));
      name(known);
      known.answer({ requestId: 'r-1', account: 'studio' }, 'studio', { says: 'unknown' });
      return [...known.all()];
    };

    expect(afterwards('TaskNotFound')).toEqual([]);
    expect(afterwards(null)).toHaveLength(1);
    expect(afterwards('WorkerLost')).toHaveLength(1);
    for (const name of [
      (known: KnownTasks) => {
        known.addRecord(record());
      },
      (known: KnownTasks) => {
        known.addManifest(manifest({ account: 'studio', problems: ['it is gone'], archivedAtMs: nowMs }));
      },
      (known: KnownTasks) => {
        known.addListed('r-1');
      },
    ]) {
      expect(afterwards('TaskNotFound', name)).toHaveLength(1);
    }
  });

  it('is not taken for followed because a clock that is hours ahead made its record', () => {
    const known = open();
    known.addRecord(record({ sentAtMs: Date.now() + 10_800_000 }));
    known.addRecord(record({ workflowId: 'task:b', sentAtMs: Date.now() + 10_800_000, requestId: null }));

    expect([...known.all()]).toMatchObject([{ follower: null }]);
    expect([...known.uncertainCreates()]).toMatchObject([{ workflowId: 'task:b' }]);
  });
});

describe('a create record without a request id', () => {
  it('is uncertain when its workflow is over, gone, or waits for a person', () => {
    const known = open();
    known.addWorkflow(workflow({ requestId: null }));
    known.addWorkflow(workflow({ workflowId: 'task:b', requestId: null, isOver: false, status: 'CreateUncertain' }));
    for (const workflowId of ['task:a', 'task:b', 'task:c']) known.addRecord(record({ workflowId, requestId: null }));

    expect([...known.uncertainCreates()]).toMatchObject([
      { workflowId: 'task:a', openStatus: null, isSuperseded: false },
      { workflowId: 'task:b', openStatus: 'CreateUncertain' },
      { workflowId: 'task:c', openStatus: null },
    ]);
    expect([...known.all()]).toEqual([]);
  });

  it('is settled when the latest run of its workflow knows the id, and only then', () => {
    const known = open();
    known.addWorkflow(workflow());
    known.addWorkflow(workflow({ workflowId: 'task:b', requestId: null }));
    known.addWorkflow(workflow({ workflowId: 'task:b', requestId: 'r-2' }));
    for (const workflowId of ['task:a', 'task:b']) known.addRecord(record({ workflowId, requestId: null }));

    expect([...known.uncertainCreates()]).toMatchObject([{ workflowId: 'task:b' }]);
  });

  it('is uncertain again when its workflow ended with an id that the service does not know and no record names', () => {
    const known = open();
    known.addWorkflow(workflow({ requestId: 'mistyped', status: 'Failed' }));
    known.addRecord(record({ requestId: null }));
    expect([...known.all()]).toMatchObject([{ requestId: 'mistyped' }]);
    known.answer({ requestId: 'mistyped', account: 'studio' }, 'studio', { says: 'unknown' });

    expect([...known.uncertainCreates()]).toMatchObject([{ workflowId: 'task:a', openStatus: null }]);
    expect([...known.all()]).toEqual([]);
  });

  it('does not make an id that the service has forgotten a mistyped one where a record, manifest or list names it', () => {
    const known = open();
    known.addWorkflow(workflow({ status: 'Failed' }));
    known.addRecord(record());
    known.answer({ requestId: 'r-1', account: 'studio' }, 'studio', { says: 'unknown' });

    expect([...known.all()]).toMatchObject([{ requestId: 'r-1' }]);
    expect([...known.uncertainCreates()]).toEqual([]);
  });

  it('is superseded when a later create was allowed, in whatever order the records come', () => {
    const known = open();
    known.addRecord(record({ createNumber: 2, requestId: 'r-2' }));
    known.addRecord(record({ createNumber: 1, requestId: null }));

    expect([...known.uncertainCreates()]).toMatchObject([{ createNumber: 1, isSuperseded: true }]);
  });

  it('that another archive holds is known from the workflow that waits', () => {
    const known = open();
    known.addWorkflow(workflow({ requestId: null, isOver: false, status: 'CreateUncertain' }));

    expect([...known.uncertainCreates()]).toEqual([
      { workflowId: 'task:a', createNumber: 1, sentAtMs: null, isSuperseded: false, openStatus: 'CreateUncertain' },
    ]);
  });
});
