import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, passingFailure, seen, untilCancelled } from '../support/fake-activities';
import { failureOf, fastTuning, stopRequestOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { watchWays, whenSeenAs } from '../support/watch-ways';

const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

describe.each(watchWays)('a deadline that passes, watched by %s,', (watch) => {
  const input = { ...noInputs, watch };

  it.concurrent.each([
    ['queue', 300, 'Queuing', 'cancel', 'did not run within'],
    ['run', 300, 'Running', 'interrupt', 'ran longer than'],
    ['total', 5_000, 'Queuing', 'cancel', 'was not over'],
    ['total', 5_000, 'Running', 'interrupt', 'was not over'],
  ])('(%s of %d ms, while %s) has the task stopped by %s', async (name, durationMs, status, verb, words) => {
    const service = new FakeService({ script: [seen(status)] });
    await environment.withTask(service.activities, { ...input, deadlines: { [name]: durationMs } }, async (task) => {
      const failure = await failureOf(task);
      expect(failure.type).toBe('DeadlineExceeded');
      expect(failure.message).toContain(words);
      expect(failure.message).toContain(`(deadlines.${name}). It was stopped and ended as Canceled.`);
      expect(failure.details?.[0]).toMatchObject({ result: { status: 'Canceled', requestId: 'request-1' } });
      expect(await stopRequestOf(task, 'stop')).toMatchObject({ outcome: 'confirmed' });
    });
    expect(service.calls.verbs).toEqual([verb]);
  });

  it.concurrent('fails the task as StopUnconfirmed when the service does not end it', async () => {
    const service = new FakeService({ script: [seen('Running')], onVerb: () => ({ taken: true }) });
    const tuning = { ...fastTuning, stopGraceMs: 300 };
    const failure = await environment.withTask(
      service.activities,
      { ...input, tuning, deadlines: { run: 200 } },
      failureOf,
    );
    expect(failure.type).toBe('StopUnconfirmed');
    expect(failure.message).toContain('request-1');
  });

  it.concurrent('is no failure when the task succeeded before it was stopped', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    service.onVerb = () => {
      service.script = [seen('Success')];
      return { taken: true };
    };
    const deadlines = { run: 200 };
    const result = await environment.withTask(service.activities, { ...input, deadlines }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', manifest: 'archive/request-1/manifest.json' });
  });

  it.concurrent('stops a task that prepares only once it runs', async () => {
    const service = new FakeService({ script: [seen('Preparing')] });
    await environment.withTask(service.activities, { ...input, deadlines: { queue: 200 } }, async (task) => {
      await whenStatusIs(task, 'Stopping');
      expect(service.calls.verbs).toEqual([]);
      service.script = [seen('Running')];
      expect((await failureOf(task)).message).toContain('deadlines.queue');
    });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });

  it.concurrent('counts from where the task is: a queue deadline is over once it runs', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    const deadlines = { queue: 4_000 };
    await environment.withTask(service.activities, { ...input, deadlines }, async (task) => {
      await whenSeenAs(task, watch, 'Running');
      const sinceMs = Date.now();
      await eventually(() => Date.now() - sinceMs > deadlines.queue, { what: 'the deadline to pass' });
      const pollsSoFar = service.calls.polls;
      await eventually(() => service.calls.polls > pollsSoFar + 1);
      service.script = [seen('Success')];
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect((await task.query(statusQuery)).stopRequests).toEqual([]);
    });
  });
});

describe('a deadline that passes', () => {
  it.concurrent('during the upload fails the task before anything is created', async () => {
    const service = new FakeService({ onUpload: () => Promise.reject(passingFailure('the storage is down')) });
    const failure = await environment.withTask(service.activities, { deadlines: { total: 3_000 } }, failureOf);
    expect(failure.type).toBe('DeadlineExceeded');
    expect(failure.message).toContain('storeInput');
    expect(failure.message).toContain('the storage is down');
    expect(service.calls.uploads.length).toBeGreaterThan(1);
    expect(service.calls.creates).toEqual([]);
  });

  it.concurrent('tells what the last attempt said also when another was on its way', async () => {
    const service = new FakeService();
    const cause = new Error('words of a library');
    service.onUpload = () => {
      if (service.calls.uploads.length > 2) return untilCancelled();
      return Promise.reject(ApplicationFailure.create({ message: 'the storage is down', cause }));
    };
    const failure = await environment.withTask(service.activities, { deadlines: { total: 2_500 } }, failureOf);
    expect(failure.message).toBe('storeInput did not succeed in time: the storage is down');
  });

  it.concurrent('before a reset does not let the new run say that nothing was ever created', async () => {
    const service = new FakeService();
    await environment.withTask(service.activities, { deadlines: { total: 3_000 } }, async (task) => {
      const startedAtMs = Date.now();
      expect(await task.result()).toMatchObject({ status: 'Success' });
      await eventually(() => Date.now() - startedAtMs > 3_000, { what: 'the total deadline to pass' });
      const { events } = await task.fetchHistory();
      // After the upload, and before the create.
      const [, second] = events?.filter((event) => event.workflowTaskCompletedEventAttributes != null) ?? [];
      await environment.client.workflowService.resetWorkflowExecution({
        ...{ namespace: 'default', workflowExecution: { workflowId: task.workflowId }, reason: 'an operator at work' },
        ...{ requestId: randomUUID(), workflowTaskFinishEventId: second?.eventId ?? null },
      });
      const failure = await failureOf(environment.client.workflow.getHandle(task.workflowId));
      expect(failure.type).toBe('DeadlineExceeded');
      expect(failure.message).toMatch(/This run created nothing; what one before it .* longhaul reconcile finds/);
    });
    expect(service.calls.creates).toHaveLength(1);
  });
});
