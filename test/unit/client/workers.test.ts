import { temporal } from '@temporalio/proto';
import { namespaceFinding } from '../../../src/client/diagnose';
import { readPollers, routedVersions, routingProblem, type WorkerList } from '../../../src/client/workers';

const { WORKER_STATUS_RUNNING, WORKER_STATUS_SHUTDOWN } = temporal.api.enums.v1.WorkerStatus;
const { WORKER_VERSIONING_MODE_VERSIONED } = temporal.api.enums.v1.WorkerVersioningMode;
const nowMs = Date.now();
const queue = { namespace: 'default', name: 'photos' };

/** What Temporal sends: seconds and nanoseconds since 1970. */
const ago = (ms: number) => ({
  seconds: Math.floor((nowMs - ms) / 1_000) as never,
  nanos: ((nowMs - ms) % 1_000) * 1e6,
});
const poller = (identity: string, seenMsAgo: number) => ({ identity, lastAccessTime: ago(seenMsAgo) });
const heartbeat = (workerIdentity: string, status: number, msAgo: number) => ({
  workerHeartbeat: { workerIdentity, status, heartbeatTime: ago(msAgo) },
});

const listing = (workersInfo: Awaited<ReturnType<WorkerList['listWorkers']>>['workersInfo']): WorkerList => ({
  listWorkers: () => Promise.resolve({ workersInfo }),
});
const withoutList: WorkerList = { listWorkers: () => Promise.reject(new Error('12 UNIMPLEMENTED')) };

beforeEach(() => jest.useFakeTimers({ now: nowMs }));
afterEach(() => jest.useRealTimers());

describe('the pollers of a task queue', () => {
  it('are alive while they have asked within a long poll, and the words say when the latest did', async () => {
    const pollers = [poller('1@a', 57_000), poller('1@b', 3_200), poller('1@c', 200_000)];
    const { live, found } = await readPollers(listing([]), { ...queue, pollers });

    expect(live.map(({ identity }) => identity)).toEqual(['1@a', '1@b']);
    expect(found).toBe('2 at the task queue "photos", of which the latest asked for work 3.2 s ago');
  });

  it('may have been killed since when the latest asked more than a few seconds ago, and the words say so', async () => {
    const { found } = await readPollers(listing([]), { ...queue, pollers: [poller('1@a', 57_000)] });
    expect(found).toBe(
      '1 at the task queue "photos", which asked for work 57.0 s ago; one that was killed since counts for 1 m 30 s',
    );
  });

  it('are gone when they have not asked for longer, and the words say since when', async () => {
    await expect(readPollers(listing([]), { ...queue, pollers: [poller('1@a', 120_000)] })).resolves.toEqual({
      live: [],
      silent: [],
      found: 'none polls the task queue "photos"; the last one asked for work 2 m ago',
    });
  });

  it('are gone at once when they said that they stop', async () => {
    const workers = listing([heartbeat('1@a', WORKER_STATUS_SHUTDOWN, 1_000)]);
    await expect(readPollers(workers, { ...queue, pollers: [poller('1@a', 20_000)] })).resolves.toEqual({
      live: [],
      silent: [],
      found: 'none polls the task queue "photos"; the last one was stopped; it had asked for work 20.0 s ago',
    });
  });

  it('are gone when their last request for work was seen a moment after they said that they stop', async () => {
    const workers = listing([heartbeat('1@a', WORKER_STATUS_SHUTDOWN, 20_000)]);
    const { live } = await readPollers(workers, { ...queue, pollers: [poller('1@a', 19_800), poller('1@b', 15_000)] });
    expect(live.map(({ identity }) => identity)).toEqual(['1@b']);
  });

  it.each([
    ['has asked since', [heartbeat('1@a', WORKER_STATUS_SHUTDOWN, 30_000)]],
    [
      'is said to run',
      [heartbeat('1@a', WORKER_STATUS_SHUTDOWN, 1_000), heartbeat('1@a', WORKER_STATUS_RUNNING, 5_000)],
    ],
  ])('are alive when one of the same identity stopped and another %s', async (_, workers) => {
    const { live } = await readPollers(listing(workers), { ...queue, pollers: [poller('1@a', 20_000)] });
    expect(live).toHaveLength(1);
  });

  it('are silent when they neither report nor ask again, by Temporal’s clock, whatever their own', async () => {
    const late = ['1@a', '1@b', '1@d'].map((identity) => heartbeat(identity, WORKER_STATUS_RUNNING, 75_000));
    const workers = listing([...late, heartbeat('1@c', WORKER_STATUS_RUNNING, 20_000)]);
    const pollers = [poller('1@a', 70_000), poller('1@b', 55_000), poller('1@c', 70_000), poller('1@d', 1_000)];
    const silentWith = async (aheadMs: number) => (await readPollers(workers, { ...queue, pollers, aheadMs })).silent;
    expect(await silentWith(0)).toEqual(['1@a']);
    expect(await silentWith(20_000)).toEqual([]);
    expect(await silentWith(-15_000)).toEqual(['1@a', '1@b']);
  });

  it('are judged by when they asked where the server keeps no list of workers, whatever its clock', async () => {
    const { found } = await readPollers(withoutList, { ...queue, pollers: [poller('1@a', -5_000)] });
    expect(found).toBe('1 at the task queue "photos", which asked for work 0 ms ago');
  });
});

const deploymentName = 'photos';
const version = (buildId: string) => ({ deploymentName, buildId });
const polls = (buildId: string) => ({
  deploymentOptions: { ...version(buildId), workerVersioningMode: WORKER_VERSIONING_MODE_VERSIONED },
});
const pollsWithoutBuildId = {};

describe('a task queue whose new tasks go to a version', () => {
  it('is in order while a worker of that version polls', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('default', [polls('v2'), polls('v1')], routing)).toBeUndefined();
  });

  it('stands still when only workers of other versions poll, and the command for one of them is named', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('studio', [polls('v2')], routing)).toEqual({
      found: 'new tasks go to version "v1" of the deployment "photos", and no worker of it polls',
      remedy:
        'Start workers of that version, or make the one that polls current: temporal worker deployment ' +
        'set-current-version --namespace studio --deployment-name photos --build-id v2 --yes',
    });
  });

  it('stands still when only workers without a build id poll', () => {
    const routing = { currentDeploymentVersion: version('v1') };
    expect(routingProblem('default', [pollsWithoutBuildId], routing)?.remedy).toMatch(/with its build id/);
  });

  it('goes to a version that is ramped up, too, but not to one that is at 0 %', () => {
    const ramping = { currentDeploymentVersion: version('v1'), rampingDeploymentVersion: version('v2') };
    expect(routedVersions({ ...ramping, rampingVersionPercentage: 5 })).toEqual([version('v1'), version('v2')]);
    expect(routedVersions({ ...ramping, rampingVersionPercentage: 0 })).toEqual([version('v1')]);
  });
});

describe('a task queue without a current version', () => {
  it('is in order while a worker without a build id polls', () => {
    expect(routingProblem('default', [polls('v1'), pollsWithoutBuildId], null)).toBeUndefined();
  });

  it('is no problem of versions when nothing polls', () => {
    expect(routingProblem('default', [], null)).toBeUndefined();
  });
});

it('a short retention of a namespace comes with advice, and is no failure', () => {
  const dayMs = 24 * 3_600_000;
  expect(namespaceFinding('photos', 3 * dayMs)).toMatchObject({
    isOk: true,
    remedy: expect.stringContaining('namespace update --namespace photos --retention 30d') as string,
  });
  expect(namespaceFinding('photos', 7 * dayMs)).toMatchObject({ isOk: true, remedy: null });
});
