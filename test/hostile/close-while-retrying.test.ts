import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TemporalUnreachableError } from '../../src/client/connection-errors';
import { Longhaul } from '../../src/client/longhaul';
import { FaultProxy } from '../support/fault-proxy';
import { temporalAddress } from '../support/temporal-connection';

/** The SDK's first pause is 136 to 204 ms, its second 231 to 347 ms. */
const secondPauseMs = 600;

describe('closing the client', () => {
  it('while Temporal is away and calls are about to be tried again rejects them, and throws nothing elsewhere', async () => {
    const [host = '', port] = temporalAddress().split(':');
    expect(host).toMatch(/127\.0\.0\.1|localhost/);
    const proxy = await FaultProxy.start(Number(port));
    const longhaul = await Longhaul.connect({ env: {}, address: `127.0.0.1:${proxy.port}` });
    const task = longhaul.task(randomUUID());
    await proxy.refuse();
    const calls = [task.status(), task.result(), task.stop(), longhaul.list()[Symbol.asyncIterator]().next()];
    const outcomes = Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
    await delay(50);
    await longhaul.close();
    for (const outcome of await outcomes) expect(outcome).toBeInstanceOf(TemporalUnreachableError);
    await expect(task.status()).rejects.toThrow(/this client’s connection is closed/);
    await delay(secondPauseMs);
  });

  it('ends waits for a result and for events of a task at once, while Temporal holds their calls', async () => {
    const longhaul = await Longhaul.connect({
      ...{ env: {}, address: temporalAddress(), taskQueue: `no-worker-${randomUUID()}` },
    });
    const task = await longhaul.start({ webAppId: 1, inputs: { '1:A.b': 1 } });
    const signal = AbortSignal.timeout(30_000);
    const events = task.events({ signal });
    await events.next();
    const follow = async (): Promise<void> => {
      for await (const { kind } of events) expect(kind).not.toBe('end');
    };
    const ends = Promise.all([task.result({ signal }), follow()].map((end) => end.catch((error: unknown) => error)));
    const startedMs = performance.now();
    await longhaul.close();
    for (const end of await ends) {
      expect(end).toBeInstanceOf(TemporalUnreachableError);
      expect(String(end)).toMatch(/this client’s connection is closed/);
    }
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
