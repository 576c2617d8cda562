import type { TaskHandle } from '../../src/client/task/task-handle';
import type { WatchedTask } from '../../src/core/task-state';
import type { SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import type { RunningTask } from '../support/task-environment';
import { heartbeatOf, watchEventsOf } from '../support/watch-ways';

/** The reference service's app that only waits, for longer than any test. */
const instantSwatch = 5;
const webAppId = instantSwatch;
const inputs = { '2:Wait.seconds': 3_600 };
/** No state is told meanwhile, however long a busy machine takes: the workflow shows and records only the watch. */
const tuning = { poll: { minMs: 1_000, maxMs: 2_000 }, watchHeartbeatMs: 9_000, watchTellMs: 3_600_000 };
const crowd = 100;
const starters = 5;
/** All of them at once, on a busy machine. */
const patiently = { withinMs: 120_000, everyMs: 500 };

let stack: ProcessStack;
let worker: SupervisedProcess;
let tasks: TaskHandle[];

beforeAll(async () => {
  stack = await ProcessStack.open({ service: { slots: crowd } });
  worker = await stack.startWorker();
  tasks = [];
  await Promise.all(Array.from({ length: starters }, startSome));
}, 240_000);
afterAll(() => stack.close(), 120_000);

/** A few at a time: what a burst does to the dev server is not the subject here. */
async function startSome(): Promise<void> {
  for (let started = 0; started < crowd / starters; started += 1) {
    // An overloaded server may lose the task of a create, which then never was sent.
    tasks.push(await stack.longhaul.start({ webAppId, inputs, watch: 'activity', tuning, onUncertain: 'recreate' }));
  }
}

function handleOf({ workflowId }: TaskHandle): RunningTask {
  return stack.client.workflow.getHandle(workflowId);
}

/** What is told of each task once `isSo` holds for all of them. */
async function watched(isSo: (known: WatchedTask, task: TaskHandle) => boolean): Promise<Map<TaskHandle, WatchedTask>> {
  const told = new Map<TaskHandle, WatchedTask>();
  await eventually(async () => {
    for (const task of tasks.filter((one) => !told.has(one))) {
      const known = await heartbeatOf(handleOf(task));
      if (known === undefined || !isSo(known, task)) return false;
      told.set(task, known);
    }
    return true;
  }, patiently);
  return told;
}

/** Waits until the next worker has seen every task, and makes sure that it knows what the former one knew. */
async function expectAllGoOn(before: ReadonlyMap<TaskHandle, WatchedTask>): Promise<void> {
  const after = await watched(({ polls }, task) => polls > (before.get(task)?.polls ?? 0));
  for (const [task, { runningSinceMs, serviceStatus }] of after) {
    expect({ runningSinceMs, serviceStatus }).toEqual({
      runningSinceMs: before.get(task)?.runningSinceMs,
      serviceStatus: 'Running',
    });
  }
}

describe(`${crowd} tasks that one worker watches by activity`, () => {
  it('go on with another one after SIGTERM, which ends the first within seconds and is told as no failure', async () => {
    const before = await watched(({ serviceStatus }) => serviceStatus === 'Running');
    const sinceMs = Date.now();
    process.kill(worker.pid, 'SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    // A create on its way would be waited for, for a minute; a watch gives way at once.
    expect(Date.now() - sinceMs).toBeLessThan(30_000);
    worker = await stack.startWorker();

    await expectAllGoOn(before);
    const views = await Promise.all(tasks.slice(0, 10).map((task) => task.status()));
    for (const view of views) {
      expect(view).toMatchObject({ status: 'Watching', serviceStatus: 'Running', problem: null });
    }
  }, 360_000);

  it('go on with another one after SIGKILL, from the last heartbeat', async () => {
    const before = await watched(({ serviceStatus }) => serviceStatus === 'Running');
    process.kill(worker.pid, 'SIGKILL');
    expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
    worker = await stack.startWorker();

    await expectAllGoOn(before);
  }, 360_000);

  it('are followed to their ends, at no more than 26 events a watch', async () => {
    const [stopped, ...others] = tasks;
    await stopped?.stop();
    for (const task of others) stack.service.fail((await task.status()).requestId ?? '', 'ended by the test');
    const ends = await Promise.allSettled(others.map((task) => task.result()));

    expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    for (const task of others) {
      const { events } = await handleOf(task).fetchHistory();
      // Seven for each time that it is scheduled anew for longer: four and sixteen times its first timeout after the create.
      expect(watchEventsOf(events ?? []).length).toBeLessThanOrEqual(12 + 2 * 7);
    }
    expect(await stopped?.result()).toMatchObject({ status: 'Canceled' });
  }, 360_000);
});
