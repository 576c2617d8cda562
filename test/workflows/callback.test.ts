import { callbackSignal, statusQuery } from '../../src/contract/task-messages';
import type { WatchWay } from '../../src/contract/task-input';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import { fastTuning, type RunningTask, TaskEnvironment } from '../support/task-environment';
import { watchWays } from '../support/watch-ways';

/** So rare that within a test only a callback can be the reason of a second poll. */
const tuning = { ...fastTuning, poll: { minMs: 600_000, maxMs: 600_000 } };

const environment = TaskEnvironment.forSuite();

/** Runs a task up to its first poll, for which a callback during the create is the reason. */
function afterTheFirstPoll(
  service: FakeService,
  watch: WatchWay,
  during: (task: RunningTask) => Promise<void>,
): Promise<void> {
  return environment.withTask(service.activities, { inputs: {}, tuning, watch }, async (task) => {
    service.createOutcomes = [
      async () => {
        await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
        return { outcome: 'accepted', requestId: 'request-1' };
      },
    ];
    await eventually(async () => (await task.query(statusQuery)).polls === 1);
    await during(task);
  });
}

describe.each(watchWays)('a callback while a task is watched by %s', (watch) => {
  it.concurrent('has the task looked at at once, and is believed as far as the service says the same', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    await afterTheFirstPoll(service, watch, async (task) => {
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
      await eventually(async () => (await task.query(statusQuery)).polls === 2);
      expect(await task.query(statusQuery)).toMatchObject({ serviceStatus: 'Running' });
      service.script = [seen('Success')];
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Failed' });
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
    expect(service.calls.polls).toBe(3);
  });

  it.concurrent('repeated, as the service does, costs no more than a poll each and archives once', async () => {
    const service = new FakeService({ script: [seen('Running'), seen('Success')] });
    await afterTheFirstPoll(service, watch, async (task) => {
      const notice = { requestId: 'request-1', createNumber: 1, status: 'Success' };
      await Promise.allSettled(Array.from({ length: 10 }, () => task.signal(callbackSignal, notice)));
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.concurrent('about another task changes nothing', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    await afterTheFirstPoll(service, watch, async (task) => {
      for (const args of [[{ requestId: 'another', status: 'Success' }], [], [null], [{ requestId: 7 }]]) {
        await task.signal('callback', ...args);
      }
      expect(await task.query(statusQuery)).toMatchObject({ polls: 1, requestId: 'request-1' });
      service.script = [seen('Success')];
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
      expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });
    });
    expect(service.calls.polls).toBe(2);
  });
});
