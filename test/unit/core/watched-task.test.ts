import { afterPoll, isLost, type Observation, unseenTask, type WatchedTask } from '../../../src/core/task-state';

const unknown = unseenTask(0);

/** What is known after these polls, one a second from second 1 on. */
function after(...polls: Observation[]): WatchedTask {
  return polls.reduce((known, poll, index) => afterPoll(known, poll, (index + 1) * 1_000), unknown);
}

function seen(status: string, queuePosition?: number): Observation {
  return { seen: 'task', status, ...(queuePosition !== undefined && { queuePosition }) };
}

const notFound: Observation = { seen: 'notFound' };
const failed: Observation = { seen: 'nothing', problem: 'HTTP 502' };

describe('what is known of a watched task', () => {
  it('is its state, since when and as of when, and its place in the queue', () => {
    expect(after(seen('Queuing', 4), seen('Queuing', 3))).toEqual({
      ...unknown,
      failedInARow: 0,
      serviceStatus: 'Queuing',
      serviceStatusSinceMs: 1_000,
      serviceStatusAtMs: 2_000,
      queuePosition: 3,
      polls: 2,
    });
  });

  it('keeps since when it runs, whatever comes afterwards', () => {
    const known = after(seen('Running'), failed, seen('Warming'), seen('Running'));
    expect(known).toMatchObject({ runningSinceMs: 1_000, serviceStatusSinceMs: 4_000, queuePosition: null });
  });

  it('keeps the state through failed polls, which it counts and tells', () => {
    expect(after(seen('Running'), failed)).toMatchObject({
      serviceStatus: 'Running',
      serviceStatusSinceMs: 1_000,
      serviceStatusAtMs: 1_000,
      polls: 2,
      failedPolls: 1,
      problem: 'HTTP 502',
    });
    expect(after(failed, seen('Running'))).toMatchObject({ failedPolls: 1, problem: null });
  });

  it('tells since when the service knows no such task, until it does', () => {
    expect(after(notFound, failed, notFound)).toMatchObject({ notFoundSinceMs: 1_000, failedPolls: 3 });
    expect(after(notFound, seen('Queuing'))).toMatchObject({ notFoundSinceMs: null });
    expect(after(failed)).toMatchObject({ notFoundSinceMs: null });
  });
});

describe('a task that the service does not know', () => {
  it.each<[string, boolean, Observation[], number]>([
    ['is not visible yet for a while', false, [notFound], 5_999],
    ['is lost when that lasts', true, [notFound], 6_000],
    ['is lost at once when the service has deleted it', true, [{ seen: 'gone', problem: 'expired' }], 0],
    ['is not lost while nothing can be asked', false, [notFound, failed], 60_000],
    ['is not lost once it was seen', false, [notFound, seen('Queuing')], 60_000],
  ])('%s', (_what, expected, polls, nowMs) => {
    expect(isLost(after(...polls), polls.at(-1)!, 5_000, nowMs)).toBe(expected);
  });

  it('counts the polls in a row that brought no answer; "no such task" is one', () => {
    expect(after(failed, failed)).toMatchObject({ failedInARow: 2 });
    expect(after(failed, notFound, failed)).toMatchObject({ failedInARow: 1 });
    expect(after(failed, seen('Queuing'))).toMatchObject({ failedInARow: 0 });
  });
});
