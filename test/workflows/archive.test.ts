import { ApplicationFailure } from '@temporalio/common';
import { abandonUpdate, rearchiveUpdate, statusQuery } from '../../src/contract/task-messages';
import type { TaskTuning } from '../../src/contract/task-input';
import type { Timestamps } from '../../src/contract/task-result';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, passingFailure, seen, untilCancelled } from '../support/fake-activities';
import { failureOf, fastTuning, listedStatusOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';

const noInputs = { inputs: {} };
const brokenOutput = finalFailure('OutputUnavailable', 'output 1 has no link');

const environment = TaskEnvironment.forSuite();

/** A service whose task has ended, with results that expire so long from now. */
function endedService(status = 'Success', expiresInMs?: number): FakeService {
  const service = new FakeService();
  const expiredAt = { iso: new Date(Date.now() + (expiresInMs ?? 0)).toISOString(), raw: 'as the service said' };
  const timestamps: Timestamps = expiresInMs === undefined ? {} : { expiredAt };
  service.script = [seen(status, { timestamps, costTimes: { total_cost_time: 5 }, errorMessage: 'no memory' })];
  return service;
}

describe('the archive of a task', () => {
  it.concurrent('is told everything that the manifest holds', async () => {
    const service = endedService('Success', 60_000);
    const input = { archive: 'campaign-7', account: 'team-b' };
    await environment.withTask(service.activities, input, (task) => task.result());
    expect(service.calls.archives).toEqual([
      {
        account: 'team-b',
        requestId: 'request-1',
        folder: 'campaign-7',
        status: 'Success',
        createNumber: 1,
        webAppId: 7,
        inputs: [
          {
            keys: ['1:LoadImage.image'],
            file: 'photo.jpg',
            name: 'photo.jpg',
            bytes: 1,
            sha256: 'photo.jpg',
            resourceId: 1,
          },
        ],
        values: { '2:ImageScale.width': 512 },
        timestamps: { expiredAt: { iso: expect.any(String) as string, raw: 'as the service said' } },
        costTimes: { total_cost_time: 5 },
        cost: null,
        errorMessage: 'no memory',
      },
    ]);
  });

  it.concurrent('is tried again until it is whole', async () => {
    const service = endedService();
    service.archiveFailures = [passingFailure('disk full'), passingFailure('disk full'), passingFailure('disk full')];
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', outputs: [{ sha256: 'ab' }] });
    expect(service.calls.archives).toHaveLength(4);
  });

  it.concurrent('is listed as Archiving once it takes more than a few tries', async () => {
    const service = endedService();
    service.archiveFailures = Array.from({ length: 3 }, () => passingFailure('disk full'));
    let goOn = (): void => undefined;
    const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
    service.onArchive = () => (service.calls.archives.length > 3 ? mayGoOn : Promise.resolve());
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'Archiving');
      expect(await task.query(statusQuery)).toMatchObject({ status: 'Archiving', problem: null });
      goOn();
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });

  it.concurrent('fails the task as SuccessNoOutputs when the service lists none', async () => {
    const service = endedService();
    service.archiveFailures = [finalFailure('SuccessNoOutputs', 'The task request-1 succeeded without an output.')];
    const failure = await environment.withTask(service.activities, noInputs, failureOf);
    expect(failure).toMatchObject({
      type: 'SuccessNoOutputs',
      message: 'The task request-1 succeeded without an output.',
      details: [
        {
          startedAt: expect.any(String) as string,
          result: { requestId: 'request-1', status: 'Success', outputs: [], outputCount: 0, manifest: null },
        },
      ],
    });
  });
});

describe('an archive that stays incomplete', () => {
  it.concurrent('is shown, naming what is missing, and is whole after rearchive', async () => {
    const service = endedService();
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      const status = await task.query(statusQuery);
      expect(status.problem).toMatchObject({ code: 'NeedsPerson', message: 'output 1 has no link' });
      expect(status.waitingFor).toMatch(/rearchive.*abandon/);
      expect((await task.executeUpdate(rearchiveUpdate)).words).toBe(
        'What is missing is tried again now; the status tells what comes of it.',
      );
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect(await listedStatusOf(task)).toBe('Success');
    });
    expect(service.calls.archives).toHaveLength(2);
  });

  it.concurrent('is so also when the attempts did not end in time', async () => {
    const service = endedService();
    service.archiveFailures = Array.from({ length: 500 }, () => passingFailure('disk full'));
    const tuning = { ...fastTuning, archiveGraceMs: 3_000 };
    await environment.withTask(service.activities, { ...noInputs, tuning }, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      expect((await task.query(statusQuery)).problem?.message).toContain('disk full');
      expect(service.calls.archives.length).toBeGreaterThan(2);
      service.archiveFailures = [];
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });

  it.concurrent('may stay so again and again', async () => {
    const service = endedService();
    service.archiveFailures = [brokenOutput, brokenOutput, brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      for (let time = 1; time <= 3; time += 1) {
        await whenStatusIs(task, 'ArchiveIncomplete');
        expect(service.calls.archives).toHaveLength(time);
        await task.executeUpdate(rearchiveUpdate);
      }
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });

  it.concurrent('fails as ArchiveIncomplete when a person gives it up, and keeps that status', async () => {
    const service = endedService();
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.executeUpdate(abandonUpdate);
      expect(await failureOf(task)).toMatchObject({
        type: 'ArchiveIncomplete',
        message: 'The archive of request-1 was abandoned. output 1 has no link',
        details: [{ requestId: 'request-1' }],
      });
      expect(await listedStatusOf(task)).toBe('ArchiveIncomplete');
    });
  });

  it.concurrent('stays open when Temporal asks to cancel it: a stop is too late, and its result is paid', async () => {
    const service = endedService();
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.cancel();
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect((await task.query(statusQuery)).stopRequests).toMatchObject([{ verb: 'stop', outcome: 'tooLate' }]);
    });
  });

  it.concurrent('of a failed task is completed before the task fails', async () => {
    const service = endedService('Failed');
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.executeUpdate(rearchiveUpdate);
      const failure = await failureOf(task);
      expect(failure).toMatchObject({ type: 'TaskFailed', message: 'The task failed at the service: no memory' });
      expect(failure.details).toMatchObject([{ result: { status: 'Failed', outputs: [{ sha256: 'ab' }] } }]);
    });
  });
});

/** What an attempt ends with when fresh links lead nowhere, again and again. */
function deadLinks(): Error {
  const details = [{ linksAreDead: true, archived: 0, outputs: 1 }];
  const message = 'output 0: the link is no longer valid';
  return ApplicationFailure.create({ type: 'OutputUnavailable', message, nonRetryable: true, details });
}

const soon: Partial<TaskTuning> = { ...fastTuning, archivePauseMs: 50 };

describe('results whose expiry has passed', () => {
  it.concurrent('are fetched all the same when they had expired before the first attempt', async () => {
    const service = endedService('Success', -60_000);
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
  });

  it.concurrent('are tried for as long as other results, however long ago they expired', async () => {
    const service = endedService('Success', -365 * 24 * 3_600_000);
    service.archiveFailures = Array.from({ length: 40 }, () => passingFailure('disk full'));
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
    expect(service.calls.archives).toHaveLength(41);
  });

  it.concurrent('are kept waiting for a person when something else than their links is wrong', async () => {
    const service = endedService('Success', -60_000);
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });

  it.concurrent('are lost once fresh links lead nowhere', async () => {
    const service = endedService('Success', -60_000);
    service.archiveFailures = [deadLinks()];
    await environment.withTask(service.activities, noInputs, async (task) => {
      expect(await failureOf(task)).toMatchObject({
        type: 'ResultLost',
        message: 'The results of request-1 expired before they were archived. output 0: the link is no longer valid',
        details: [{ requestId: 'request-1' }],
      });
      expect(await listedStatusOf(task)).toBe('Failed');
    });
  });

  it.concurrent('are lost when the service says that it has deleted them, whatever expiry it named', async () => {
    const service = endedService('Success', 3_600_000);
    service.archiveFailures = [finalFailure('ResultLost', 'The service has deleted the results of request-1.')];
    const failure = await environment.withTask(service.activities, noInputs, failureOf);
    expect(failure).toMatchObject({ type: 'ResultLost', message: 'The service has deleted the results of request-1.' });
  });

  it.concurrent.each([
    ['in an hour', 3_600_000],
    ['never, as far as the service says', undefined],
  ])('are not called lost for dead links before that: expiry %s', async (_when, expiresInMs) => {
    const service = endedService('Success', expiresInMs);
    service.archiveFailures = [deadLinks()];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });
});

describe('a parked archive', () => {
  it.concurrent.each([
    ['with a named expiry', 3_600_000],
    ['with an expiry that has passed', -3_600_000],
    ['without a named expiry', undefined],
  ])('tries again by itself until it is whole: %s', async (_what, expiresInMs) => {
    const service = endedService('Success', expiresInMs);
    service.archiveFailures = [brokenOutput, brokenOutput, brokenOutput];
    const result = await environment.withTask(service.activities, { ...noInputs, tuning: soon }, (task) =>
      task.result(),
    );
    expect(result).toMatchObject({ status: 'Success' });
    expect(service.calls.archives).toHaveLength(4);
  });

  it.concurrent('ends as ResultLost by itself once links lead nowhere after the expiry', async () => {
    const service = endedService('Success', -1_000);
    service.archiveFailures = [brokenOutput, brokenOutput, deadLinks()];
    const failure = await environment.withTask(service.activities, { ...noInputs, tuning: soon }, failureOf);
    expect(failure.type).toBe('ResultLost');
  });

  it.concurrent('takes a decision also while an attempt runs, which ends it', async () => {
    const service = endedService('Success', 3_600_000);
    service.archiveFailures = [brokenOutput];
    service.onArchive = () => (service.calls.archives.length > 1 ? untilCancelled() : Promise.resolve());
    await environment.withTask(service.activities, { ...noInputs, tuning: soon }, async (task) => {
      await eventually(() => service.calls.archives.length > 1);
      expect(await listedStatusOf(task)).toBe('ArchiveIncomplete');
      await task.executeUpdate(abandonUpdate);
      expect((await failureOf(task)).type).toBe('ArchiveIncomplete');
    });
  });
});

describe('outputs that failed at the service', () => {
  const failedOutputs = [{ index: 0, errorType: 'EXECUTION_ERROR', message: 'no memory' }];

  it.concurrent('are told in the result beside those that are archived', async () => {
    const service = endedService();
    service.archived = { failedOutputs, failedOutputCount: 1, outputCount: 1, outputBytes: 1 };
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', outputCount: 1, failedOutputs, failedOutputCount: 1 });
  });

  it.concurrent('make a success that left nothing fail as SuccessNoOutputs', async () => {
    const service = endedService();
    service.archived = { failedOutputs, failedOutputCount: 1, outputs: [], outputCount: 0, outputBytes: 0 };
    const failure = await environment.withTask(service.activities, noInputs, failureOf);
    expect(failure).toMatchObject({
      type: 'SuccessNoOutputs',
      message: expect.stringContaining('no memory') as string,
      details: [{ result: { requestId: 'request-1', failedOutputs, manifest: 'archive/request-1/manifest.json' } }],
    });
  });
});
