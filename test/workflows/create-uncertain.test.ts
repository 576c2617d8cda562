import { abandonUpdate, adoptUpdate, recreateUpdate, statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import { failureOf, listedStatusOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { refusalOf, uncertain, whileUncertain } from '../support/uncertain-create';
import { refusedCreate } from '../support/refused-create';

const rejected = refusedCreate(400, 'no credit');
const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

describe('a create of which nobody knows whether it was accepted', () => {
  it.concurrent('is shown as CreateUncertain, with the reason and what to do, and is not sent again', async () => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      const status = await task.query(statusQuery);
      expect(status.problem).toMatchObject({ code: 'NeedsPerson', since: status.since });
      expect(status.problem?.message).toContain('the connection was reset');
      expect(status.waitingFor).toMatch(/adopt.*recreate.*abandon/);
      expect(status).toMatchObject({ requestId: null, createRequests: 1 });
      await eventually(async () => (await listedStatusOf(task)) === 'CreateUncertain');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('says from when on the service may have created it, in the service’s own time, too', async () => {
    const sentAtMs = Date.UTC(2026, 10, 25, 18, 43, 40);
    const service = new FakeService({ createOutcomes: [{ outcome: 'uncertain', reason: 'no reply', sentAtMs }] });
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      const { nextStep } = await task.query(statusQuery);
      expect(nextStep).toContain('created at 2026-11-25 18:43:40 UTC (2026-11-26 02:43:40 UTC+8 there) or later');
    });
  });

  it.concurrent('is followed to its end once a person brings the request id', async () => {
    const service = new FakeService();
    const result = await whileUncertain(environment, service, async (task) => {
      const { words } = await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      expect(words).toContain('found-it');
      return task.result();
    });
    expect(result).toMatchObject({ status: 'Success', requestId: 'found-it' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('is sent again under the next number when a person accepts that it may be paid twice', async () => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      await task.executeUpdate(recreateUpdate);
      expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });
      expect((await task.describe()).memo).toMatchObject({ createNumber: 2 });
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
  });

  it.concurrent('may be uncertain a second time, and waits again', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    await whileUncertain(environment, service, async (task) => {
      await task.executeUpdate(recreateUpdate);
      await eventually(() => service.calls.creates.length === 2);
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'second' }] });
      expect(await task.result()).toMatchObject({ requestId: 'second' });
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
  });

  it.concurrent('fails as CreateUncertain when a person gives it up, and keeps that status', async () => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      await task.executeUpdate(abandonUpdate);
      const failure = await failureOf(task);
      expect(failure.type).toBe('CreateUncertain');
      expect(failure.message).toContain('the connection was reset');
      expect(await listedStatusOf(task)).toBe('CreateUncertain');
    });
  });

  it.concurrent('tells of it still when the second create is rejected', async () => {
    const service = new FakeService({ createOutcomes: [rejected] });
    const failure = await whileUncertain(environment, service, async (task) => {
      await task.executeUpdate(recreateUpdate);
      return failureOf(task);
    });
    expect(failure.type).toBe('TaskRejected');
    expect(failure.message).toMatch(/no credit.*the connection was reset/);
  });

  it.concurrent('does not use up the task’s deadlines while it waits', async () => {
    const service = new FakeService({ script: [...Array.from({ length: 3 }, () => seen('Running')), seen('Success')] });
    const deadlines = { total: 10_000 };
    const result = await whileUncertain(
      environment,
      service,
      async (task) => {
        const since = Date.parse((await task.query(statusQuery)).since);
        await eventually(() => Date.now() - since > deadlines.total, { what: 'the total deadline to pass' });
        await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-late' }] });
        return task.result();
      },
      { deadlines },
    );
    expect(result.status).toBe('Success');
    expect(service.calls.verbs).toEqual([]);
  });
});

describe('decisions about a create', () => {
  it.concurrent.each([{}, { requestId: '' }, { requestId: 'two words' }, { requestId: 7 }, null, 'text'])(
    'refuse to adopt %j, and go on waiting',
    async (argument) => {
      const service = new FakeService();
      await whileUncertain(environment, service, async (task) => {
        expect(await refusalOf(task.executeUpdate('adopt', { args: [argument] }))).toContain('"requestId"');
        expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
      });
    },
  );
});
