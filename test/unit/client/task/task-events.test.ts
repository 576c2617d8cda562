import type { Problem, TaskEvent, TaskView } from '../../../../src';
import { ClientClosedError, TemporalUnreachableError } from '../../../../src/client/connection-errors';
import { UnknownTaskError } from '../../../../src/client/errors';
import { changes, eachView, type FollowedTask, taskEvents } from '../../../../src/client/task/task-events';

const view: TaskView = {
  ...{
    workflowId: 'task:a',
    key: 'a',
    url: null,
    status: 'Creating',
    since: null,
    isOver: false,
    execution: 'RUNNING',
  },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', endedAt: null, app: '1', account: 'default', requestId: null, tags: [] },
  ...{
    serviceStatus: null,
    serviceStatusAt: null,
    taskQueue: 'longhaul',
    queuePosition: null,
    polls: 0,
    failedPolls: 0,
    createRequests: 0,
    waitingFor: null,
  },
  ...{
    nextStep: null,
    problem: null,
    stopRequests: [],
    transfers: [],
    webhooks: [],
    otherUncertain: [],
    adoptedBy: null,
  },
};
const upload = (bytes: number) => ({ transfer: 'upload', name: 'a.png', bytes, totalBytes: 9 }) as const;
const retrying: Problem = { code: 'Retrying', message: 'createTask: HTTP 503', since: null, remedy: null };
const ended = { ...view, status: 'Success', isOver: true };
const quick = { everyMs: 1, quietEveryMs: 1 };

/** A task whose polls bring these; the last one is repeated. What is an error is thrown. */
class ScriptedTask implements FollowedTask {
  readonly looks: readonly (TaskView | Error)[];
  asked = 0;
  /** Of the wait for the result. */
  waitSignal: AbortSignal | undefined;
  end: () => void = () => undefined;

  constructor(looks: readonly (TaskView | Error)[]) {
    this.looks = looks;
  }

  status(): Promise<TaskView> {
    const look = this.looks[Math.min(this.asked, this.looks.length - 1)];
    this.asked += 1;
    return look instanceof Error || look === undefined
      ? Promise.reject(look ?? new Error('none'))
      : Promise.resolve(look);
  }

  result({ signal }: { readonly signal?: AbortSignal }): Promise<unknown> {
    this.waitSignal = signal;
    return new Promise<void>((resolve) => {
      this.end = resolve;
    });
  }
}

async function kindsOf(task: FollowedTask): Promise<TaskEvent['kind'][]> {
  const kinds: TaskEvent['kind'][] = [];
  for await (const { kind } of taskEvents(task, quick)) kinds.push(kind);
  return kinds;
}

describe('the changes of a task', () => {
  it('are everything that is there at the first poll', () => {
    const first = { ...view, status: 'Queuing', serviceStatus: 'Queuing', queuePosition: 3, transfers: [upload(1)] };
    expect(changes(undefined, { ...first, problem: retrying })).toEqual([
      { kind: 'state', status: 'Queuing', serviceStatus: 'Queuing' },
      { kind: 'queue', position: 3 },
      { kind: 'transfer', transfer: upload(1) },
      { kind: 'problem', problem: retrying },
    ]);
  });

  it('are nothing when only the service was asked again', () => {
    expect(changes(view, { ...view, polls: 7, failedPolls: 1, nextStep: 'x' })).toEqual([]);
    expect(changes({ ...view, transfers: [upload(1)] }, { ...view, transfers: [upload(1)] })).toEqual([]);
  });

  it('say once what is wrong, and that it no longer is', () => {
    const retried = { ...view, problem: retrying };
    expect(changes(undefined, retried)).toContainEqual({ kind: 'problem', problem: retrying });
    expect(changes(view, retried)).toEqual([{ kind: 'problem', problem: retrying }]);
    expect(changes(retried, { ...view, problem: { ...retrying } })).toEqual([]);
    expect(changes(retried, view)).toEqual([{ kind: 'problem', problem: null }]);
  });

  it('are each what is another now', () => {
    expect(changes({ ...view, queuePosition: 1 }, view)).toEqual([{ kind: 'queue', position: null }]);
    const stuck = { ...retrying, code: 'Stuck' } as const;
    expect(changes({ ...view, problem: retrying }, { ...view, problem: stuck })).toEqual([
      { kind: 'problem', problem: stuck },
    ]);
    expect(changes(view, { ...view, serviceStatus: 'Running' })).toMatchObject([{ kind: 'state' }]);
    expect(changes({ ...view, transfers: [upload(1)] }, { ...view, transfers: [upload(2)] })).toEqual([
      { kind: 'transfer', transfer: upload(2) },
    ]);
    expect(changes(view, ended)).toEqual([
      { kind: 'state', status: 'Success', serviceStatus: null },
      { kind: 'end', status: 'Success' },
    ]);
  });
});

describe('the events of a task', () => {
  it('end with it, and with them the wait for its end', async () => {
    const task = new ScriptedTask([view, view, { ...view, status: 'Running' }, ended]);
    expect(await kindsOf(task)).toEqual(['state', 'state', 'state', 'end']);
    expect(task.asked).toBe(4);
    expect(task.waitSignal?.aborted).toBe(true);
  });

  it('of a task that is over are how it is', async () => {
    expect(await kindsOf(new ScriptedTask([ended]))).toEqual(['state', 'end']);
  });

  it('end at once when the task does, however long the pause would be', async () => {
    const task = new ScriptedTask([view, ended]);
    const kinds: string[] = [];
    for await (const { kind } of taskEvents(task, { everyMs: 600_000 })) {
      kinds.push(kind);
      setImmediate(task.end);
    }
    expect(kinds).toEqual(['state', 'state', 'end']);
  });

  it('end at once when they are aborted between two of them, however long the pause would be', async () => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const { kind } of taskEvents(new ScriptedTask([view]), { everyMs: 600_000, signal: stop.signal })) {
        if (kind === 'state') stop.abort(new Error('enough'));
      }
    };
    await expect(follow()).rejects.toThrow('enough');
  });

  it('go on through an outage of Temporal, and throw any other error', async () => {
    const away = new TemporalUnreachableError('temporal.example:7233', 'refused');
    expect(await kindsOf(new ScriptedTask([away, view, away, away, ended]))).toEqual(['state', 'state', 'end']);
    await expect(kindsOf(new ScriptedTask([new UnknownTaskError('task:a', 'default')]))).rejects.toThrow(/task:a/);
  });

  it('keep their pauses when an outage ends the wait for the result, and are cut short by the end all the same', async () => {
    class OutageTask extends ScriptedTask {
      waits = 0;

      override result(options: { readonly signal?: AbortSignal }): Promise<unknown> {
        this.waits += 1;
        if (this.waits === 1) return Promise.reject(new TemporalUnreachableError('temporal.example:7233', 'refused'));
        setImmediate(() => {
          this.end();
        });
        return super.result(options);
      }
    }
    const task = new OutageTask([view, ended]);
    const kinds: string[] = [];
    for await (const { kind } of taskEvents(task, { everyMs: 600_000 })) kinds.push(kind);
    expect(kinds).toEqual(['state', 'state', 'end']);
    expect([task.waits, task.asked]).toEqual([2, 2]);
  });

  it('end with the error of a closed client, for which no patience helps', async () => {
    const task = new ScriptedTask([view, new ClientClosedError('temporal.example:7233')]);
    await expect(kindsOf(task)).rejects.toThrow(/connection is closed/);
    expect(task.asked).toBe(2);
  });

  it('throw the reason of the signal, during a pause, too', async () => {
    const reason = new Error('no longer wanted');
    const abort = new AbortController();
    const task = new ScriptedTask([view]);
    const all = async (): Promise<void> => {
      for await (const { kind } of taskEvents(task, { everyMs: 600_000, signal: abort.signal })) {
        if (kind !== 'state') continue;
        setImmediate(() => {
          abort.abort(reason);
        });
      }
    };
    await expect(all()).rejects.toBe(reason);
    expect(task.waitSignal?.aborted).toBe(true);
    await expect(all()).rejects.toBe(reason);
  });

  it('leave nothing behind when the loop is left', async () => {
    const task = new ScriptedTask([view]);
    for await (const look of eachView(task, quick)) if (look === view) break;
    expect(task.waitSignal?.aborted).toBe(true);
  });
});
