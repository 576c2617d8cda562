import { statusQuery } from '../../src/contract/task-messages';
import { longHistoryEvents } from '../../src/core/workflow-tasks';
import { FakeService, seen } from '../support/fake-activities';
import { runChainOf } from '../support/run-chain';
import { fastTuning, type StartedTask, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

/** Enough for several runs. */
const polls = Number(process.env['POLLS'] ?? 100);

describe(`a watch of ${polls} polls`, () => {
  it('keeps every run short, carries all it knows, and gives later runs the time of a queue of replays', async () => {
    const service = new FakeService({
      script: [...Array.from({ length: polls - 1 }, () => seen('Running')), seen('Success')],
    });
    const tuning = { ...fastTuning, poll: { minMs: 1, maxMs: 1 } };
    const options = { executionTimeout: '600 seconds' } as const;
    const during = async (task: StartedTask): Promise<void> => {
      const { startTime } = await task.describe();
      expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });

      const status = await task.query(statusQuery);
      expect(status).toMatchObject({ polls, failedPolls: 0, createRequests: 1 });
      expect(Math.abs(Date.parse(status.startedAt) - startTime.getTime())).toBeLessThan(5_000);

      const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
      expect(chain.length).toBeGreaterThan(3);
      for (const { events } of chain) expect(events.length).toBeLessThanOrEqual(longHistoryEvents + 20);
      const timeouts = chain.map(({ events }) =>
        Number(events[0]?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout?.seconds),
      );
      expect(new Set(timeouts.slice(1))).toEqual(new Set([20]));
      const total = chain.reduce((sum, { events }) => sum + events.length, 0);
      expect(total).toBeLessThanOrEqual(6 * polls + 20 + 40 * chain.length);
    };
    await environment.withTask(service.activities, { inputs: {}, tuning }, during, options);
    expect(service.calls.creates).toHaveLength(1);
    expect(service.calls.polls).toBe(polls);
  }, 600_000);
});
