import { ApplicationFailureCategory } from '@temporalio/common';
import { type WatchDependencies, watchTask } from '../../../src/activities/watch-task';
import type { PollResult, WatchHeartbeat, WatchTaskInput, WatchTaskResult } from '../../../src/contract/activities';
import { ServiceTimeoutError } from '../../../src/service';
import { PollHeldBackError } from '../../../src/service/account-gate';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { newWatch, watchParts } from '../../support/watch-parts';
import { ActivityEnvironment } from '../../support/activity-environment';

const hourMs = 3_600_000;
const input = newWatch();
const { startedAtMs } = input;

let polls: PollResult[];
let parts: WatchDependencies;
beforeEach(() => {
  polls = [seen('Running')];
  parts = watchParts('default', () =>
    Promise.resolve((polls.length > 1 ? polls.shift() : polls[0]) ?? seen('Running')),
  );
});

interface Watch {
  readonly environment: ActivityEnvironment;
  readonly heartbeats: WatchHeartbeat[];
  readonly result: Promise<WatchTaskResult>;
}

/** One attempt, as a worker does it. */
function watch(
  more: Partial<WatchTaskInput> = {},
  info: ConstructorParameters<typeof ActivityEnvironment>[0] = {},
): Watch {
  const environment = new ActivityEnvironment(info);
  const heartbeats: WatchHeartbeat[] = [];
  environment.on('heartbeat', (details: WatchHeartbeat) => heartbeats.push(details));
  const attempt = (): Promise<WatchTaskResult> => watchTask(parts, { ...input, ...more });
  const result: Promise<WatchTaskResult> = environment.run(attempt);
  return { environment, heartbeats, result };
}

describe('the activity that watches a task', () => {
  it('comes back with the end of the task', async () => {
    polls = [seen('Queuing'), { seen: 'nothing', problem: '502' }, seen('Warming'), seen('Success')];
    const { known, pollResult } = await watch().result;
    expect([known, pollResult]).toMatchObject([{ polls: 4, failedPolls: 1 }, { status: 'Success' }]);
  });

  it('comes back when the service knows no such task for too long', async () => {
    polls = [{ seen: 'notFound' }];
    expect(await watch({ notVisibleGraceMs: 20 }).result).toMatchObject({ pollResult: { seen: 'notFound' } });
  });

  it.each([-10, 10])('judges by Temporal’s clock, also where that of the worker is %i hours off', async (hours) => {
    const scheduledMs = startedAtMs + hours * hourMs;
    const times = { startedAtMs: scheduledMs, acceptedAtMs: scheduledMs, notVisibleGraceMs: 10_000 };
    const info = { currentAttemptScheduledTimestampMs: scheduledMs };
    polls = [{ seen: 'notFound' }, seen('Queuing'), seen('Running'), seen('Success')];
    const { known } = await watch(times, info).result;
    expect(known).toMatchObject({ polls: 4, serviceStatus: 'Success' });
    expect(Math.abs((known.runningSinceMs ?? 0) - scheduledMs)).toBeLessThan(60_000);
    polls = [seen('Running')];
    const late = await watch({ ...times, deadlinesMs: { ...input.deadlinesMs, run: 20 } }, info).result;
    expect(late.known.serviceStatus).toBe('Running');
  });

  it.each(['queue', 'total'] as const)('comes back when the deadline %s has passed', async (deadline) => {
    polls = [seen('Queuing')];
    const result = await watch({ deadlinesMs: { ...input.deadlinesMs, [deadline]: 20 } }).result;
    expect(result).toMatchObject({ pollResult: { status: 'Queuing' } });
  });

  it('comes back on another state only when it is asked to', async () => {
    polls = [seen('Queuing'), seen('Queuing'), seen('Running'), seen('Success')];
    const known = { ...input.known, serviceStatus: 'Queuing' };
    expect(await watch({ returnOnChange: true, known }).result).toMatchObject({ pollResult: { status: 'Running' } });
    expect(await watch({ known }).result).toMatchObject({ pollResult: { status: 'Success' } });
  });

  it('comes back to tell another state once it is due and the state has settled, and not before', async () => {
    polls = [seen('Preparing'), seen('Running')];
    const told = await watch({ tellFromMs: Date.now(), settleMs: 20 }).result;
    expect(told).toMatchObject({ isTold: true, pollResult: { status: 'Running' } });
    expect(Date.now() - told.known.serviceStatusSinceMs).toBeGreaterThanOrEqual(20);

    const known = { ...input.known, serviceStatus: 'Running' };
    polls = [...Array.from({ length: 20 }, () => seen('Running')), seen('Success')];
    const same = await watch({ tellFromMs: 0, settleMs: 0, known }).result;
    expect(same).toMatchObject({ pollResult: { status: 'Success' } });
    polls = [...Array.from({ length: 20 }, () => seen('Running')), seen('Success')];
    const early = await watch({ tellFromMs: Date.now() + hourMs, settleMs: 0 }).result;
    expect([same.isTold, early.isTold]).toEqual([undefined, undefined]);
  });

  it('tells every other state soon after it sees it', async () => {
    polls = [seen('Queuing')];
    const { heartbeats, result } = watch();
    const isTold = (status: string) => () => heartbeats.at(-1)?.known.serviceStatus === status;
    await eventually(isTold('Queuing'));
    polls = [seen('Running')];
    await eventually(isTold('Running'));
    polls = [seen('Success')];
    await result;
    expect(heartbeats.map(({ known }) => known.serviceStatus)).toEqual(['Queuing', 'Running']);
    expect(heartbeats.map(({ watched }) => watched)).toEqual([
      expect.stringMatching(/^Queuing since \S+Z; \d+ queries, 0 failed$/),
      expect.stringMatching(/^Running since \S+Z; \d+ queries, 0 failed$/),
    ]);
  });

  it('sends no heartbeat for a task that ends soon after its first state', async () => {
    polls = [seen('Running'), seen('Success')];
    const { heartbeats, result } = watch({ poll: { minMs: 1, maxMs: 1_000 } });
    await result;
    expect(heartbeats).toEqual([]);
  });

  it('tells since when its queries fail and why, across attempts, until one is answered', async () => {
    let answer: PollResult = { seen: 'nothing', problem: 'HTTP 502' };
    parts = watchParts('default', () => Promise.resolve(answer));
    const sinceMs = startedAtMs - hourMs;
    const failing = { sinceMs, queries: 16, problem: 'HTTP 301' };
    const { environment, heartbeats, result } = watch(
      {},
      { attempt: 2, heartbeatTimeoutMs: 30, heartbeatDetails: { watched: '', known: input.known, failing } },
    );
    const isOver = result.catch(() => undefined);
    await eventually(() => heartbeats.at(-1)?.failing?.problem === 'HTTP 502');
    expect(heartbeats.at(-1)?.failing).toMatchObject({ sinceMs });
    expect(heartbeats.at(-1)?.failing?.queries).toBeGreaterThan(16);
    answer = seen('Running');
    await eventually(() => heartbeats.at(-1)?.failing === undefined);
    environment.cancel('CANCELLED');
    await isOver;
  });

  it('takes a query that was held back for one that failed only if none is answered', async () => {
    const heartbeatsAfter = async (isUnanswered: boolean): Promise<WatchHeartbeat | undefined> => {
      let polls = 0;
      parts = watchParts('default', () =>
        Promise.reject(new PollHeldBackError('why', (polls += 1) && 1, isUnanswered)),
      );
      const { environment, heartbeats, result } = watch({}, { heartbeatTimeoutMs: 30 });
      const isOver = result.catch(() => undefined);
      await eventually(() => polls > 2 && heartbeats.at(-1)?.known.problem === 'the query was not sent: why');
      environment.cancel('CANCELLED');
      await isOver;
      return heartbeats.at(-1);
    };
    expect(await heartbeatsAfter(false)).toMatchObject({ failing: undefined, known: { failedPolls: 0 } });
    expect(await heartbeatsAfter(true)).toMatchObject({ failing: { problem: 'the query was not sent: why' } });
  });

  it('tells again what it knows before its heartbeat is missed, also when nothing can be asked', async () => {
    polls = [seen('Running')];
    const never = { minMs: hourMs, maxMs: hourMs };
    const { environment, heartbeats, result } = watch({ poll: never }, { heartbeatTimeoutMs: 60 });
    await eventually(() => heartbeats.length >= 3);
    environment.cancel('CANCELLED');
    await expect(result).rejects.toThrow('CANCELLED');
  });

  it('goes on at once from what a previous attempt told, and forgets nothing of it', async () => {
    const known = { ...input.known, serviceStatus: 'Running', runningSinceMs: startedAtMs, polls: 17, failedPolls: 2 };
    polls = [seen('Running'), seen('Success')];
    const never = { minMs: hourMs, maxMs: hourMs };
    const { environment, heartbeats, result } = watch(
      { poll: never },
      { attempt: 2, heartbeatDetails: { watched: 'Running', known } },
    );
    await eventually(() => polls.length === 1);
    environment.cancel('WORKER_SHUTDOWN');
    await expect(result).rejects.toThrow('The worker shuts down');
    expect(heartbeats.at(-1)?.known).toMatchObject({ runningSinceMs: startedAtMs, polls: 18, failedPolls: 2 });
  });

  it('gives way to another worker when its own stops, which is no failure', async () => {
    const { environment, heartbeats, result } = watch();
    await eventually(() => heartbeats.some(({ known }) => known.serviceStatus === 'Running'));
    environment.cancel('WORKER_SHUTDOWN');
    await expect(result).rejects.toMatchObject({
      type: 'WorkerStopping',
      nonRetryable: false,
      category: ApplicationFailureCategory.BENIGN,
    });
    expect(heartbeats.at(-1)?.known.runningSinceMs).not.toBeNull();
  });

  it('ends at once when it is cancelled, also while the service owes an answer', async () => {
    let polls = 0;
    parts = watchParts('default', () => {
      polls += 1;
      return new Promise(() => undefined);
    });
    const { environment, result } = watch();
    await eventually(() => polls === 1);
    const sinceMs = Date.now();
    environment.cancel('CANCELLED');
    await expect(result).rejects.toThrow('CANCELLED');
    // The answer that it waits for never comes.
    expect(Date.now() - sinceMs).toBeLessThan(10_000);
  });

  it('polls a task no more once it is cancelled, and throws away what is on its way', async () => {
    let polls = 0;
    let answer: (result: PollResult) => void = () => undefined;
    parts = watchParts('default', () => {
      polls += 1;
      return new Promise((resolve) => (answer = resolve));
    });
    const { environment, heartbeats, result } = watch();
    await eventually(() => polls === 1);
    environment.cancel('CANCELLED');
    await expect(result).rejects.toThrow('CANCELLED');
    answer(seen('Running'));
    await untilAnotherHasPolled(10);
    expect({ polls, heartbeats }).toEqual({ polls: 1, heartbeats: [] });
  });

  it('is left to another worker when this one does not know the account', async () => {
    await expect(watch({ account: 'studio' }).result).rejects.toMatchObject({
      type: 'AccountUnknown',
      nonRetryable: false,
      message: expect.stringContaining('"studio"') as string,
    });
  });
});

/** Waits as long as another task needs for so many polls, each at the cadence of all tests. */
async function untilAnotherHasPolled(times: number): Promise<void> {
  let polls = 0;
  parts = watchParts('default', () => Promise.resolve((polls += 1) < times ? seen('Running') : seen('Success')));
  await watch().result;
}

it('pauses as long as a timer can where its bounds are longer', async () => {
  let polls = 0;
  parts = watchParts('default', () => {
    polls += 1;
    return Promise.resolve(seen('Success'));
  });
  const longestMs = 2 ** 31;
  const { environment, heartbeats, result } = watch(
    { poll: { minMs: longestMs, maxMs: longestMs } },
    { heartbeatTimeoutMs: 30 },
  );
  const isOver = result.catch(() => undefined);
  await eventually(() => heartbeats.length >= 3 || polls > 0);
  expect(polls).toBe(0);
  environment.cancel('CANCELLED');
  await isOver;
});

describe('tasks that are watched together', () => {
  it('have no more queries on their way than the account may have, and all get their turn', async () => {
    let onTheirWay = 0;
    let most = 0;
    const polled = new Set<string>();
    parts = watchParts('default', async (requestId) => {
      most = Math.max(most, (onTheirWay += 1));
      await new Promise((resolve) => setTimeout(resolve, 5));
      onTheirWay -= 1;
      polled.add(requestId);
      return seen('Success');
    });
    const watches = Array.from({ length: 200 }, (_, index) => watch({ requestId: `request-${index}` }));
    const ends = await Promise.all(watches.map(({ result }) => result));
    expect(ends.filter(({ known }) => known.failedPolls > 0)).toEqual([]);
    expect({ most, polled: polled.size }).toEqual({ most: 48, polled: 200 });
  });

  it('take turns while an account may send few queries: none is polled again before all others were', async () => {
    const polls = new Map<string, number>();
    parts = watchParts(
      'default',
      (requestId) => {
        polls.set(requestId, (polls.get(requestId) ?? 0) + 1);
        return Promise.resolve(seen('Running'));
      },
      60,
    );
    const watches = Array.from({ length: 60 }, (_, index) => watch({ requestId: `request-${index}` }));
    await eventually(() => [...polls.values()].some((count) => count >= 4));
    expect(Math.min(...polls.values())).toBeGreaterThanOrEqual(3);
    expect(polls.size).toBe(60);
    for (const { environment } of watches) environment.cancel('CANCELLED');
    const ends = await Promise.allSettled(watches.map(({ result }) => result));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('are left alone but for one at a time while queries time out, each going on by itself', async () => {
    let polls = 0;
    let isStalled = true;
    parts = watchParts('default', () => {
      polls += 1;
      if (isStalled) throw new ServiceTimeoutError('no reply within 3500 ms', { timeoutMs: 3_500 });
      return Promise.resolve(seen('Success'));
    });
    const patient = { poll: { minMs: 1, maxMs: 50 } };
    const watches = Array.from({ length: 100 }, (_, index) => watch({ ...patient, requestId: `request-${index}` }));
    await eventually(() => polls > 4);
    // Those that were in line when the third one timed out were not sent, nor what came due since.
    expect(polls).toBeLessThan(60);
    isStalled = false;
    const ends = await Promise.all(watches.map(({ result }) => result));
    expect(ends.filter(({ known }) => known.failedPolls > 0).length).toBeGreaterThan(90);
  });
});
