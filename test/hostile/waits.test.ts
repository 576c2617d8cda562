import {
  adoptUpdate,
  callbackSignal,
  interruptSignal,
  rearchiveUpdate,
  statusQuery,
} from '../../src/contract/task-messages';
import { searchAttributes } from '../../src/contract/search-attributes';
import type { CreateOutcome } from '../../src/core/create-outcome';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen } from '../support/fake-activities';
import { type ChainedRun, runChainOf } from '../support/run-chain';
import {
  executionOf,
  failureOf,
  fastTuning,
  listedStatusOf,
  type StartedTask,
  TaskEnvironment,
  whenStatusIs,
} from '../support/task-environment';
import { refusedCreate } from '../support/refused-create';

/** A run hands over after this many events; a step that has begun may add some. */
const maxEvents = 60;
const stepEvents = 40;
const tuning = { ...fastTuning, continueAsNewAfterEvents: maxEvents };
const refused = refusedCreate(503, 'queue full');
const uncertain: CreateOutcome = { outcome: 'uncertain', reason: 'the connection was reset', callbackAsked: true };
const brokenOutput = finalFailure('OutputUnavailable', 'output 1 has no link');

const environment = TaskEnvironment.forSuite();

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

function chainOf(task: StartedTask): Promise<ChainedRun[]> {
  return runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
}

async function expectBounded(task: StartedTask, leastRuns: number): Promise<void> {
  const lengths = (await chainOf(task)).map(({ events }) => events.length);
  expect(lengths.length).toBeGreaterThanOrEqual(leastRuns);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(maxEvents + stepEvents);
}

async function whenRunsAre(task: StartedTask, count: number): Promise<void> {
  await eventually(async () => (await chainOf(task)).length >= count, { what: `${count} runs` });
}

function callBack(task: StartedTask, requestId: string): Promise<void> {
  return task.signal(callbackSignal, { requestId, createNumber: 1, status: 'Success' });
}

/** Makes its history long: on a busy machine many of them share a workflow task. */
async function callBackUntilRunsAre(task: StartedTask, count: number): Promise<void> {
  let sent = 0;
  await eventually(
    async () => {
      for (const last = sent + 10; sent < last; sent += 1) await callBack(task, `forged-${count}-${sent}`);
      return (await chainOf(task)).length >= count;
    },
    { what: `${count} runs` },
  );
}

/** A create whose reply was lost, and a callback whose request id the service says nothing about. */
function neverConfirmed(service: FakeService): void {
  service.createOutcomes = [uncertain];
  service.otherTasks = { unanswered: { seen: 'nothing', problem: 'HTTP 500' } };
  service.knownAs = ['true-id'];
}

describe('a create that waits', () => {
  it.concurrent('costs no events however often it is tried, and is sent in the end', async () => {
    const service = new FakeService({ createOutcomes: times(200, refused) });
    await environment.withTask(service.activities, { inputs: {}, watch: 'activity', tuning }, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success' });
      const [only, ...more] = await chainOf(task);
      expect(more).toEqual([]);
      expect(only?.events.length).toBeLessThanOrEqual(stepEvents);
    });
    expect(service.calls.creates).toHaveLength(201);
  });

  it.concurrent('stays bounded under signals, keeps its uploads, and is sent once', async () => {
    const service = new FakeService({ createOutcomes: [...times(5, { ...refused, retryAfterMs: 60_000 }), refused] });
    await environment.withTask(service.activities, { tuning }, async (task) => {
      await eventually(() => service.calls.creates.length > 0);
      for (let runs = 2; service.calls.creates.length <= 5; runs += 1) {
        await callBackUntilRunsAre(task, runs);
        await eventually(() => service.calls.creates.length >= runs);
      }
      expect(await task.result()).toMatchObject({ status: 'Success' });
      await expectBounded(task, 5);
      expect((await task.describe()).typedSearchAttributes.get(searchAttributes.app)).toBe('7');
    });
    expect(service.calls.uploads).toHaveLength(1);
    expect(service.calls.commits).toHaveLength(1);
    expect(service.calls.creates.at(-1)?.inputs).toMatchObject({
      '1:LoadImage.image': { resource: { resourceId: 1 } },
      '2:ImageScale.width': 512,
    });
    expect(service.calls.archives[0]?.inputs).toMatchObject([{ file: 'photo.jpg' }]);
  });

  it.concurrent('ends canceled when it is stopped in a later run', async () => {
    const service = new FakeService({ createOutcomes: times(10, { ...refused, retryAfterMs: 60_000 }) });
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await eventually(() => service.calls.creates.length > 0);
      await callBackUntilRunsAre(task, 2);
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
  });

  it.concurrent('ends at its deadline, counted from the start of the first run', async () => {
    const service = new FakeService({ createOutcomes: times(10_000, { ...refused, retryAfterMs: 100 }) });
    await environment.withTask(
      service.activities,
      { inputs: {}, tuning, deadlines: { total: 15_000 } },
      async (task) => {
        const startedAtMs = Date.now();
        await eventually(() => service.calls.creates.length > 0);
        await callBackUntilRunsAre(task, 2);
        const failure = await failureOf(task);
        expect(failure.type).toBe('DeadlineExceeded');
        expect(Date.now() - startedAtMs).toBeLessThan(60_000);
      },
    );
  });
});

describe('an uncertain create', () => {
  it.concurrent(
    'with a request id that the service never confirms stays bounded, and takes the true callback',
    async () => {
      const service = new FakeService();
      neverConfirmed(service);
      await environment.withTask(service.activities, { tuning }, async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        await callBack(task, 'unanswered');
        await whenRunsAre(task, 4);
        expect(await listedStatusOf(task)).toBe('CreateUncertain');
        expect(await task.query(statusQuery)).toMatchObject({
          status: 'CreateUncertain',
          problem: { message: expect.stringContaining('the connection was reset') as string },
        });
        await callBack(task, 'true-id');
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'true-id' });
        await expectBounded(task, 4);
      });
      expect(service.calls.creates).toHaveLength(1);
      expect(service.calls.uploads).toHaveLength(1);
    },
  );

  it.concurrent('takes a person’s decision in a later run; what was created and uploaded is not repeated', async () => {
    const service = new FakeService();
    neverConfirmed(service);
    service.createOutcomes = [uncertain, uncertain];
    await environment.withTask(service.activities, { tuning }, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await callBack(task, 'unanswered');
      await whenRunsAre(task, 3);
      await task.executeUpdate('recreate');
      await eventually(() => service.calls.creates.length === 2);
      await task.signal(callbackSignal, { requestId: 'unanswered', createNumber: 2, status: 'Success' });
      await whenRunsAre(task, 5);
      expect((await task.describe()).memo).toMatchObject({ createNumber: 2, startedBy: 'a test' });
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'true-id' }] });
      expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'true-id' });
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
    expect(service.calls.uploads).toHaveLength(1);
  });

  it.concurrent('ends as StopUnconfirmed when it is stopped in a later run', async () => {
    const service = new FakeService();
    neverConfirmed(service);
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await callBack(task, 'unanswered');
      await whenRunsAre(task, 3);
      await task.cancel();
      expect((await failureOf(task)).type).toBe('StopUnconfirmed');
    });
  });

  it.concurrent('ends by its policy at the moment that was set in its first run', async () => {
    const service = new FakeService();
    neverConfirmed(service);
    const input = { inputs: {}, tuning, onUncertain: 'fail', uncertainWait: 5_000 };
    await environment.withTask(service.activities, input, async (task) => {
      const startedAtMs = Date.now();
      await whenStatusIs(task, 'CreateUncertain');
      await Promise.all(times(100, 'forged').map((word, index) => callBack(task, `${word}-${index}`)));
      expect((await failureOf(task)).type).toBe('CreateUncertain');
      expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(5_000);
      expect((await chainOf(task)).length).toBeGreaterThan(1);
    });
    expect(service.calls.creates).toHaveLength(1);
  });
});

describe('an archive that waits for a decision', () => {
  it.concurrent('stays bounded under signals, and takes the decision in a later run', async () => {
    const service = new FakeService({
      script: [seen('Success', { costTimes: { inference_cost_time: 7 }, timestamps: {} })],
      archiveFailures: [brokenOutput],
    });
    await environment.withTask(service.activities, { tuning }, async (task) => {
      await whenStatusIs(task, 'ArchiveIncomplete');
      for (let index = 0; index < 100; index += 1) await task.signal(interruptSignal);
      await whenRunsAre(task, 2);
      expect(await task.query(statusQuery)).toMatchObject({
        status: 'ArchiveIncomplete',
        problem: { message: 'output 1 has no link' },
      });
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success', costTimes: { inference_cost_time: 7 } });
    });
    expect(service.calls.archives).toHaveLength(2);
    expect(service.calls.archives[1]).toMatchObject({ inputs: [{ file: 'photo.jpg' }] });
    expect(service.calls.uploads).toHaveLength(1);
  });

  it.concurrent('stays bounded after a stop, too, and ends as what the stop made of it', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    service.onVerb = () => {
      service.script = [seen('Failed', { errorMessage: 'interrupted' })];
      return { taken: true };
    };
    service.archiveFailures = [brokenOutput];
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await whenStatusIs(task, 'Running');
      await task.cancel();
      await whenStatusIs(task, 'ArchiveIncomplete');
      for (let index = 0; index < 100; index += 1) await task.signal(interruptSignal);
      await whenRunsAre(task, 2);
      await task.executeUpdate(rearchiveUpdate);
      expect(await task.result()).toMatchObject({ status: 'Canceled' });
    });
  });
});
