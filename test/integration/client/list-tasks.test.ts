import { randomUUID } from 'node:crypto';
import { InputInvalidError, type ListedTask, type ListTasksOptions } from '../../../src/index';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { ClientEnvironment, smallInput } from './client-environment';
import { refusedCreate } from '../../support/refused-create';

let environment: ClientEnvironment;
/** Distinguishes the tasks of this suite from those of others. */
const mark = `suite:${randomUUID()}`;
const prefix = `list-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

async function run(key: string, tags: readonly string[], end = seen('Success')): Promise<string> {
  environment.service.script = [end];
  environment.service.requestId = randomUUID();
  const task = await environment.longhaul.start({ ...smallInput, key: `${prefix}-${key}` }, { tags: [mark, ...tags] });
  await task.result().catch(() => undefined);
  return task.workflowId;
}

async function list(options: ListTasksOptions): Promise<ListedTask[]> {
  const tasks: ListedTask[] = [];
  for await (const task of environment.longhaul.list(options)) tasks.push(task);
  return tasks;
}

/** Temporal's lists are a second or two behind. */
async function expectListed(options: ListTasksOptions, ids: readonly string[]): Promise<void> {
  const listed = await eventually(
    async () => {
      const found = (await list(options)).map(({ workflowId }) => workflowId).sort();
      return JSON.stringify(found) === JSON.stringify([...ids].sort()) ? found : undefined;
    },
    { what: `the list of ${JSON.stringify(options)}` },
  );
  expect(listed).toEqual([...ids].sort());
}

describe('a list of tasks', () => {
  let spring: string;
  let autumn: string;
  let failed: string;
  let begunAt: Date;
  let between: Date;

  beforeAll(async () => {
    begunAt = new Date();
    spring = await run('order-1', ['spring', 'customer:42']);
    autumn = await run('order-2', ['autumn', 'customer:42', 'autumn']);
    between = new Date();
    failed = await run('other-3', ['autumn'], seen('Failed'));
  });

  it('is of the tasks with all of some tags', async () => {
    await expectListed({ tags: [mark] }, [spring, autumn, failed]);
    await expectListed({ tags: [mark, 'customer:42'] }, [spring, autumn]);
    await expectListed({ tags: [mark, 'autumn', 'customer:42'] }, [autumn]);
    await expectListed({ tags: [mark, 'winter'] }, []);
    const [task] = await list({ tags: [mark, 'autumn', 'customer:42'] });
    expect([...(task?.tags ?? [])].sort()).toEqual([mark, 'autumn', 'customer:42'].sort());
  });

  it('comes in pages, whose cursors lead on, and has a count', async () => {
    const { longhaul } = environment;
    const filter = { tags: [mark] };
    await eventually(async () => (await longhaul.count(filter)) === 3, { what: 'three tasks in the list' });
    const first = await longhaul.listPage({ ...filter, limit: 2 });
    const second = await longhaul.listPage({ ...filter, limit: 2, cursor: first.next ?? '' });
    expect([first.tasks.length, second.tasks.length]).toEqual([2, 1]);
    const keys = [...first.tasks, ...second.tasks].map(({ key }) => key).sort();
    expect(keys).toEqual(['order-1', 'order-2', 'other-3'].map((key) => `${prefix}-${key}`));
    const last = second.next === null ? second : await longhaul.listPage({ ...filter, cursor: second.next });
    expect(last.next).toBeNull();
    for (const cursor of ['', 'no cursor!', 'bm9uZQ', null]) {
      await expect(longhaul.listPage({ ...filter, cursor } as never)).rejects.toThrow(InputInvalidError);
    }
  });

  it('ends at once when its signal aborts, before and between its rows', async () => {
    const { longhaul } = environment;
    const reason = new Error('enough');
    const aborted = AbortSignal.abort(reason);
    await expect(longhaul.count({ tags: [mark], signal: aborted })).rejects.toBe(reason);
    await expect(longhaul.listPage({ tags: [mark], signal: aborted })).rejects.toBe(reason);
    await eventually(async () => (await longhaul.count({ tags: [mark] })) === 3);
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      for await (const { key } of longhaul.list({ tags: [mark], signal: stop.signal })) {
        expect(key).not.toBeNull();
        stop.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
  });

  it('is of the tasks whose key begins so', async () => {
    await expectListed({ keyPrefix: `${prefix}-order` }, [spring, autumn]);
    await expectListed({ keyPrefix: `${prefix}-o` }, [spring, autumn, failed]);
  });

  it('is of the tasks that were started in a time', async () => {
    await expectListed({ tags: [mark], since: between.toISOString() }, [failed]);
    await expectListed({ tags: [mark], since: begunAt, until: between }, [spring, autumn]);
  });

  it('is of the tasks that ended with a failure', async () => {
    await expectListed({ tags: [mark], failure: 'TaskFailed' }, [failed]);
    await expectListed({ tags: [mark], failure: 'TaskRejected' }, []);
    expect(await list({ tags: [mark, 'customer:42'] })).toMatchObject([{ failure: null }, { failure: null }]);
    expect(await list({ keyPrefix: `${prefix}-other` })).toMatchObject([{ failure: 'TaskFailed', status: 'Failed' }]);
  });

  it('is of the malformed and the terminated ones, too', async () => {
    const malformed = `task:${prefix}-malformed`;
    const options = { taskQueue: environment.taskQueue, workflowId: malformed, args: [{ webAppId: 0 }] };
    await expect(environment.temporal.workflow.execute('task', options)).rejects.toThrow();
    await expectListed({ keyPrefix: `${prefix}-malformed`, failure: 'InputInvalid' }, [malformed]);
    environment.service.script = [seen('Running')];
    const { workflowId } = await environment.longhaul.start({ ...smallInput, key: `${prefix}-gone` });
    await environment.temporal.workflow.getHandle(workflowId).terminate();
    await expectListed({ keyPrefix: `${prefix}-gone`, failure: 'WorkflowTerminated' }, [workflowId]);
  });

  it('is of those of which an operator paused an activity, and says which', async () => {
    environment.service.createOutcomes = [refusedCreate(503, 'busy', { retryAfterMs: 60_000 })];
    environment.service.script = [seen('Running')];
    const { workflowId } = await environment.longhaul.start({ ...smallInput, key: `${prefix}-paused` });
    const { workflowService } = environment.temporal;
    const create = { namespace: 'default', execution: { workflowId }, type: 'createTask' };
    await eventually(async () => (await environment.longhaul.task(workflowId).problem())?.code === 'Retrying');
    await workflowService.pauseActivity({ ...create, identity: 'an operator' });

    await expectListed({ keyPrefix: `${prefix}-paused`, problem: 'Paused' }, [workflowId]);
    expect(await list({ keyPrefix: `${prefix}-paused` })).toMatchObject([
      { problem: { code: 'Paused', message: 'createTask is paused by an operator' } },
    ]);
    await expectListed({ keyPrefix: `${prefix}-order`, problem: 'Paused' }, []);

    await workflowService.unpauseActivity({ ...create, resetAttempts: true });
    await expectListed({ keyPrefix: `${prefix}-paused`, problem: 'Paused' }, []);
    await environment.longhaul.task(workflowId).stop();
  });
});

describe('the tags of a start', () => {
  it('are refused before anything is sent when one cannot be a tag', async () => {
    const key = randomUUID();
    const start = environment.longhaul.start({ ...smallInput, key }, { tags: ['good', 'not good'] });
    await expect(start).rejects.toThrow(/tags\[1\] is "not good"/);
    await expect(environment.longhaul.task(key).status()).rejects.toMatchObject({ name: 'UnknownTaskError' });
  });

  it('stay those of the first start of a key, and through a continue-as-new', async () => {
    const key = `${prefix}-again`;
    environment.service.script = [...Array.from({ length: 40 }, () => seen('Running')), seen('Success')];
    const input = { ...smallInput, key, tuning: { ...smallInput.tuning, continueAsNewAfterEvents: 60 } };
    const first = await environment.longhaul.start(input, { tags: ['first'] });
    const again = await environment.longhaul.start(input, { tags: ['second'] });
    expect([first.origin, again.origin]).toEqual(['started', 'attached']);
    await first.result();
    await expectListed({ keyPrefix: key, tags: ['first'] }, [first.workflowId]);
    await expectListed({ keyPrefix: key, tags: ['second'] }, []);
  });

  it('make no other history than a start without them', async () => {
    environment.service.script = [seen('Success')];
    const typesOf = async (tags: readonly string[] | undefined): Promise<unknown[]> => {
      const task = await environment.longhaul.start(
        { ...smallInput, key: randomUUID() },
        tags === undefined ? {} : { tags },
      );
      await task.result();
      const { events } = await environment.temporal.workflow.getHandle(task.workflowId).fetchHistory();
      const upserts = (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: upsert }) =>
        Object.keys(upsert?.searchAttributes?.indexedFields ?? {})
          .sort()
          .join(),
      );
      return upserts;
    };
    expect(await typesOf(['a'])).toEqual(await typesOf(undefined));
  });
});
