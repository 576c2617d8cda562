import {
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  interruptSignal,
  recreateUpdate,
  statusQuery,
} from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { pendingCreate } from '../support/pending-create';
import { FakeService, noObjection, seen } from '../support/fake-activities';
import { failureOf, stopRequestOf, TaskEnvironment } from '../support/task-environment';
import { refusalOf, uncertain, whileUncertain } from '../support/uncertain-create';

const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

describe('a callback and an uncertain create', () => {
  it.concurrent('settles it: the service itself brought the request id', async () => {
    const service = new FakeService();
    const result = await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'called-back', createNumber: 1, status: 'Success' });
      return task.result();
    });
    expect(result).toMatchObject({ status: 'Success', requestId: 'called-back' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent.each(['hold', 'fail', 'recreate'])(
    'settles it under the policy %s also when it comes before the create was given up',
    async (onUncertain) => {
      const service = new FakeService();
      const result = await environment.withTask(service.activities, { ...noInputs, onUncertain }, async (task) => {
        service.createOutcomes = [
          async () => {
            await task.signal(callbackSignal, { requestId: 'called-early', createNumber: 1, status: 'Success' });
            return uncertain;
          },
        ];
        return task.result();
      });
      expect(result).toMatchObject({ status: 'Success', requestId: 'called-early' });
      expect(service.calls.creates).toHaveLength(1);
    },
  );

  it.concurrent(
    'settles it only if the service knows the task: another id is left alone, and the right one still counts',
    async () => {
      const service = new FakeService({ knownAs: ['the-right-one'] });
      const result = await whileUncertain(environment, service, async (task) => {
        await task.signal(callbackSignal, { requestId: 'a-wrong-one', createNumber: 1, status: 'Success' });
        await eventually(() => service.calls.candidateChecks.includes('a-wrong-one'));
        await eventually(async () => (await task.query(statusQuery)).waitingFor.startsWith('your decision'));
        expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
        await task.signal(callbackSignal, { requestId: 'the-right-one', createNumber: 1, status: 'Success' });
        return task.result();
      });
      expect(result).toMatchObject({ status: 'Success', requestId: 'the-right-one' });
      expect(service.calls.creates).toHaveLength(1);
    },
  );

  it.concurrent(
    'settles it only if it answers this create: the late callback of an earlier one is no candidate',
    async () => {
      const service = new FakeService();
      await whileUncertain(
        environment,
        service,
        async (task) => {
          for (const answers of [{ createNumber: 1 }, { createNumber: 3 }, {}, { createNumber: '2' }]) {
            await task.signal('callback', { requestId: 'of-another-create', status: 'Success', ...answers });
          }
          await task.signal(callbackSignal, { requestId: 'own', createNumber: 2, status: 'Success' });
          expect(await task.result()).toMatchObject({ requestId: 'own' });
        },
        { createNumber: 2 },
      );
      expect(service.calls.candidateChecks).toEqual(['own']);
    },
  );

  it.concurrent('does not settle it with a task that another workflow follows, as long as it does', async () => {
    let follower: string | null = 'task:other-key';
    const service = new FakeService({
      onCheckAdoption: () => Promise.resolve({ ...noObjection, follower }),
    });
    await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'called-twice', createNumber: 1, status: 'Success' });
      await eventually(() => service.calls.candidateChecks.length > 1);
      expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
      follower = null;
      expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'called-twice' });
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent.each([
    ['the record of another create has it', { creator: 'task:same-key/1' }],
    ['the service had created it before the create was sent', { createdAt: '2026-03-01T12:00:00.000Z' }],
  ])('does not settle it with the task of another create: %s', async (_why, against) => {
    const service = new FakeService({
      onCheckAdoption: (requestId) =>
        Promise.resolve(requestId === 'another' ? { ...noObjection, ...against } : noObjection),
    });
    await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'another', createNumber: 1, status: 'Success' });
      await eventually(() => service.calls.candidateChecks.length > 0);
      await eventually(async () => (await task.query(statusQuery)).waitingFor.startsWith('your decision'));
      expect(service.calls.candidateChecks).toEqual(['another']);
      await task.signal(callbackSignal, { requestId: 'own', createNumber: 1, status: 'Success' });
      expect(await task.result()).toMatchObject({ requestId: 'own' });
    });
  });

  it.concurrent('of the first create is no candidate of the second one that a person ordered', async () => {
    const service = new FakeService({
      createOutcomes: [uncertain],
      onCheckAdoption: () => Promise.resolve({ ...noObjection, poll: { seen: 'nothing', problem: 'HTTP 503' } }),
    });
    await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'of-the-first', createNumber: 1, status: 'Success' });
      await task.executeUpdate(recreateUpdate);
      await eventually(() => service.calls.creates.length === 2);
      await eventually(async () => (await task.query(statusQuery)).waitingFor.startsWith('your decision'));
      service.onCheckAdoption = () => Promise.resolve(noObjection);
      await task.signal(callbackSignal, { requestId: 'of-the-second', createNumber: 2, status: 'Success' });
      expect(await task.result()).toMatchObject({ requestId: 'of-the-second' });
    });
  });

  it.concurrent('settles it once the service answers again', async () => {
    const service = new FakeService({
      knownAs: [],
      otherTasks: { 'called-back': { seen: 'nothing', problem: 'HTTP 503' } },
    });
    const result = await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'called-back', createNumber: 1, status: 'Success' });
      await eventually(async () => (await task.query(statusQuery)).waitingFor.startsWith('the service to confirm'));
      expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
      service.knownAs = undefined;
      return task.result();
    });
    expect(result).toMatchObject({ status: 'Success', requestId: 'called-back' });
  });

  it.concurrent('leaves it to the policy when the service does not know the task', async () => {
    const service = new FakeService({ knownAs: [] });
    await environment.withTask(service.activities, { ...noInputs, onUncertain: 'fail' }, async (task) => {
      service.createOutcomes = [
        async () => {
          await task.signal(callbackSignal, { requestId: 'unknown-there', createNumber: 1, status: 'Success' });
          return uncertain;
        },
      ];
      expect((await failureOf(task)).type).toBe('CreateUncertain');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('leaves room for a person meanwhile', async () => {
    const service = new FakeService({
      knownAs: ['by-hand'],
      otherTasks: { 'called-back': { seen: 'nothing', problem: 'HTTP 503' } },
    });
    const result = await whileUncertain(environment, service, async (task) => {
      await task.signal(callbackSignal, { requestId: 'called-back', createNumber: 1, status: 'Success' });
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'by-hand' }] });
      return task.result();
    });
    expect(result).toMatchObject({ status: 'Success', requestId: 'by-hand' });
  });

  it.concurrent('changes nothing when it holds no request id', async () => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      for (const args of [[], [null], ['text'], [{ requestId: 'two words' }]]) await task.signal('callback', ...args);
      expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'by-hand' }] });
      expect(await task.result()).toMatchObject({ requestId: 'by-hand' });
    });
  });
});

describe('a stop and an uncertain create', () => {
  it.concurrent('fails as StopUnconfirmed when Temporal asks for it, since there is no id to stop', async () => {
    const service = new FakeService();
    const failure = await whileUncertain(environment, service, async (task) => {
      await task.cancel();
      return failureOf(task);
    });
    expect(failure.type).toBe('StopUnconfirmed');
    expect(failure.message).toContain('the connection was reset');
  });

  it.concurrent('keeps a cancel until the id is known, and then sends it', async () => {
    const service = new FakeService({ script: [seen('Queuing')] });
    const result = await whileUncertain(environment, service, async (task) => {
      await task.signal(cancelSignal);
      expect(await refusalOf(task.executeUpdate(recreateUpdate))).toContain('a cancel was asked for');
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      return task.result();
    });
    expect(result).toMatchObject({ status: 'Canceled', requestId: 'found-it' });
    expect(service.calls.verbs).toEqual(['cancel']);
  });

  it.concurrent('never says that nothing was created when a cancel prevents the second create', async () => {
    const service = new FakeService({ createOutcomes: [{ outcome: 'notSent', reason: 'ECONNREFUSED' }] });
    const tuning = { createRetryMs: 60_000, createRetryMaxMs: 60_000 };
    const failure = await whileUncertain(
      environment,
      service,
      async (task) => {
        await task.executeUpdate(recreateUpdate);
        await pendingCreate(task);
        await task.signal(cancelSignal);
        return failureOf(task);
      },
      { tuning },
    );
    expect(failure.type).toBe('StopUnconfirmed');
    expect(failure.message).toContain('the connection was reset');
  });

  it.concurrent('keeps an interrupt for when the task runs', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    await whileUncertain(environment, service, async (task) => {
      await task.signal(interruptSignal);
      await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
      expect(await task.result()).toMatchObject({ status: 'Canceled', requestId: 'found-it' });
      expect(await stopRequestOf(task, 'interrupt')).toMatchObject({ outcome: 'confirmed' });
    });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });
});
