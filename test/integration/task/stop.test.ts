import { WorkflowFailedError } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { EndpointName } from '../../../reference-service/endpoint-name';
import { cancelSignal, statusQuery } from '../../../src/contract/task-messages';
import type { WatchWay } from '../../../src/contract/task-input';
import type { RunningTask } from '../../support/task-environment';
import { watchWays, whenSeenAs } from '../../support/watch-ways';
import { TaskStack } from '../../support/task-stack';

let stack: TaskStack;
let stackOfFailures: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
  // The specification leaves open which state an interrupt leads to (section 3).
  stackOfFailures = await TaskStack.open({ service: { interruptEndsAs: 'Failed' } });
});
afterAll(async () => {
  await stack.close();
  await stackOfFailures.close();
});

/** A task that runs for longer than any test. */
function startLongTask(on = stack, watch: WatchWay = 'timer'): Promise<RunningTask> {
  return on.start({ webAppId: 5, inputs: { '2:Wait.seconds': 3_600 }, watch });
}

/** A task that the service keeps in its queue. */
async function startQueuedTask(watch: WatchWay = 'timer'): Promise<RunningTask> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const task = await stack.start({ webAppId: 5, inputs: {}, watch });
  await whenSeenAs(task, watch, 'Queuing');
  return task;
}

/** What the service has of the task: its state, and which verbs it was asked for with which answer. */
async function atService(task: RunningTask, on = stack): Promise<{ state: string | undefined; asked: unknown[] }> {
  const { requestId } = await task.query(statusQuery);
  const asked = (endpoint: EndpointName): unknown[] =>
    on.service.ledger
      .entries({ endpoint, requestId: requestId ?? '' })
      .map(({ status }) => `${endpoint} ${String(status)}`);
  return {
    state: on.service.tasks.find(requestId ?? '')?.status,
    asked: [...asked('cancel'), ...asked('interrupt')],
  };
}

/** The workflow ended as canceled, in Temporal's own terms. */
async function expectCanceled(task: RunningTask): Promise<void> {
  const error: unknown = await task.result().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkflowFailedError);
  expect(error).toMatchObject({ cause: expect.any(CancelledFailure) as CancelledFailure });
  expect((await task.describe()).status.name).toBe('CANCELLED');
}

describe.each(watchWays)('a stop (Temporal’s cancellation) at the real service, watched by %s,', (watch) => {
  it('cancels a task that queues, and is confirmed', async () => {
    const task = await startQueuedTask(watch);
    await task.cancel();
    await expectCanceled(task);
    expect(await atService(task)).toEqual({ state: 'Canceled', asked: ['cancel 200'] });
    expect((await task.query(statusQuery)).stopRequests).toMatchObject([{ verb: 'stop', outcome: 'confirmed' }]);
  });

  it('interrupts a task that runs, and is confirmed', async () => {
    const task = await startLongTask(stack, watch);
    await whenSeenAs(task, watch, 'Running');
    await task.cancel();
    await expectCanceled(task);
    expect(await atService(task)).toEqual({ state: 'Canceled', asked: ['interrupt 200'] });
  });

  it('follows a task that moves on between the query and the verb', async () => {
    const refused = { endpoint: 'cancel', status: 409 } as const;
    const refusedBefore = stack.service.ledger.count(refused);
    const task = await startQueuedTask(watch);
    stack.service.scenarios.add({ endpoint: 'cancel', scenario: { name: 'refuse', reason: 'taskNotQueued' } });
    await task.cancel();
    await expectCanceled(task);
    expect(await atService(task)).toEqual({ state: 'Canceled', asked: ['cancel 200'] });
    expect(stack.service.ledger.count(refused)).toBe(refusedBefore + 1);
  });

  it('is confirmed as well when an interrupted task counts as failed at the service', async () => {
    const task = await startLongTask(stackOfFailures, watch);
    await whenSeenAs(task, watch, 'Running');
    await task.cancel();
    await expectCanceled(task);
    expect(await atService(task, stackOfFailures)).toEqual({ state: 'Failed', asked: ['interrupt 200'] });
  });
});

describe('the service’s own verbs', () => {
  it('cancel a task that queues; the workflow completes', async () => {
    const task = await startQueuedTask();
    await task.signal(cancelSignal);
    expect(await task.result()).toMatchObject({ status: 'Canceled', outputs: [], manifest: null });
    expect(await atService(task)).toEqual({ state: 'Canceled', asked: ['cancel 200'] });
  });
});
