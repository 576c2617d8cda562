import { cancelSignal, interruptSignal, statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, seen, untilCancelled } from '../support/fake-activities';
import { executionOf, stopRequestOf, TaskEnvironment, whenRequestIs } from '../support/task-environment';
import { watchWays, whenSeenAs } from '../support/watch-ways';

const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

describe.each(watchWays)('watched by %s,', (watch) => {
  const input = { ...noInputs, watch };

  describe('the signal cancel', () => {
    it.concurrent(
      'before the create ends the upload, and the task completes as Canceled without a request id',
      async () => {
        const service = new FakeService({ onUpload: untilCancelled });
        await environment.withTask(service.activities, { watch }, async (task) => {
          await eventually(() => service.calls.uploads.length === 1);
          await task.signal(cancelSignal);
          expect(await task.result()).toMatchObject({
            status: 'Canceled',
            requestId: null,
            outputs: [],
            manifest: null,
          });
          expect(await executionOf(task)).toBe('COMPLETED');
          expect(await stopRequestOf(task, 'cancel')).toMatchObject({ outcome: 'confirmed' });
        });
        expect(service.calls.creates).toEqual([]);
      },
    );

    it.concurrent.each(['Preparing', 'Running'] as const)(
      'never interrupts: in %s it does not apply, says so, and the task goes on to Success',
      async (status) => {
        const service = new FakeService({ script: [seen(status)] });
        await environment.withTask(service.activities, input, async (task) => {
          await whenSeenAs(task, watch, status);
          await task.signal(cancelSignal);
          await whenRequestIs(task, 'cancel', 'notApplicable');
          expect((await stopRequestOf(task, 'cancel')).words).toBe(
            `The task is ${status}: a cancel applies only while it queues. Use interrupt or stop.`,
          );
          service.script = [seen('Success')];
          expect(await task.result()).toMatchObject({ status: 'Success' });
        });
        expect(service.calls.verbs).toEqual([]);
        expect(service.calls.archives).toHaveLength(1);
      },
    );
  });

  describe('the signal interrupt', () => {
    it.concurrent('is kept while the task queues and prepares, and sent when it runs', async () => {
      const service = new FakeService({ script: [seen('Queuing')] });
      await environment.withTask(service.activities, input, async (task) => {
        await whenSeenAs(task, watch, 'Queuing');
        await task.signal(interruptSignal);
        await eventually(async () => {
          return (await stopRequestOf(task, 'interrupt')).words === 'Kept until the task runs; it is Queuing now.';
        });
        service.script = [seen('Preparing')];
        // A watch that came back for the new state tells it by a heartbeat 20 s later only.
        await eventually(async () => (await task.query(statusQuery)).serviceStatus === 'Preparing');
        expect(service.calls.verbs).toEqual([]);
        service.script = [seen('Running')];
        expect(await task.result()).toMatchObject({ status: 'Canceled' });
      });
      expect(service.calls.verbs).toEqual(['interrupt']);
    });

    it.concurrent('is kept from before the create, which it does not prevent', async () => {
      const service = new FakeService({ script: [seen('Running')] });
      await environment.withTask(service.activities, { watch }, async (task) => {
        service.onUpload = () => task.signal(interruptSignal);
        expect(await task.result()).toMatchObject({ status: 'Canceled', requestId: 'request-1' });
      });
      expect(service.calls.creates).toHaveLength(1);
      expect(service.calls.verbs).toEqual(['interrupt']);
    });
  });

  describe('several requests to end a task', () => {
    it.concurrent('send each verb where it applies: cancel and interrupt while it queues cancel it', async () => {
      const service = new FakeService({ script: [seen('Queuing')] });
      await environment.withTask(service.activities, input, async (task) => {
        await whenSeenAs(task, watch, 'Queuing');
        await Promise.all([task.signal(interruptSignal), task.signal(cancelSignal)]);
        expect(await task.result()).toMatchObject({ status: 'Canceled' });
        expect(await stopRequestOf(task, 'cancel')).toMatchObject({ outcome: 'confirmed' });
        expect(await stopRequestOf(task, 'interrupt')).toMatchObject({ outcome: 'tooLate' });
      });
      expect(service.calls.verbs).toEqual(['cancel']);
    });

    it.concurrent('of the same verb are one: it is sent once', async () => {
      const service = new FakeService({ script: [seen('Running')], onVerb: () => ({ taken: true }) });
      await environment.withTask(service.activities, input, async (task) => {
        await whenSeenAs(task, watch, 'Running');
        for (let time = 0; time < 5; time += 1) await task.signal(interruptSignal);
        await whenRequestIs(task, 'interrupt', 'sent');
        await task.signal(interruptSignal);
        const pollsSoFar = service.calls.polls;
        await eventually(() => service.calls.polls > pollsSoFar + 2);
        service.script = [seen('Canceled')];
        await task.result();
      });
      expect(service.calls.verbs).toEqual(['interrupt']);
    });

    it.concurrent('end as Temporal’s cancellation asks when it is among them', async () => {
      const service = new FakeService({ script: [seen('Queuing')], onVerb: () => ({ taken: true }) });
      await environment.withTask(service.activities, input, async (task) => {
        await whenSeenAs(task, watch, 'Queuing');
        await task.signal(cancelSignal);
        await whenRequestIs(task, 'cancel', 'sent');
        await task.cancel();
        await whenRequestIs(task, 'stop', 'sent');
        service.script = [seen('Canceled')];
        expect(await executionOf(task)).toBe('CANCELLED');
      });
    });
  });
});
