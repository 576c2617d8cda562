import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { FaultProxy } from '../../support/fault-proxy';
import { ReceiverUnderTest } from './receiver-under-test';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

/** The service waits about 10 s for an answer (specification, section 6); on a busy machine, too, there is time left. */
const wellInTimeMs = 6_000;

let proxy: FaultProxy;
let receiver: ReceiverUnderTest;
let connection: Connection;
let workflow: WorkflowHandle;

beforeEach(async () => {
  const address = temporalAddress();
  proxy = await FaultProxy.start(Number(address.split(':').at(-1)));
  receiver = await ReceiverUnderTest.open(`127.0.0.1:${proxy.port}`);
  connection = await connectClient(address);
  // No worker: nothing but Temporal itself has to take the signal.
  workflow = await new Client({ connection }).workflow.start('task', {
    taskQueue: `nobody-${randomUUID()}`,
    workflowId: `task:${randomUUID()}`,
  });
});
afterEach(async () => {
  await workflow.terminate();
  await connection.close();
  await receiver.close();
  await proxy.close();
});

async function timed(call: () => Promise<number>): Promise<{ status: number; tookMs: number }> {
  const startedAtMs = Date.now();
  return { status: await call(), tookMs: Date.now() - startedAtMs };
}

async function signalCount(): Promise<number> {
  const { events } = await workflow.fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
}

const callBack = (): Promise<number> => receiver.callBack(workflow.workflowId, 'request-1');

describe('a callback while Temporal', () => {
  it('does not answer is told to come again, in good time, and is taken when Temporal is back', async () => {
    proxy.inject({ markers: [], fault: { kind: 'holdAnswer', afterBytes: 0 }, times: Infinity });
    const { status, tookMs } = await timed(callBack);

    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(wellInTimeMs);

    proxy.release();
    expect(await callBack()).toBe(200);
    expect(await signalCount()).toBeGreaterThanOrEqual(1);
  });

  it('cannot be reached is told to come again, in good time', async () => {
    expect(await callBack()).toBe(200);
    await proxy.close();
    const { status, tookMs } = await timed(callBack);

    expect(status).toBe(503);
    expect(tookMs).toBeLessThan(wellInTimeMs);
    expect(await signalCount()).toBe(1);
    expect(receiver.log.at(-1)).toContain('"not taken by Temporal"');
  });

  it('does not know the workflow is refused', async () => {
    expect(await receiver.callBack(`task:${randomUUID()}`, 'request-1')).toBe(404);
  });
});
