import type { Client } from '@temporalio/client';
import { watchTask } from '../../../src/activities/watch-task';
import type { WatchTaskInput } from '../../../src/contract/activities';
import type { TaskDetail } from '../../../src/service';
import { CallbackNews, PollLimiter } from '../../../src/service/account-gate';
import { ActivityEnvironment } from '../../support/activity-environment';
import { newWatch } from '../../support/watch-parts';

const input = newWatch();

describe('a watch whose task has asked for a callback', () => {
  /** How long it waited after its second query, with what earlier ends said of callbacks; and what they say afterwards. */
  async function watchOnce(
    callback: WatchTaskInput['callback'],
    wasTold: boolean,
    isCancelled = false,
  ): Promise<{ pausedMs: number; come: boolean }> {
    const callbacks = new CallbackNews();
    callbacks.ended(wasTold);
    const limits = new Map([['default', { polls: new PollLimiter({ perSecond: 1_000 }), callbacks }]]);
    const sentMs: number[] = [];
    const getTask = (): Promise<TaskDetail> => {
      sentMs.push(performance.now());
      return Promise.resolve({ status: sentMs.length > 2 ? 'Failed' : 'Running', costTimes: {} });
    };
    const getOutputs = (): Promise<never> => Promise.reject(new Error('no outputs'));
    const parts = { services: new Map([['default', { getTask, getOutputs }]]), limits, callback: {} };
    const heartbeat = (): Promise<void> => (isCancelled ? Promise.reject(new Error('cancelled')) : Promise.resolve());
    const within = (_: unknown, call: () => Promise<void>): Promise<void> => call();
    const client: object = { activity: { heartbeat }, withDeadline: within, withAbortSignal: within };
    const environment = new ActivityEnvironment({}, { client: client as Client });
    const known = { ...input.known, serviceStatus: 'Running', serviceStatusSinceMs: Date.now() - 10_000 };
    const poll = { minMs: 1, maxMs: 50 };
    await environment.run(() => watchTask(parts, { ...input, known, poll, callback }));
    return { pausedMs: (sentMs[2] ?? 0) - (sentMs[1] ?? 0), come: callbacks.come };
  }

  it('polls seldom while those of other tasks come, and as usual where none was asked for', async () => {
    expect((await watchOnce('awaited', true)).pausedMs).toBeGreaterThan(500);
    expect((await watchOnce('awaited', false)).pausedMs).toBeLessThan(500);
    expect((await watchOnce(undefined, true)).pausedMs).toBeLessThan(500);
    expect((await watchOnce('came', true)).pausedMs).toBeLessThan(500);
  });

  it('finds that callbacks do not come when it sees an end that none told, unless the workflow knows it', async () => {
    expect((await watchOnce('awaited', true)).come).toBe(false);
    expect((await watchOnce('awaited', true, true)).come).toBe(true);
    expect((await watchOnce('came', false)).come).toBe(true);
    expect((await watchOnce(undefined, true)).come).toBe(true);
  });
});
