import { adoptUpdate } from '../../src/contract/task-messages';
import { FakeService } from '../support/fake-activities';
import { failureOf, fastTuning, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { watchWays } from '../support/watch-ways';

const environment = TaskEnvironment.forSuite();

/** The activities of a service, of which one gives this result the first time, as a person may complete one. */
function givenOnce(service: FakeService, name: keyof FakeService['activities'], result: unknown) {
  const original = service.activities[name] as (input: never) => Promise<unknown>;
  let isGiven = false;
  const activity = (input: never): Promise<unknown> => {
    if (isGiven) return original(input);
    isGiven = true;
    return Promise.resolve(result);
  };
  return { ...service.activities, [name]: activity };
}

describe('a result of an activity that was given from outside in another form', () => {
  it.concurrent.each([{}, null, 'accepted', { outcome: 'accepted', requestId: 7 }, { outcome: 'done' }])(
    'is an uncertain create: %j',
    async (result) => {
      const service = new FakeService();
      const activities = givenOnce(service, 'createTask', result);
      await environment.withTask(activities, { inputs: {} }, async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        await task.executeUpdate(adoptUpdate, { args: [{ requestId: 'found-it' }] });
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'found-it' });
      });
    },
  );

  it.concurrent.each(watchWays)('is a poll that failed, watched by %s', async (watch) => {
    const service = new FakeService();
    const activities = givenOnce(service, watch === 'timer' ? 'pollTask' : 'watchTask', { seen: 'task', isLost: true });
    const result = await environment.withTask(activities, { watch }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success' });
  });

  it.concurrent('is an archive that failed, never Success without a file', async () => {
    const service = new FakeService();
    const tuning = { ...fastTuning, archivePauseMs: 50 };
    const activities = givenOnce(service, 'archiveOutputs', { outputs: [{}], manifest: '/archive/manifest.json' });
    const result = await environment.withTask(activities, { tuning }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success' });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.concurrent('fails a task whose input was to be stored, unpaid', async () => {
    const service = new FakeService();
    const activities = givenOnce(service, 'storeInput', { objectKey: 1 });
    const inputs = { '1:LoadImage.image': { file: 'cat.png' } };
    const failure = await environment.withTask(activities, { inputs }, failureOf);
    expect(failure.type).toBe('ActivityResultInvalid');
    expect(service.calls.creates).toEqual([]);
  });
});
