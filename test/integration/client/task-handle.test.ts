import { randomUUID } from 'node:crypto';
import { heartbeat } from '@temporalio/activity';
import {
  DecisionRefusedError,
  NoWorkerError,
  TaskFailedError,
  TaskOverError,
  UnknownTaskError,
} from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import type { TaskHandle } from '../../../src/client/task/task-handle';
import type { TaskView } from '../../../src/client/task/task-view';
import type { TransferProgress } from '../../../src/contract/activities';
import { eventually } from '../../support/eventually';
import { passingFailure, seen } from '../../support/fake-activities';
import { ClientEnvironment, smallInput } from './client-environment';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});

afterAll(() => environment.close());

beforeEach(() => {
  environment.service.script = [seen('Success')];
  environment.service.createOutcomes = [];
  environment.service.onUpload = () => Promise.resolve();
  environment.service.requestId = randomUUID();
});

function start(more: Record<string, unknown> = {}): Promise<TaskHandle> {
  return environment.longhaul.start({ ...smallInput, ...more });
}

function whenStatus(task: TaskHandle, isSo: (view: TaskView) => boolean): Promise<TaskView> {
  return eventually(
    async () => {
      const view = await task.status();
      return isSo(view) ? view : undefined;
    },
    { what: 'the status' },
  ) as Promise<TaskView>;
}

describe('a task’s status', () => {
  it('tells what the worker knows that watches the task by activity', async () => {
    environment.service.script = [seen('Queuing', { queuePosition: 4 })];
    const task = await start({ watch: 'activity' });

    const view = await whenStatus(task, ({ queuePosition }) => queuePosition === 4);

    expect(view).toMatchObject({ status: 'Watching', serviceStatus: 'Queuing', failedPolls: 0, problem: null });
    expect(view.polls).toBeGreaterThan(0);
    environment.service.script = [seen('Success')];
    await task.result();
  });

  it('tells what the workflow says and what Temporal knows', async () => {
    environment.service.script = [seen('Queuing', { queuePosition: 4 })];
    const task = await start({ account: 'studio' });

    const view = await whenStatus(task, ({ queuePosition }) => queuePosition === 4);

    expect(view).toMatchObject({
      workflowId: task.workflowId,
      key: task.key,
      url: `http://localhost:8233/namespaces/default/workflows/${encodeURIComponent(task.workflowId)}`,
      isOver: false,
      execution: 'RUNNING',
      app: '7',
      account: 'studio',
      requestId: environment.service.requestId,
      createRequests: 1,
      problem: null,
    });
    await task.stop();
    await task.result();
  });

  it('shows how far an upload is', async () => {
    let finish: () => void = () => undefined;
    const progress: TransferProgress = { transfer: 'upload', name: 'cat.jpg', bytes: 40, totalBytes: 100 };
    environment.service.onUpload = () => {
      heartbeat(progress);
      return new Promise((resolve) => (finish = resolve));
    };
    const task = await start({ inputs: { '1:LoadImage.image': { file: '/photos/cat.jpg' } } });

    const view = await whenStatus(task, ({ transfers }) => transfers.length > 0);

    expect(view.transfers).toEqual([progress]);
    finish();
    await task.result();
    await expect(task.status()).resolves.toMatchObject({ transfers: [], isOver: true, status: 'Success' });
  });

  it('shows what a step that is tried again complained of last', async () => {
    environment.service.onUpload = () => Promise.reject(passingFailure('the disk is full'));
    const task = await start({ inputs: { '1:LoadImage.image': { file: '/photos/cat.jpg' } } });

    const view = await whenStatus(task, ({ problem }) => problem !== null);

    expect(view.problem).toMatchObject({ code: 'Retrying', message: 'storeInput: the disk is full' });
    // Not while it is being tried.
    await eventually(async () => (await task.problem())?.message === view.problem?.message);
    environment.service.onUpload = () => Promise.resolve();
    await task.result();
  });
});

describe('the end of a task', () => {
  it('is the result of the workflow', async () => {
    const task = await start();

    await expect(task.result()).resolves.toMatchObject({
      workflowId: task.workflowId,
      requestId: environment.service.requestId,
      status: 'Success',
      outputs: [{ sha256: 'ab', bytes: 1, ext: '.png' }],
    });
  });

  it('is a result with status Canceled when it was stopped before it was created', async () => {
    environment.service.createOutcomes = Array.from({ length: 100 }, () => ({ outcome: 'notSent', reason: 'refused' }));
    const task = await start();
    const { problem } = await whenStatus(task, (view) => view.problem !== null);
    expect(problem?.message).toBe('createTask: The create was not sent: refused');

    await task.cancel();

    await expect(task.result()).resolves.toMatchObject({ status: 'Canceled', requestId: null, outputs: [] });
  });

  it('is an error with type, words and request id when the task failed', async () => {
    environment.service.script = [seen('Failed', { errorMessage: 'no such node' })];
    const task = await start();

    const failure = await task.result().catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(TaskFailedError);
    expect(failure).toMatchObject({
      failureType: 'TaskFailed',
      message: 'The task failed at the service: no such node',
      workflowId: task.workflowId,
      requestId: environment.service.requestId,
      details: { result: { status: 'Failed' } },
    });
    const { requestId } = environment.service;
    expect((failure as TaskFailedError).detailsOf('TaskFailed')?.result).toMatchObject({
      requestId,
      outputs: [{ errorType: 'NOT_ERROR' }],
    });
    await expect(task.status()).resolves.toMatchObject({ status: 'Failed', isOver: true, execution: 'FAILED' });
  });
});

describe('requests to a task', () => {
  it('interrupt it, and what became of the request stands in its status', async () => {
    environment.service.script = [seen('Running')];
    const task = await start();
    await whenStatus(task, ({ serviceStatus }) => serviceStatus === 'Running');

    await task.interrupt();

    await expect(task.result()).resolves.toMatchObject({ status: 'Canceled' });
    const { stopRequests } = await task.status();
    expect(stopRequests).toMatchObject([{ verb: 'interrupt', outcome: 'confirmed' }]);
  });

  it('decide about a create that nobody knows the outcome of', async () => {
    environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
    const task = await start();
    await whenStatus(task, ({ status }) => status === 'CreateUncertain');

    await expect(task.rearchive()).rejects.toThrow(DecisionRefusedError);
    await expect(task.rearchive()).rejects.toThrow(/does not apply/);
    await expect(task.adopt('r-known')).resolves.toMatch(/r-known is followed/);

    await expect(task.result()).resolves.toMatchObject({ status: 'Success', requestId: 'r-known' });
  });

  it('raise the number of the create when a person accepts a second charge, which a later retry sees', async () => {
    const key = randomUUID();
    environment.service.calls.creates = [];
    environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
    environment.service.script = [seen('Failed')];
    const task = await start({ key });
    await whenStatus(task, ({ status }) => status === 'CreateUncertain');
    await task.recreate();
    await expect(task.result()).rejects.toMatchObject({ failureType: 'TaskFailed' });
    environment.service.script = [seen('Success')];

    await (await environment.longhaul.start({ ...smallInput, key }, { retry: true })).result();

    expect(environment.service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2, 3]);
  });

  it('are refused when there is no such task, or when it is over', async () => {
    const unknown = environment.longhaul.task(randomUUID());
    await expect(unknown.status()).rejects.toThrow(UnknownTaskError);
    await expect(unknown.result()).rejects.toThrow(UnknownTaskError);
    await expect(unknown.cancel()).rejects.toThrow(UnknownTaskError);
    await expect(unknown.stop()).rejects.toThrow(UnknownTaskError);
    const over = await start();
    await over.result();

    await expect(over.cancel()).rejects.toThrow(TaskOverError);
    await expect(over.interrupt()).rejects.toThrow(TaskOverError);
    expect(await over.stop()).toBe(false);
    await expect(over.rearchive()).rejects.toThrow(TaskOverError);
  });
});

describe('without a worker', () => {
  it('the status tells what Temporal knows, and says so; what only a worker answers names the task queue', async () => {
    environment.service.script = [seen('Running')];
    const task = await start();
    await whenStatus(task, ({ serviceStatus }) => serviceStatus === 'Running');
    await environment.stopWorkers();

    await expect(task.status()).resolves.toMatchObject({
      status: 'Running',
      requestId: environment.service.requestId,
      serviceStatus: null,
      problem: { code: 'NoWorker' },
    });
    const onAnotherQueue = new Longhaul({ client: environment.temporal, taskQueue: 'elsewhere' }).task(task.workflowId);
    const error = await onAnotherQueue.rearchive().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NoWorkerError);
    expect(error).toMatchObject({ workflowId: task.workflowId, taskQueue: environment.taskQueue });
    expect(String(error)).toContain(`longhaul worker --task-queue ${environment.taskQueue}`);

    environment.service.script = [seen('Success')];
    await environment.startWorkers();
    await task.result();
  });
});

describe('the list', () => {
  it('filters by status, app and account', async () => {
    const account = `list-${randomUUID()}`;
    const done = await start({ account });
    await done.result();
    environment.service.script = [seen('Running')];
    const running = await start({ account });
    const otherApp = await start({ account, webAppId: 8 });
    const list = async (options: object): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { workflowId } of environment.longhaul.list({ account, ...options })) ids.push(workflowId);
      return ids;
    };

    await eventually(async () => (await list({ status: 'Running' })).length === 2);

    await expect(list({})).resolves.toEqual([otherApp, running, done].map(({ workflowId }) => workflowId));
    await expect(list({ limit: 2 })).resolves.toEqual([otherApp, running].map(({ workflowId }) => workflowId));
    await expect(list({ status: 'Success' })).resolves.toEqual([done.workflowId]);
    await expect(list({ app: 8 })).resolves.toEqual([otherApp.workflowId]);
    await expect(list({ status: 'x" OR WorkflowType = "task' })).rejects.toThrow(
      /status is .*give one of PreparingInputs/,
    );
    environment.service.script = [seen('Success')];
    await Promise.all([running.result(), otherApp.result()]);
  });
});
