import { ApplicationFailureCategory } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { watchTask } from '../../../src/activities/watch-task';
import type { PollResult, WatchHeartbeat, WatchTaskInput, WatchTaskResult } from '../../../src/contract/activities';
import type { Poller } from '../../../src/service/poller';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { pollerOver } from '../../support/fake-poller';

const hourMs = 3_600_000;
const startedAtMs = Date.now();
const input: WatchTaskInput = {
  account: 'default',
  requestId: 'request-1',
  known: {
    serviceStatus: null,
    serviceStatusSinceMs: 0,
    queuePosition: null,
    runningSinceMs: null,
    notFoundSinceMs: null,
    polls: 0,
    failedPolls: 0,
    problem: null,
  },
  poll: { minMs: 1, maxMs: 2 },
  notVisibleGraceMs: hourMs,
  deadlinesMs: { queue: hourMs, run: hourMs, total: hourMs },
  startedAtMs,
  acceptedAtMs: startedAtMs,
  returnOnChange: false,
};

let sights: PollResult[];
let poller: Poller;
beforeEach(() => {
  sights = [seen('Running')];
  poller = pollerOver(() => Promise.resolve((sights.length > 1 ? sights.shift() : sights[0]) ?? seen('Running')));
});
afterEach(() => {
  poller.close();
});

interface Watch {
  readonly environment: MockActivityEnvironment;
  readonly heartbeats: WatchHeartbeat[];
  readonly result: Promise<WatchTaskResult>;
}

/** One attempt, as a worker does it. */
function watch(
  more: Partial<WatchTaskInput> = {},
  info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {},
): Watch {
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const heartbeats: WatchHeartbeat[] = [];
  environment.on('heartbeat', (details: WatchHeartbeat) => heartbeats.push(details));
  const pollers = new Map([['default', poller]]);
  const attempt = (): Promise<WatchTaskResult> => watchTask(pollers, { ...input, ...more });
  const result: Promise<WatchTaskResult> = environment.run(attempt);
  return { environment, heartbeats, result };
}

describe('the activity that watches a task', () => {
  it('comes back with the end of the task', async () => {
    sights = [seen('Queuing'), { seen: 'nothing', problem: '502' }, seen('Warming'), seen('Success')];
    expect(await watch().result).toMatchObject({
      sight: { status: 'Success' },
      known: { polls: 4, failedPolls: 1 },
      isLost: false,
      deadline: null,
    });
  });

  it('comes back when the service knows no such task for too long', async () => {
    sights = [{ seen: 'notFound' }];
    expect(await watch({ notVisibleGraceMs: 20 }).result).toMatchObject({ isLost: true, sight: { seen: 'notFound' } });
  });

  it.each(['queue', 'total'] as const)('comes back when the deadline %s has passed', async (deadline) => {
    sights = [seen('Queuing')];
    const result = await watch({ deadlinesMs: { ...input.deadlinesMs, [deadline]: 20 } }).result;
    expect(result).toMatchObject({ deadline, sight: { status: 'Queuing' } });
  });

  it('comes back on another state only when it is asked to', async () => {
    sights = [seen('Queuing'), seen('Queuing'), seen('Running'), seen('Success')];
    const known = { ...input.known, serviceStatus: 'Queuing' };
    expect(await watch({ returnOnChange: true, known }).result).toMatchObject({ sight: { status: 'Running' } });
    expect(await watch({ known }).result).toMatchObject({ sight: { status: 'Success' } });
  });

  it('tells at once what it knows, and every other state when it sees it', async () => {
    sights = [seen('Queuing'), seen('Queuing'), seen('Running'), seen('Running'), seen('Success')];
    const { heartbeats, result } = watch();
    await result;
    expect(heartbeats.map(({ known }) => known.serviceStatus)).toEqual([null, 'Queuing', 'Running']);
    expect(heartbeats.map(({ watched }) => watched)).toEqual([
      'Not seen yet; 0 queries, 0 failed',
      expect.stringMatching(/^Queuing since \S+Z; 1 queries, 0 failed$/),
      expect.stringMatching(/^Running since \S+Z; 3 queries, 0 failed$/),
    ]);
  });

  it('tells again what it knows before its heartbeat is missed, also when nothing can be asked', async () => {
    sights = [seen('Running')];
    const never = { minMs: hourMs, maxMs: hourMs };
    const { environment, heartbeats, result } = watch({ poll: never }, { heartbeatTimeoutMs: 60 });
    await eventually(() => heartbeats.length >= 3);
    environment.cancel('CANCELLED');
    await expect(result).rejects.toThrow('CANCELLED');
  });

  it('goes on at once from what a former attempt told, and forgets nothing of it', async () => {
    const known = { ...input.known, serviceStatus: 'Running', runningSinceMs: startedAtMs, polls: 17, failedPolls: 2 };
    sights = [seen('Running'), seen('Success')];
    const never = { minMs: hourMs, maxMs: hourMs };
    const { environment, heartbeats, result } = watch(
      { poll: never },
      { attempt: 2, heartbeatDetails: { watched: 'Running', known } },
    );
    await eventually(() => sights.length === 1);
    environment.cancel('WORKER_SHUTDOWN');
    await expect(result).rejects.toThrow('told to stop');
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

  it('is left to another worker when this one does not know the account', async () => {
    await expect(watch({ account: 'studio' }).result).rejects.toMatchObject({
      type: 'AccountUnknown',
      nonRetryable: false,
      message: expect.stringContaining('"studio"') as string,
    });
  });
});
