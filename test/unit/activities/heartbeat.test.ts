import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { withHeartbeat } from '../../../src/activities/heartbeat';
import { eventually } from '../../support/eventually';
import { ActivityEnvironment } from '../../support/activity-environment';

interface Sent {
  readonly moved: number;
  readonly attempts: { readonly lost: number; readonly isOpen: boolean };
}

interface Attempt {
  readonly sent: Sent[];
  readonly result: Promise<string>;
}

const progress = { moved: 0 };
beforeEach(() => {
  progress.moved = 0;
});

function attempt(
  work: () => Promise<string>,
  info: ConstructorParameters<typeof ActivityEnvironment>[0] = {},
): Attempt {
  const sent: Sent[] = [];
  /** Confirms the heartbeat by which an attempt after the first one begins. */
  const client: unknown = {
    withDeadline: (_atMs: number, call: () => Promise<void>) => call(),
    withAbortSignal: (_signal: AbortSignal, call: () => Promise<void>) => call(),
    activity: { heartbeat: (_token: Uint8Array, details: Sent) => Promise.resolve(sent.push(details)) },
  };
  const environment = new ActivityEnvironment(info, { client: client as Client });
  environment.on('heartbeat', (details: Sent) => sent.push(details));
  const run = (): Promise<string> => withHeartbeat(() => progress, work);
  const result: Promise<string> = environment.run(run);
  return { sent, result };
}

describe('the heartbeat of a transfer', () => {
  it('is not sent by a first attempt that succeeds within three seconds', async () => {
    const { sent, result } = attempt(() => Promise.resolve('done'));
    expect(await result).toBe('done');
    expect(sent).toEqual([]);
  });

  it('is sent every three seconds, with how far it is', async () => {
    let end: (result: string) => void = () => undefined;
    const { sent, result } = attempt(() => new Promise((resolve) => (end = resolve)));
    const startedAtMs = Date.now();
    await eventually(() => sent.length === 1, { everyMs: 20 });
    progress.moved = 1;
    await eventually(() => sent.length === 2, { everyMs: 20 });
    end('done');
    await result;
    expect(Date.now() - startedAtMs).toBeGreaterThan(5_500);
    expect(sent.map(({ moved }) => moved)).toEqual([0, 1]);
  });

  it('tells of an attempt that fails, so that it does not count as lost', async () => {
    const { sent, result } = attempt(() => Promise.reject(new Error('HTTP 502')));
    await expect(result).rejects.toThrow('HTTP 502');
    expect(sent).toEqual([{ moved: 0, attempts: { lost: 0, isOpen: false } }]);
  });

  it.each([
    ['that left no heartbeat', { attempt: 2 }, 1],
    ['that was open in its heartbeat', { attempt: 3, heartbeatDetails: { attempts: { lost: 1, isOpen: true } } }, 2],
    ['that had failed', { attempt: 2, heartbeatDetails: { attempts: { lost: 0, isOpen: false } } }, 0],
    ['of an earlier version', { attempt: 2, heartbeatDetails: { bytes: 17 } }, 0],
  ])('counts a previous attempt %s', async (_what, info, lost) => {
    const { sent, result } = attempt(() => Promise.resolve('done'), info);
    await result;
    expect(sent.map(({ attempts }) => attempts)).toEqual([{ lost, isOpen: true }]);
  });

  it('ends in a failure for good after five lost attempts', async () => {
    const { result } = attempt(() => Promise.resolve('done'), {
      attempt: 6,
      heartbeatDetails: { attempts: { lost: 4, isOpen: true } },
    });
    const failure: unknown = await result.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: 'WorkerLost', nonRetryable: true });
  });
});
