import { cancelSignal, statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, seen, untilCancelled } from '../support/fake-activities';
import {
  executionOf,
  failureOf,
  fastTuning,
  listedStatusOf,
  stopRequestOf,
  TaskEnvironment,
  whenStatusIs,
} from '../support/task-environment';
import { watchWays, whenSeenAs } from '../support/watch-ways';

const noInputs = { inputs: {} };
const taken = { taken: true } as const;

const environment = TaskEnvironment.forSuite();

describe('Temporal’s cancellation, which stops the task', () => {
  it.concurrent('ends an upload at once, and nothing is created', async () => {
    const service = new FakeService({ onUpload: untilCancelled });
    await environment.withTask(service.activities, {}, async (task) => {
      await eventually(() => service.calls.uploads.length === 1);
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
      expect(await listedStatusOf(task)).toBe('Canceled');
      expect(await stopRequestOf(task, 'stop')).toMatchObject({
        outcome: 'confirmed',
        words: 'Nothing was created at the service.',
      });
    });
    expect(service.calls).toMatchObject({ commits: [], creates: [], polls: 0 });
  });

  it.concurrent('before the first step leaves nothing behind', async () => {
    const service = new FakeService({ script: [seen('Queuing')] });
    await environment.withWorkers(service.activities, async (start) => {
      const task = await start({});
      await task.cancel();
      await executionOf(task);
      const { createRequests } = await task.query(statusQuery);
      // Whichever came first: a create that was on its way is stopped at the service, anything else never happens.
      expect(service.calls.verbs).toHaveLength(createRequests);
    });
  });
});

describe.each(watchWays)('Temporal’s cancellation, watched by %s,', (watch) => {
  const input = { ...noInputs, watch };

  it.concurrent('waits while the task prepares, and interrupts it when it runs', async () => {
    const service = new FakeService({ script: [seen('Preparing')] });
    await environment.withTask(service.activities, input, async (task) => {
      await whenSeenAs(task, watch, 'Preparing');
      await task.cancel();
      await whenStatusIs(task, 'Stopping');
      const pollsSoFar = service.calls.polls;
      await eventually(() => service.calls.polls > pollsSoFar + 2);
      expect(service.calls.verbs).toEqual([]);
      expect((await stopRequestOf(task, 'stop')).words).toBe('Kept until the task runs; it is Preparing now.');
      service.script = [seen('Running')];
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });

  it.concurrent('leaves the failure of a task that failed by itself first', async () => {
    const service = new FakeService({ script: [seen('Preparing')] });
    await environment.withTask(service.activities, input, async (task) => {
      await whenSeenAs(task, watch, 'Preparing');
      await task.cancel();
      await whenStatusIs(task, 'Stopping');
      service.script = [seen('Failed', { errorMessage: 'no such model' })];
      expect(await failureOf(task)).toMatchObject({ type: 'TaskFailed' });
      expect(await stopRequestOf(task, 'stop')).toMatchObject({ outcome: 'tooLate' });
    });
  });

  it.concurrent('archives and completes a task that succeeded first, for it is paid', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    service.onVerb = () => {
      service.script = [seen('Success')];
      return { taken: false, refused: true, words: 'The task is not running.' };
    };
    await environment.withTask(service.activities, input, async (task) => {
      await whenSeenAs(task, watch, 'Running');
      await task.cancel();
      expect(await task.result()).toMatchObject({ status: 'Success', manifest: 'archive/request-1/manifest.json' });
      expect(await executionOf(task)).toBe('COMPLETED');
      expect(await stopRequestOf(task, 'stop')).toMatchObject({ outcome: 'tooLate' });
    });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.each<[string, { taken: true } | { taken: false; refused: true; words: string }]>([
    ['refused', { taken: false, refused: true, words: 'The task is not queued.' }],
    ['taken and without effect', taken],
  ])('interrupts at once when its cancel was %s because the task just started', async (_what, answer) => {
    const service = new FakeService({ script: [seen('Queuing')] });
    const canceled = service.onVerb;
    service.onVerb = (verb) => {
      if (verb === 'interrupt') return canceled(verb);
      service.script = [seen('Running')];
      return answer;
    };
    await environment.withTask(service.activities, input, async (task) => {
      await whenSeenAs(task, watch, 'Queuing');
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.verbs).toEqual(['cancel', 'interrupt']);
  });

  it.concurrent('is sent again when it could not be sent, and shows why', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    const canceled = service.onVerb;
    service.onVerb = () => {
      throw new Error('connect ECONNREFUSED');
    };
    await environment.withTask(service.activities, input, async (task) => {
      const whenWordsAre = (words: string): Promise<boolean> => {
        const areSaid = async (): Promise<boolean> => (await stopRequestOf(task, 'stop')).words === words;
        return eventually(areSaid, { withinMs: 60_000, what: words });
      };
      await whenSeenAs(task, watch, 'Running');
      await task.cancel();
      await whenWordsAre('The interrupt could not be sent: connect ECONNREFUSED.');
      service.onVerb = () => ({ taken: false, refused: false, words: 'HTTP 503.' });
      await whenWordsAre('The interrupt could not be sent: HTTP 503.');
      service.onVerb = () => ({ taken: false, refused: true, words: 'Not now.' });
      await whenWordsAre('The service refused the interrupt: Not now.');
      service.onVerb = canceled;
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(new Set(service.calls.verbs)).toEqual(new Set(['interrupt']));
  });

  it.concurrent(
    'fails as StopUnconfirmed when the service never ends the task, and says what may be paid',
    async () => {
      const service = new FakeService({ script: [seen('Running')], onVerb: () => taken });
      const tuning = { ...fastTuning, stopGraceMs: 3_000 };
      await environment.withTask(service.activities, { ...input, tuning }, async (task) => {
        await whenSeenAs(task, watch, 'Running');
        await task.cancel();
        const failure = await failureOf(task);
        expect(failure).toMatchObject({
          type: 'StopUnconfirmed',
          details: [{ requestId: 'request-1', serviceStatus: 'Running' }],
        });
        expect(failure.message).toMatch(/request-1 .* still Running after 3\.0 s\. .*may still run and be paid/);
        expect(await listedStatusOf(task)).toBe('Failed');
      });
      expect(service.calls.verbs).toEqual(['interrupt']);
    },
  );

  it.concurrent('fails as StopUnconfirmed when the service cannot be asked', async () => {
    const service = new FakeService({ script: [{ seen: 'nothing', problem: 'connect ECONNREFUSED' }] });
    const tuning = { ...fastTuning, stopGraceMs: 400 };
    await environment.withTask(service.activities, { ...input, tuning }, async (task) => {
      await whenStatusIs(task, 'Watching');
      await task.cancel();
      const failure = await failureOf(task);
      expect(failure.type).toBe('StopUnconfirmed');
      expect(failure.message).toContain('still not visible');
    });
    expect(service.calls.verbs).toEqual([]);
  });

  it.concurrent('comes too late while the outputs are archived, and the task completes', async () => {
    const service = new FakeService({ script: [seen('Success')] });
    await environment.withTask(service.activities, input, async (task) => {
      service.onArchive = async () => {
        await task.cancel();
        await task.signal(cancelSignal);
      };
      expect(await task.result()).toMatchObject({ status: 'Success' });
      for (const verb of ['stop', 'cancel'] as const) {
        expect(await stopRequestOf(task, verb)).toMatchObject({
          outcome: 'tooLate',
          words: 'The task had succeeded, and is paid; its state says how far its outputs are archived.',
        });
      }
      expect(await executionOf(task)).toBe('COMPLETED');
    });
    expect(service.calls.archives).toHaveLength(1);
    expect(service.calls.verbs).toEqual([]);
  });
});
