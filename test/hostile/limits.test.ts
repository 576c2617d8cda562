import { abandonUpdate, callbackSignal, statusQuery } from '../../src/contract/task-messages';
import type { PollResult } from '../../src/contract/activities';
import type { CreateOutcome } from '../../src/core/create-outcome';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen } from '../support/fake-activities';
import {
  executionOf,
  failureOf,
  fastTuning,
  type RunningTask,
  TaskEnvironment,
  type TestInput,
  whenStatusIs,
} from '../support/task-environment';
import { watchWays } from '../support/watch-ways';
import { uncertain } from '../support/uncertain-create';
import { refusedCreate } from '../support/refused-create';

const tenYears = '3650d';

const environment = TaskEnvironment.forSuite();

/** Workflow tasks that failed: one that fails for ever is a task that nobody can end. */
async function failedWorkflowTasks(task: RunningTask): Promise<string[]> {
  const { events } = await task.fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
    failed == null ? [] : [failed.failure?.message ?? ''],
  );
}

describe('a file with a name as long as Temporal’s bounds for a summary, or longer', () => {
  it.concurrent.each([390, 500, 4_000])('of %i characters is uploaded', async (length) => {
    const service = new FakeService();
    const inputs = { '1:A.x': { file: `${'ü/'.repeat(length / 2)}.png` } };
    await environment.withTask(service.activities, { webAppId: 1, inputs }, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect(await failedWorkflowTasks(task)).toEqual([]);
    });
  });
});

describe('the longest durations that an input may name', () => {
  it.concurrent.each(watchWays)('leave a task that is watched by %s as it is', async (watch) => {
    const service = new FakeService();
    const input: TestInput = {
      inputs: {},
      watch,
      deadlines: { queue: tenYears, run: tenYears, total: tenYears },
      tuning: {
        ...fastTuning,
        stopGraceMs: 315_360_000_000,
        archiveGraceMs: 315_360_000_000,
        createTimeoutMs: 315_360_000_000,
      },
    };
    await environment.withTask(service.activities, input, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect(await failedWorkflowTasks(task)).toEqual([]);
    });
  });

  it.concurrent('leave a policy waiting that a stop ends', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    const input: TestInput = {
      inputs: {},
      onUncertain: 'fail',
      uncertainWait: tenYears,
      deadlines: { total: tenYears },
    };
    await environment.withTask(service.activities, input, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.cancel();
      expect((await failureOf(task)).type).toBe('StopUnconfirmed');
    });
  });
});

describe('an answer of the service that no timer takes', () => {
  it.concurrent.each([0, -1, null, 1e300, 0.5, Number.MAX_SAFE_INTEGER])(
    'as the wait after a refusal, %d, is waited for at most until the deadline',
    async (retryAfterMs) => {
      const service = new FakeService();
      const refused = refusedCreate(503, 'x'.repeat(100_000));
      service.createOutcomes = [{ ...refused, retryAfterMs } as CreateOutcome];
      const isTooLong = (retryAfterMs ?? 0) > 10;
      const deadlines = { total: isTooLong ? 3_000 : 60_000 };
      await environment.withTask(service.activities, { inputs: {}, deadlines }, async (task) => {
        expect(await executionOf(task)).toBe(isTooLong ? 'FAILED' : 'COMPLETED');
        expect(await failedWorkflowTasks(task)).toEqual([]);
      });
    },
  );
});

describe('an expiry that is far away, or no moment', () => {
  it.concurrent.each([
    '9999-12-31T15:59:59.000Z',
    '+275760-09-13T00:00:00.000Z',
    '2300-01-01T00:00:00.000Z',
    'never',
    '',
  ])('%s, leaves an incomplete archive waiting for its decision', async (iso) => {
    const service = new FakeService({
      script: [seen('Success', { costTimes: {}, timestamps: { expiredAt: { iso, raw: iso } } })],
      archiveFailures: [finalFailure('OutputUnavailable', 'no link')],
    });
    await environment.withTask(service.activities, { inputs: {} }, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.signal(callbackSignal, { requestId: 'other', createNumber: 1, status: 'x' });
      expect((await task.query(statusQuery)).status).toBe('ArchiveIncomplete');
      await task.executeUpdate(abandonUpdate);
      expect((await failureOf(task)).type).toBe('ArchiveIncomplete');
      expect(await failedWorkflowTasks(task)).toEqual([]);
    });
  });
});

describe('words of the service as long as a payload', () => {
  it.each<[string, PollResult]>([
    ['a status', seen('S'.repeat(1_000_000))],
    ['an error', seen('Running', { errorMessage: 'e'.repeat(1_000_000) })],
    ['a problem', { seen: 'nothing', problem: 'p'.repeat(1_000_000) }],
  ])('as %s leave the task watched, shown and stopped', async (_, poll) => {
    const service = new FakeService({ script: [poll, seen('Running')] });
    await environment.withTask(service.activities, { inputs: {} }, async (task) => {
      await eventually(async () => (await task.query(statusQuery)).polls > 2);
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
      expect(await failedWorkflowTasks(task)).toEqual([]);
    });
  });
});
