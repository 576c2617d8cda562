import { randomUUID } from 'node:crypto';
import { InputChangedError } from '../../../src/client/errors';
import type { TaskHandle } from '../../../src/client/task/task-handle';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { eventually } from '../../support/eventually';
import { finalFailure, seen } from '../../support/fake-activities';
import { ClientEnvironment, smallInput } from './client-environment';
import { refusedCreate } from '../../support/refused-create';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});

afterAll(() => environment.close());

beforeEach(() => {
  const { service } = environment;
  service.calls.creates = [];
  service.createOutcomes = [];
  service.archiveFailures = [];
  service.requestId = randomUUID();
  service.script = [seen('Success')];
});

function start(key: string, more: Record<string, unknown> = {}, retry = false): Promise<TaskHandle> {
  return environment.longhaul.start({ ...smallInput, ...more, key }, { retry });
}

/** The `createNumber` of every create that the service was sent. */
function creates(): number[] {
  return environment.service.calls.creates.map(({ createNumber }) => createNumber);
}

async function runsOf(workflowId: string): Promise<number> {
  const { connection, options } = environment.temporal;
  const { executions } = await connection.workflowService.listWorkflowExecutions({
    namespace: options.namespace,
    query: `WorkflowId = "${workflowId}"`,
  });
  return executions.length;
}

describe('the same key', () => {
  it.each([false, true])('attaches to the running task; with retry: %s', async (retry) => {
    const key = randomUUID();
    environment.service.script = [seen('Running')];
    const first = await start(key);

    const second = await start(key, {}, retry);

    expect([first.origin, second.origin]).toEqual(['started', 'attached']);
    expect(second.workflowId).toBe(`task:${key}`);
    environment.service.script = [seen('Success')];
    await expect(second.result()).resolves.toMatchObject({ status: 'Success' });
    expect(creates()).toEqual([1]);
  });

  it.each([false, true])('attaches to the success, whose result is still there; with retry: %s', async (retry) => {
    const key = randomUUID();
    const result = await (await start(key)).result();

    const again = await start(key, {}, retry);

    expect(again.origin).toBe('attached');
    await expect(again.result()).resolves.toEqual(result);
    expect(creates()).toEqual([1]);
    await expect(runsOf(`task:${key}`)).resolves.toBe(1);
  });

  it('stands for the input as it was when start was called, whatever the program does with it then', async () => {
    const inputs: Record<string, number> = {};
    const starts = [64, 65].map((width) => {
      inputs['2:ImageScale.width'] = width;
      return environment.longhaul.start({ ...smallInput, inputs, key: randomUUID() });
    });
    inputs['2:ImageScale.height'] = NaN;

    const started = await Promise.all(starts.map(async (task) => await (await task).input()));

    expect(started).toEqual([64, 65].map((width) => ({ ...smallInput, inputs: { '2:ImageScale.width': width } })));
    await Promise.all(starts.map(async (task) => await (await task).result()));
  });

  it('makes one task of many starts at once', async () => {
    const key = randomUUID();

    const tasks = await Promise.all(Array.from({ length: 8 }, () => start(key)));

    expect(tasks.filter(({ origin }) => origin === 'started')).toHaveLength(1);
    await Promise.all(tasks.map((task) => task.result()));
    expect(creates()).toEqual([1]);
  });

  it.each(['running', 'finished'])('with another input is refused while the task is %s', async (state) => {
    const key = randomUUID();
    environment.service.script = [seen(state === 'running' ? 'Running' : 'Success')];
    const task = await start(key);
    const end = state === 'finished' ? await task.result() : undefined;

    const other = start(key, { inputs: { '2:ImageScale.width': 513 } }, true);

    await expect(other).rejects.toThrow(InputChangedError);
    await expect(other).rejects.toMatchObject({
      key,
      workflowId: `task:${key}`,
      differing: ['inputs["2:ImageScale.width"]'],
    });
    await expect(other).rejects.toThrow(
      /another input.*It differs in inputs\["2:ImageScale.width"\]\. Give this input a key of its own/,
    );
    expect(end?.status).toBe(state === 'finished' ? 'Success' : undefined);
    environment.service.script = [seen('Success')];
    await task.result();
    expect(creates()).toEqual([1]);
  });

  it('stands for what is paid for: other options of a repeated start have no effect, and are named', async () => {
    const key = randomUUID();
    environment.service.script = [seen('Running')];
    const first = await start(key, { deadlines: { total: '6h' }, webhook: 'shop', archive: 'drafts' });

    const same = await start(key, { deadlines: { total: '360m' }, archive: 'drafts' });
    const other = await start(key, { deadlines: { total: '7h' }, watch: 'activity', archive: 'drafts' });

    expect([first, same, other].map(({ origin }) => origin)).toEqual(['started', 'attached', 'attached']);
    expect([first, same, other].map(({ withoutEffect }) => withoutEffect)).toEqual([[], [], ['watch', 'deadlines']]);
    environment.service.script = [seen('Success')];
    await expect(other.result()).resolves.toMatchObject({ status: 'Success' });
    expect(creates()).toEqual([1]);
  });

  it('of a workflow that another client started is compared by its input', async () => {
    const key = randomUUID();
    const { taskQueue, temporal } = environment;
    await temporal.workflow.start('task', { workflowId: `task:${key}`, taskQueue, args: [smallInput] });

    await expect(start(key)).resolves.toMatchObject({ origin: 'attached' });
    await expect(start(key, { webAppId: 8 })).rejects.toThrow(/another input/);
  });

  it('is refused when it stands for a workflow whose input cannot be compared', async () => {
    const key = randomUUID();
    const { temporal } = environment;
    const options = { workflowId: `task:${key}`, taskQueue: 'nobody', workflowExecutionTimeout: '1 minute' as const };
    await temporal.workflow.start('another', { ...options, args: ['rubbish'] });

    await expect(start(key)).rejects.toThrow(/input cannot be read/);
  });

  it('is not needed: without one every start is a task of its own', async () => {
    const tasks = await Promise.all([environment.longhaul.start(smallInput), environment.longhaul.start(smallInput)]);

    expect(new Set(tasks.map(({ workflowId }) => workflowId)).size).toBe(2);
    await Promise.all(tasks.map((task) => task.result()));
  });

  it('of an adopted task is made of its request id', async () => {
    const requestId = randomUUID();
    const { tuning } = smallInput;

    const adopt = () => environment.longhaul.adopt(requestId, { tuning });
    const tasks = [await adopt(), await adopt()];

    expect(tasks.map(({ workflowId, origin }) => [workflowId, origin])).toEqual([
      [`task:adopt-${requestId}`, 'started'],
      [`task:adopt-${requestId}`, 'attached'],
    ]);
    await expect(tasks[1]?.result()).resolves.toMatchObject({ requestId, status: 'Success' });
    expect(creates()).toEqual([]);
  });
});

describe('a retry', () => {
  it('of a rejected task sends the same create again, under the same number', async () => {
    const key = randomUUID();
    environment.service.createOutcomes = [refusedCreate(400, 'no')];
    await expect((await start(key)).result()).rejects.toMatchObject({ failureType: 'TaskRejected', requestId: null });

    const again = await start(key, {}, true);

    expect(again.origin).toBe('started');
    await expect(again.result()).resolves.toMatchObject({ status: 'Success' });
    expect(creates()).toEqual([1, 1]);
  });

  it('of a failed task is a new create with the next number, and the key still stands for its input', async () => {
    const key = randomUUID();
    environment.service.script = [seen('Failed')];
    await expect((await start(key)).result()).rejects.toMatchObject({ failureType: 'TaskFailed' });
    await expect((await start(key, {}, true)).result()).rejects.toMatchObject({ failureType: 'TaskFailed' });
    environment.service.script = [seen('Success')];

    const third = await start(key, {}, true);

    await expect(third.result()).resolves.toMatchObject({ status: 'Success' });
    expect(creates()).toEqual([1, 2, 3]);
    await expect(start(key)).resolves.toMatchObject({ origin: 'attached' });
    await expect(start(key, { webAppId: 8 }, true)).rejects.toThrow(InputChangedError);
  });

  it('of a stopped task is a new create with the next number', async () => {
    const key = randomUUID();
    environment.service.script = [seen('Running')];
    const task = await start(key);
    await whenCreated(task);
    await task.stop();
    await expect(task.result()).resolves.toMatchObject({
      status: 'Canceled',
      requestId: environment.service.requestId,
    });
    environment.service.script = [seen('Success')];

    await (await start(key, {}, true)).result();

    expect(creates()).toEqual([1, 2]);
  });

  it('of a workflow that was terminated takes its task over, and creates nothing', async () => {
    const key = randomUUID();
    const { requestId } = environment.service;
    environment.service.script = [seen('Running')];
    const task = await start(key);
    await whenCreated(task);
    await environment.temporal.workflow.getHandle(task.workflowId).terminate('by hand');
    await expect(task.result()).rejects.toMatchObject({ failureType: 'WorkflowTerminated', requestId });
    environment.service.script = [seen('Success')];

    const again = await start(key, {}, true);

    await expect(again.result()).resolves.toMatchObject({ status: 'Success', requestId });
    expect(creates()).toEqual([1]);
    await expect(start(key)).resolves.toMatchObject({ origin: 'attached' });
  });

  it('of many at once makes one run', async () => {
    const key = randomUUID();
    environment.service.createOutcomes = [finalFailure('AccountUnknown', 'no such account')];
    await expect((await start(key)).result()).rejects.toMatchObject({ failureType: 'AccountUnknown' });
    environment.service.script = [seen('Running')];

    const tasks = await Promise.all(Array.from({ length: 5 }, () => start(key, {}, true)));

    expect(tasks.filter(({ origin }) => origin === 'started')).toHaveLength(1);
    environment.service.script = [seen('Success')];
    await tasks[0]?.result();
    await expect(runsOf(`task:${key}`)).resolves.toBe(2);
  });
});

/** Waits until Temporal itself, not only the workflow, knows the task's request id. */
async function whenCreated({ workflowId }: TaskHandle): Promise<void> {
  const { requestId } = environment.service;
  await eventually(async () => {
    const { typedSearchAttributes } = await environment.temporal.workflow.getHandle(workflowId).describe();
    return typedSearchAttributes.get(searchAttributes.requestId) === requestId;
  });
}
