import { ApplicationFailure } from '@temporalio/common';
import { abandonUpdate, rearchiveUpdate, statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, seen, untilCancelled } from '../support/fake-activities';
import { failureOf, fastTuning, listedStatusOf, type RunningTask, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

function endedService(): FakeService {
  const service = new FakeService({ script: [seen('Success')] });
  return service;
}

describe('an archive that is to be tried again in five minutes', () => {
  const input = { inputs: {}, tuning: { ...fastTuning, archiveGraceMs: 3_600_000 } };
  const tooSlow = (): Error =>
    ApplicationFailure.create({ type: 'OutputUnavailable', message: 'too slow', nextRetryDelay: '5 minutes' });

  /** Long enough for the pause: Temporal makes none that a timeout would end. */
  const options = { executionTimeout: '900 seconds' } as const;

  async function whenItFailed(task: RunningTask): Promise<void> {
    const failures = async (): Promise<number | undefined> =>
      (await task.describe()).raw.pendingActivities?.filter(({ lastFailure }) => lastFailure != null).length;
    await eventually(async () => (await failures()) === 1, { what: 'a failed attempt' });
  }

  it.concurrent('is tried at once after rearchive', async () => {
    const service = endedService();
    service.archiveFailures = [tooSlow(), tooSlow()];
    await environment.withTask(
      service.activities,
      input,
      async (task) => {
        for (const time of [1, 2]) {
          await eventually(() => service.calls.archives.length === time);
          await whenItFailed(task);
          await task.executeUpdate(rearchiveUpdate);
        }
        expect(await task.result()).toMatchObject({ status: 'Success' });
        expect(await task.query(statusQuery)).toMatchObject({ status: 'Success', problem: null });
      },
      options,
    );
    expect(service.calls.archives).toHaveLength(3);
  });

  it.concurrent('is given up when a person says so', async () => {
    const service = endedService();
    service.archiveFailures = [tooSlow()];
    await environment.withTask(
      service.activities,
      input,
      async (task) => {
        await whenItFailed(task);
        await task.executeUpdate(abandonUpdate);
        expect(await failureOf(task)).toMatchObject({
          type: 'ArchiveIncomplete',
          details: [{ requestId: 'request-1' }],
        });
        expect(await listedStatusOf(task)).toBe('ArchiveIncomplete');
        expect((await task.query(statusQuery)).nextStep).toContain('longhaul adopt request-1');
      },
      options,
    );
  });

  it.concurrent('is given up also while an attempt runs', async () => {
    const service = endedService();
    service.onArchive = untilCancelled;
    await environment.withTask(
      service.activities,
      input,
      async (task) => {
        await eventually(() => service.calls.archives.length === 1);
        await task.executeUpdate(abandonUpdate);
        expect(await failureOf(task)).toMatchObject({ type: 'ArchiveIncomplete' });
      },
      options,
    );
  });
});
