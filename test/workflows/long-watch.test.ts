import { statusQuery } from '../../src/contract/task-messages';
import { FakeService, seen } from '../support/fake-activities';
import { runChainOf } from '../support/run-chain';
import { fastTuning, type StartedTask, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

/** Enough for more than one run of 4,096 events. */
const polls = Number(process.env['POLLS'] ?? 800);

describe(`a watch of ${polls} polls`, () => {
  it('keeps every run under 4,096 events, and carries all it knows', async () => {
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
      expect(chain.length).toBeGreaterThan(1);
      for (const { events } of chain) expect(events.length).toBeLessThanOrEqual(4_096);
      const total = chain.reduce((sum, { events }) => sum + events.length, 0);
      expect(total).toBeLessThanOrEqual(6 * polls + 20 + 40 * chain.length);
    };
    await environment.withTask(service.activities, { inputs: {}, tuning }, during, options);
    expect(service.calls.creates).toHaveLength(1);
    expect(service.calls.polls).toBe(polls);
  }, 600_000);
});
