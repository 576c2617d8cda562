import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { abortable } from '../../../src/client/temporal-access';
import { eventually } from '../../support/eventually';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const nothing = (): Promise<void> => Promise.resolve();

describe('a call that its caller may abort', () => {
  it('rejects with the caller’s reason as soon as it is aborted', async () => {
    const caller = new AbortController();
    const client = {
      async withAbortSignal<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
        await delay(60_000, undefined, { signal });
        return await ask();
      },
    };
    const call = abortable({ client }, caller.signal, nothing);
    caller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(abortable({ client }, caller.signal, nothing)).rejects.toThrow('enough');
  });

  it('leaves nothing on the caller’s signal, which may live for hours and thousands of calls', async () => {
    const caller = new AbortController();
    const left: WeakRef<object>[] = [];
    const client = {
      withAbortSignal<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
        const call = { bytes: new Uint8Array(1_000) };
        left.push(new WeakRef(call));
        // As the SDK does, which never takes it back.
        signal.addEventListener('abort', () => call.bytes.fill(0));
        return ask();
      },
    };
    for (let count = 0; count < 100; count += 1) await abortable({ client }, caller.signal, nothing);

    await eventually(() => {
      collectGarbage();
      // The last ones may still lie on the stack.
      return left.filter((call) => call.deref() !== undefined).length < 10;
    });
    expect(caller.signal.aborted).toBe(false);
  });
});
