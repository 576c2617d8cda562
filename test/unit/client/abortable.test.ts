import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Client } from '@temporalio/client';
import { abortable, type TemporalAccess } from '../../../src/client/temporal-access';
import { eventually } from '../../support/eventually';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Of the client's kind of call that `abortable` is about: what the SDK does with the signal is up to the test. */
function accessWith(
  withAbortSignal: (signal: AbortSignal, ask: () => Promise<unknown>) => Promise<unknown>,
): TemporalAccess {
  const client = { withAbortSignal } as unknown as Client;
  return { client, address: '', taskQueue: '', webUiUrl: null };
}

describe('a call that its caller may abort', () => {
  it('rejects with the caller’s reason as soon as it is aborted', async () => {
    const caller = new AbortController();
    const access = accessWith(async (signal) => {
      await delay(60_000, undefined, { signal });
    });
    const call = abortable(access, caller.signal, () => Promise.resolve());
    caller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(abortable(access, caller.signal, () => Promise.resolve())).rejects.toThrow('enough');
  });

  it('leaves nothing on the caller’s signal, which may live for hours and thousands of calls', async () => {
    const caller = new AbortController();
    const left: WeakRef<object>[] = [];
    const access = accessWith((signal, ask) => {
      const call = { bytes: new Uint8Array(1_000) };
      left.push(new WeakRef(call));
      // As the SDK does, which never takes it back.
      signal.addEventListener('abort', () => call.bytes.fill(0));
      return ask();
    });
    for (let count = 0; count < 100; count += 1) await abortable(access, caller.signal, () => Promise.resolve());

    await eventually(() => {
      collectGarbage();
      // The last ones may still lie on the stack.
      return left.filter((call) => call.deref() !== undefined).length < 10;
    });
    expect(caller.signal.aborted).toBe(false);
  });
});
