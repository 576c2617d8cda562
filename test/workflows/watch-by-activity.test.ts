import { callbackSignal, interruptSignal, statusQuery } from '../../src/contract/task-messages';
import type { PollResult } from '../../src/contract/activities';
import { metadataOf } from '../support/evidence';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import {
  failureOf,
  fastTuning,
  type RunningTask,
  TaskEnvironment,
  whenRequestIs,
  whenStatusIs,
} from '../support/task-environment';
import { heartbeatOf, watchEventsOf, whenSeenAs } from '../support/watch-ways';

const input = { inputs: {}, watch: 'activity' } as const;

const environment = TaskEnvironment.forSuite();

function times(count: number, poll: PollResult): PollResult[] {
  return Array.from({ length: count }, () => poll);
}

async function watchEventCount(task: RunningTask): Promise<number> {
  await task.result();
  return watchEventsOf((await task.fetchHistory()).events ?? []).length;
}

describe('the watch by activity', () => {
  it.concurrent.each([1, 30, 300])('spends at most 12 events on a watch of %d polls', async (polls) => {
    const service = new FakeService({ script: [...times(polls - 1, seen('Running')), seen('Success')] });
    const tuning = { ...fastTuning, poll: { minMs: 1, maxMs: 2 } };
    const count = await environment.withTask(service.activities, { ...input, tuning }, watchEventCount);
    expect(count).toBeLessThanOrEqual(12);
    expect(service.calls.polls).toBe(polls);
  });

  it.concurrent('archives what succeeded in the attempt that saw it, in 20 events of the whole task', async () => {
    const service = new FakeService({ script: [seen('Running'), seen('Success')], archivesAtOnce: true });
    await environment.withTask(service.activities, input, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ sha256: 'ab' }] });
      const { events = [] } = await task.fetchHistory();
      expect(events?.length).toBeLessThanOrEqual(20);
    });
    expect(service.calls.archives).toHaveLength(1);
  });

  it.concurrent('leaves it to another attempt when a message ends the watch meanwhile, or it fails', async () => {
    const service = new FakeService({ script: [seen('Success')], archivesAtOnce: true });
    service.archiveFailures.push(new Error('the disk is full'));
    await environment.withTask(service.activities, input, async (task) => {
      expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ sha256: 'ab' }] });
    });
    expect(service.calls.archives).toHaveLength(2);

    const interrupted = new FakeService({ script: [seen('Success')], archivesAtOnce: true });
    interrupted.onArchive = () =>
      interrupted.calls.archives.length > 1 ? Promise.resolve() : new Promise(() => undefined);
    await environment.withTask(interrupted.activities, input, async (task) => {
      await eventually(() => interrupted.calls.archives.length === 1, { what: 'the archive' });
      await task.signal(interruptSignal);
      expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ sha256: 'ab' }] });
    });
  });

  it.concurrent('may take as long as the task, in one attempt', async () => {
    const service = new FakeService();
    await environment.withTask(service.activities, input, async (task) => {
      await task.result();
      const { events } = await task.fetchHistory();
      const [watch] = watchEventsOf(events ?? []).flatMap(
        ({ activityTaskScheduledEventAttributes: event }) => event ?? [],
      );
      // More than the execution timeout of the test's workflow, which Temporal cuts it down to, is left of 48 h.
      expect(Number(watch?.startToCloseTimeout?.seconds)).toBeGreaterThan(60);
      expect(watch?.startToCloseTimeout).toEqual(watch?.scheduleToCloseTimeout);
    });
  });

  it.concurrent('spends at most 12 events on a watch that a callback ends', async () => {
    const service = new FakeService({ script: [seen('Success')] });
    const tuning = { ...fastTuning, poll: { minMs: 600_000, maxMs: 600_000 } };
    const spent = await environment.withTask(service.activities, { ...input, tuning }, async (task) => {
      await whenStatusIs(task, 'Watching');
      const before = (await task.describe()).historyLength;
      await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
      await task.result();
      const { events = [] } = await task.fetchHistory();
      const archiving = (events ?? []).findIndex(({ activityTaskScheduledEventAttributes: event }) => {
        return event?.activityType?.name === 'archiveOutputs';
      });
      // Of the watch so far: what it shows, and the activity.
      return archiving - before + 2;
    });
    expect(spent).toBeLessThanOrEqual(12);
    expect(service.calls.polls).toBe(1);
  });

  it.concurrent(
    'comes back only when the state changes while an interrupt is kept, however long the task queues',
    async () => {
      const service = new FakeService({ script: [seen('Queuing')] });
      await environment.withTask(service.activities, input, async (task) => {
        await whenSeenAs(task, 'activity', 'Queuing');
        await task.signal(interruptSignal);
        await whenRequestIs(task, 'interrupt', 'waiting');
        await whenSeenAs(task, 'activity', 'Queuing');
        const before = (await task.describe()).historyLength;
        const pollsSoFar = service.calls.polls;
        await eventually(() => service.calls.polls > pollsSoFar + 20);
        expect((await task.describe()).historyLength).toBe(before);
        service.script = [seen('Running')];
        expect(await task.result()).toMatchObject({ status: 'Canceled' });
      });
      expect(service.calls.verbs).toEqual(['interrupt']);
    },
  );

  it.concurrent('is shown as Watching, with where the state of the task is told, and tells it there', async () => {
    const service = new FakeService({ script: [seen('Queuing', { queuePosition: 4 })] });
    await environment.withTask(service.activities, input, async (task) => {
      await whenSeenAs(task, 'activity', 'Queuing');
      expect(await task.query(statusQuery)).toMatchObject({ status: 'Watching', requestId: 'request-1' });
      const shown = (await metadataOf(task)).map(({ text }) => text).join('\n');
      expect(shown).toContain('heartbeat of the pending activity watchTask');
      expect(await heartbeatOf(task)).toMatchObject({ serviceStatus: 'Queuing', queuePosition: 4, failedPolls: 0 });
      service.script = [seen('Success')];
      await task.result();
      expect(await task.query(statusQuery)).toMatchObject({ status: 'Success', polls: service.calls.polls });
    });
  });

  it.concurrent('lists the state of a task that takes long, for seven events each time it is told', async () => {
    const service = new FakeService({ script: [seen('Queuing', { queuePosition: 4 })] });
    const tuning = { ...fastTuning, watchTellMs: 60 };
    await environment.withTask(service.activities, { ...input, tuning }, async (task) => {
      await whenStatusIs(task, 'Queuing');
      const { queuePosition, polls, waitingFor } = await task.query(statusQuery);
      expect(queuePosition).toBe(4);
      expect(polls).toBeGreaterThan(0);
      expect(waitingFor).toMatch(/Queuing as of \d{4}-.*heartbeat of the pending activity watchTask/);
      // What the time before left is in the history once the next watch is scheduled.
      await whenSeenAs(task, 'activity', 'Queuing');
      const before = (await task.describe()).historyLength;
      service.script = [seen('Running')];
      await whenStatusIs(task, 'Running');
      await eventually(async () => (await task.describe()).raw.pendingActivities?.length === 1);
      expect((await task.describe()).historyLength - before).toBeLessThanOrEqual(7);
      const pollsSoFar = service.calls.polls;
      const after = (await task.describe()).historyLength;
      await eventually(() => service.calls.polls > pollsSoFar + 30);
      expect((await task.describe()).historyLength).toBe(after);
    });
  });

  it.concurrent('costs a task that ends before a minute is over nothing more', async () => {
    const service = new FakeService({ script: [...times(20, seen('Queuing')), seen('Running'), seen('Success')] });
    const spent = await environment.withTask(service.activities, input, watchEventCount);
    expect(spent).toBeLessThanOrEqual(12);
  });

  it.concurrent('tells within seconds since when the task runs, and the workflow knows it afterwards', async () => {
    const service = new FakeService({ script: [seen('Queuing')] });
    // Longer than a new state waits for its heartbeat.
    const deadlines = { run: 8_000 };
    await environment.withTask(service.activities, { ...input, deadlines }, async (task) => {
      await whenSeenAs(task, 'activity', 'Queuing');
      service.script = [seen('Running')];
      await whenSeenAs(task, 'activity', 'Running');
      expect((await heartbeatOf(task))?.runningSinceMs).toBeLessThanOrEqual(Date.now());
      expect((await failureOf(task)).message).toContain('ran longer than 8.0 s');
    });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });

  it.concurrent('has a task stopped at its total deadline also when no worker can watch', async () => {
    const service = new FakeService({ script: [seen('Running')] });
    const activities = { ...service.activities, watchTask: () => Promise.reject(new Error('no such account here')) };
    const tuning = { ...fastTuning, watchHeartbeatMs: 100 };
    const failure = await environment.withTask(
      activities,
      { ...input, tuning, deadlines: { total: 4_000 } },
      failureOf,
    );
    expect(failure.type).toBe('DeadlineExceeded');
    expect(failure.message).toContain('(deadlines.total)');
    expect(service.calls.verbs).toEqual(['interrupt']);
  });
});
