import { watchTask } from '../../../src/activities/watch-task';
import type { WatchTaskResult } from '../../../src/contract/activities';
import { recommendedPollBounds, watchHeartbeats } from '../../../src/core/poll-cadence';
import { unseenTask } from '../../../src/core/task-state';
import { ActivityEnvironment } from '../../support/activity-environment';
import { seen } from '../../support/fake-activities';
import { newWatch, watchParts } from '../../support/watch-parts';

const shortestMs = 30_000;
const hourMs = 3_600_000;
const deadlinesMs = { queue: 24 * hourMs, run: 24 * hourMs, total: 48 * hourMs };
const parts = watchParts('default', () => Promise.resolve(seen('Running')));

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Ages in seconds: when each watch was scheduled, and when it sent heartbeats. */
async function watchFor(totalMs: number): Promise<{ timeouts: [number, number][]; heartbeats: number[] }> {
  const acceptedMs = Date.now();
  const age = (): number => Math.round((Date.now() - acceptedMs) / 1_000);
  const told = { timeouts: [] as [number, number][], heartbeats: [] as number[] };
  let known = unseenTask(acceptedMs);
  while (Date.now() - acceptedMs < totalMs) {
    const { timeoutMs, anewFromMs } = watchHeartbeats(shortestMs, acceptedMs, Date.now());
    told.timeouts.push([age(), Math.round(timeoutMs / 1_000)]);
    const environment = new ActivityEnvironment({ heartbeatTimeoutMs: timeoutMs });
    environment.on('heartbeat', () => told.heartbeats.push(age()));
    const input = {
      ...{ account: 'default', requestId: 'request-1', known, poll: recommendedPollBounds, notVisibleGraceMs: hourMs },
      ...{ deadlinesMs, startedAtMs: acceptedMs, acceptedAtMs: acceptedMs, returnOnChange: false, anewFromMs },
    };
    let result: WatchTaskResult | undefined;
    const running: Promise<WatchTaskResult> = environment.run(() => watchTask(parts, input));
    const attempt = running.then(
      (returned) => (result = returned),
      () => undefined,
    );
    while (result === undefined && Date.now() - acceptedMs < totalMs) await jest.advanceTimersByTimeAsync(1_000);
    if (result === undefined) environment.cancel('CANCELLED');
    await attempt;
    known = result?.known ?? known;
  }
  return told;
}

describe('the heartbeats of a watch', () => {
  it('are at most 60 in two hours, for they follow the age of the task', async () => {
    const { timeouts, heartbeats } = await watchFor(2 * hourMs);
    expect(heartbeats.length).toBeLessThanOrEqual(60);
    for (const [scheduled, timeout] of timeouts) {
      expect(timeout).toBeGreaterThanOrEqual(30);
      expect(timeout).toBeLessThanOrEqual(Math.min(300, Math.max(30, scheduled)));
    }
    expect(timeouts.at(-1)?.[1]).toBe(300);
  });

  it('come within 20 s of each other while the task is young', async () => {
    const { heartbeats } = await watchFor(100_000);
    const gaps = heartbeats.map((at, index) => at - (heartbeats[index - 1] ?? 0));
    expect(gaps.length).toBeGreaterThanOrEqual(5);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(21);
  });

  it('go on in one activity until a query is answered, though it is to be scheduled anew and others come first', async () => {
    const slow = watchParts('default', () => Promise.resolve(seen('Running')), 0.05);
    const taken = slow.limits.get('default')?.polls.runInLine(() => Promise.resolve(), 0, { task: 'another' });
    const running = new ActivityEnvironment().run(() => watchTask(slow, newWatch({ anewFromMs: Date.now() })));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(await running).toMatchObject({ pollResult: { seen: 'task' }, isTold: true });
    await taken;
  });
});
