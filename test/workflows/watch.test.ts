import { statusQuery } from '../../src/contract/task-messages';
import { FakeService, seen } from '../support/fake-activities';
import { failureOf, TaskEnvironment } from '../support/task-environment';
import { watchWays } from '../support/watch-ways';

const environment = TaskEnvironment.forSuite();

describe.each(watchWays)('a task that is watched by %s', (watch) => {
  it.concurrent('completes as Canceled when the task was canceled elsewhere', async () => {
    const service = new FakeService({ script: [seen('Queuing'), seen('Canceled')] });
    const result = await environment.withTask(service.activities, { watch }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Canceled', outputs: [], manifest: null });
  });

  it.concurrent('goes on past failed queries and words it does not know', async () => {
    const service = new FakeService();
    service.script = [
      { seen: 'nothing', problem: 'connection reset' },
      { seen: 'notFound' },
      seen('Warming'),
      { seen: 'nothing', problem: '502' },
      seen('Success'),
    ];
    const status = await environment.withTask(service.activities, { watch }, async (task) => {
      await task.result();
      return await task.query(statusQuery);
    });
    expect(status).toMatchObject({ status: 'Success', polls: 5, failedPolls: 3 });
  });

  it.concurrent('fails as TaskNotFound when the service knows no such task for longer than the grace', async () => {
    const service = new FakeService({ script: [{ seen: 'notFound' }] });
    const failure = await environment.withTask(service.activities, { watch }, failureOf);
    expect(failure.type).toBe('TaskNotFound');
  });

  it.concurrent('fails as ResultLost at once when the service has deleted the task', async () => {
    const service = new FakeService({ script: [{ seen: 'gone', problem: 'the task and its results have expired' }] });
    const failure = await environment.withTask(service.activities, { watch }, failureOf);
    expect(failure.type).toBe('ResultLost');
    expect(failure.message).toMatch(/has deleted the task request-1 and its results: .*have expired/);
  });
});
