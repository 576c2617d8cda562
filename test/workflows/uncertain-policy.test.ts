import { heartbeat } from '@temporalio/activity';
import { abandonUpdate, adoptUpdate, callbackSignal, statusQuery } from '../../src/contract/task-messages';
import type { CreateOutcome } from '../../src/core/create-outcome';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen, untilCancelled } from '../support/fake-activities';
import { executionOf, failureOf, listedStatusOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { uncertain } from '../support/uncertain-create';

const noInputs = { inputs: {} };
/** Lost, but a callback was asked for: it may still bring the request id. */
const callbackMayCome: CreateOutcome = {
  outcome: 'uncertain',
  reason: 'the connection was reset',
  callbackAsked: true,
};

const environment = TaskEnvironment.forSuite();

describe('the policy for an uncertain create', () => {
  it.concurrent('fail ends the task at once as CreateUncertain', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    await environment.withTask(service.activities, { ...noInputs, onUncertain: 'fail' }, async (task) => {
      expect((await failureOf(task)).type).toBe('CreateUncertain');
      expect(await listedStatusOf(task)).toBe('CreateUncertain');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('recreate sends it once more, and then holds', async () => {
    const service = new FakeService({ createOutcomes: [uncertain, uncertain] });
    await environment.withTask(service.activities, { ...noInputs, onUncertain: 'recreate' }, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
      expect((await task.describe()).memo).toMatchObject({ createNumber: 2 });
      await task.executeUpdate(abandonUpdate);
      expect((await failureOf(task)).details).toMatchObject([{ createNumber: 2 }]);
    });
    expect(service.calls.creates).toHaveLength(2);
  });

  it.concurrent('recreate counts from the number that the task was started with', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    const input = { ...noInputs, onUncertain: 'recreate', createNumber: 4 };
    await environment.withTask(service.activities, input, (task) => task.result());
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([4, 5]);
  });

  it.concurrent('recreate sends nothing after a stop, and says that the stop is not confirmed', async () => {
    const service = new FakeService();
    await environment.withTask(service.activities, { ...noInputs, onUncertain: 'recreate' }, async (task) => {
      service.createOutcomes = [
        async () => {
          await task.cancel();
          return uncertain;
        },
      ];
      expect((await failureOf(task)).type).toBe('StopUnconfirmed');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent.each(['fail', 'recreate'] as const)(
    '%s waits for the callback that the create asked for, and follows the task that it names',
    async (onUncertain) => {
      const service = new FakeService({ createOutcomes: [callbackMayCome] });
      await environment.withTask(service.activities, { ...noInputs, onUncertain }, async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        expect((await task.query(statusQuery)).waitingFor).toMatch(/without them the policy .* at \d{4}-/);
        await task.signal(callbackSignal, { requestId: 'called-back', createNumber: 1, status: 'Success' });
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'called-back' });
      });
      expect(service.calls.creates).toHaveLength(1);
    },
  );

  it.concurrent('fail ends the task when no callback came within the task’s deadline', async () => {
    const service = new FakeService({ createOutcomes: [callbackMayCome] });
    const input = { ...noInputs, onUncertain: 'fail', deadlines: { total: '2 seconds' } } as const;
    await environment.withTask(service.activities, input, async (task) => {
      expect((await failureOf(task)).type).toBe('CreateUncertain');
      const { startTime, closeTime } = await task.describe();
      expect((closeTime?.getTime() ?? 0) - startTime.getTime()).toBeGreaterThanOrEqual(2_000);
    });
  });

  it.concurrent(
    'recreate sends it once more when no callback came within uncertainWait, and has its deadlines left for that',
    async () => {
      const service = new FakeService({ createOutcomes: [callbackMayCome] });
      const input = { ...noInputs, onUncertain: 'recreate', uncertainWait: '1 second' };
      await environment.withTask(service.activities, input, async (task) => {
        expect(await task.result()).toMatchObject({ status: 'Success' });
      });
      const [first = 0, second = 0] = service.calls.createdAtMs;
      expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
      expect(second - first).toBeGreaterThanOrEqual(1_000);
    },
  );

  it.concurrent('recreate holds when a stop comes while it waits for the callback', async () => {
    const service = new FakeService({ createOutcomes: [callbackMayCome] });
    const input = { ...noInputs, onUncertain: 'recreate', uncertainWait: '2 seconds' };
    await environment.withTask(service.activities, input, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.signal('cancel');
      await eventually(async () => !(await task.query(statusQuery)).waitingFor.includes('the policy'), {
        what: 'the policy to give way to the request to stop',
      });
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      await task.result();
    });
    expect(service.calls.creates).toHaveLength(1);
  });
});

describe('a create whose worker was lost', () => {
  const lost = { ...noInputs, tuning: { createTimeoutMs: 1_000 } };
  /** It has told Temporal in which archive it claims its record. */
  const afterClaim = (): Promise<never> => {
    heartbeat({ archiveId: 'archive-of-all' });
    return untilCancelled();
  };

  it.concurrent('is accepted when the create record has the request id that its heartbeat did not bring', async () => {
    const service = new FakeService({
      createOutcomes: [afterClaim],
      onLostCreate: () => Promise.resolve({ outcome: 'accepted', requestId: 'on-record' }),
    });
    const result = await environment.withTask(service.activities, lost, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', requestId: 'on-record' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('is sent when it had not even told that it claims a create record: then nothing was sent', async () => {
    const service = new FakeService({
      createOutcomes: [untilCancelled],
      onLostCreate: () => Promise.reject(new Error('nobody asks')),
    });
    await environment.withTask(service.activities, lost, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 1]);
  });

  it.concurrent('is sent when its archive has no record of it', async () => {
    const service = new FakeService({ createOutcomes: [afterClaim] });
    const asked: string[] = [];
    service.onLostCreate = ({ archiveId, reason }) => {
      asked.push(archiveId);
      return Promise.resolve({ outcome: 'notSent', reason });
    };
    await environment.withTask(service.activities, lost, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
    expect(asked).toEqual(['archive-of-all']);
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 1]);
  });

  it.concurrent('is not sent, and ends unpaid, when it had not begun and a stop came meanwhile', async () => {
    const service = new FakeService({
      createOutcomes: [afterClaim],
      onLostCreate: ({ reason }) => Promise.resolve({ outcome: 'notSent', reason }),
    });
    await environment.withTask(service.activities, lost, async (task) => {
      await eventually(() => service.calls.creates.length > 0);
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('is found out about before a stop that came meanwhile is carried out', async () => {
    const service = new FakeService({
      createOutcomes: [afterClaim],
      script: [seen('Queuing')],
      onLostCreate: () => Promise.resolve({ outcome: 'accepted', requestId: 'on-record' }),
    });
    await environment.withTask(service.activities, lost, async (task) => {
      await eventually(() => service.calls.creates.length > 0);
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.verbs).toEqual(['cancel']);
  });

  it.concurrent('waits as if a callback came when its record cannot be read', async () => {
    const service = new FakeService({
      createOutcomes: [afterClaim],
      onLostCreate: () => Promise.reject(finalFailure('ArchiveUnusable', 'no permission')),
    });
    const input = { ...lost, onUncertain: 'recreate' };
    await environment.withTask(service.activities, input, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      expect((await task.query(statusQuery)).problem?.message).toContain('no permission');
      await task.executeUpdate(abandonUpdate);
      await failureOf(task);
    });
    expect(service.calls.creates).toHaveLength(1);
  });
});
