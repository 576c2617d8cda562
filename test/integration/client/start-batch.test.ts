import { randomUUID } from 'node:crypto';
import { InputChangedError } from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import type { BatchInput } from '../../../src/contract/batch/batch-input';
import { progressQuery } from '../../../src/contract/batch/batch-messages';
import { eventually } from '../../support/eventually';
import { FakeBatch } from '../../support/fake-batch';
import { TaskEnvironment } from '../../support/task-environment';

const tuning = { refillMs: 20, pollEveryMs: 60_000, recordRows: 10, retryMaxMs: 50 };
const environment = TaskEnvironment.forSuite();

/** Runs while a batch of six rows runs, three at a time, none of which ends. */
async function withBatch(during: (longhaul: Longhaul, input: BatchInput) => Promise<void>): Promise<void> {
  const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 6, { tuning, concurrency: 3 });
  await environment.withBatch(batch.activities, batch.input, async (workflow, taskQueue) => {
    const isRunning = async (): Promise<boolean> => (await workflow.query(progressQuery)).running === 3;
    await eventually(isRunning, { withinMs: 60_000, what: 'three rows to run' });
    await during(new Longhaul({ client: environment.client, taskQueue }), batch.input);
  });
}

describe('the start of a batch whose id runs already', () => {
  it.concurrent('with other rows is refused, and nothing is started', async () => {
    await withBatch(async (longhaul, input) => {
      const others = { ...input, rows: { ...input.rows, digest: 'ff'.repeat(32) } };
      const refused = longhaul.startBatch(others);

      await expect(refused).rejects.toThrow(InputChangedError);
      await expect(refused).rejects.toMatchObject({
        ...{ key: input.id, workflowId: `batch:${input.id}`, differing: ['rows'] },
        message: expect.stringMatching(
          /runs with other rows \(6 rows\); nothing was started\. Start these when it is over/,
        ) as string,
      });
    });
  });

  it.concurrent('names the options that have no effect, by what the batch has now', async () => {
    await withBatch(async (longhaul, input) => {
      const same = await longhaul.startBatch(input);
      expect(same.started).toEqual({ origin: 'attached', withoutEffect: [] });

      const other = await longhaul.startBatch({ ...input, budget: '5EUR', concurrency: 7 });
      expect(other.started).toEqual({ origin: 'attached', withoutEffect: ['concurrency', 'budget'] });

      await other.setConcurrency(7);
      const changed = await longhaul.startBatch({ ...input, concurrency: 7 });
      expect(changed.started).toEqual({ origin: 'attached', withoutEffect: [] });
    });
  });

  it.concurrent('attaches while no worker answers, and knows what it was started with', async () => {
    const longhaul = new Longhaul({ client: environment.client, taskQueue: `nobody-${randomUUID()}` });
    const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };
    const input = { id: `b-${randomUUID()}`, rows, concurrency: 3, attempts: 2 };
    const first = await longhaul.startBatch({ ...input, source: 'january.csv' });
    try {
      expect(first.started).toEqual({ origin: 'started', withoutEffect: [] });
      const again = await longhaul.startBatch({ ...input, attempts: 3 });
      expect(again.started).toEqual({ origin: 'attached', withoutEffect: ['attempts'] });
      const others = longhaul.startBatch({ ...input, rows: { ...rows, digest: 'cd' } });
      await expect(others).rejects.toThrow('(source january.csv, 3 rows)');
    } finally {
      await environment.client.workflow.getHandle(first.workflowId).terminate('the test is over');
    }
  });
});

describe('the start of a batch that was never run', () => {
  it.concurrent('has the input as it was when startBatch was called', async () => {
    const longhaul = new Longhaul({ client: environment.client, taskQueue: `nobody-${randomUUID()}` });
    const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };
    const input = { id: `b-${randomUUID()}`, rows, concurrency: 3 };
    const starting = longhaul.startBatch(input);
    input.concurrency = 500;
    rows.digest = 'cd';
    const batch = await starting;

    await expect(batch.input()).resolves.toMatchObject({ concurrency: 3, rows: { digest: 'ab' } });
    await environment.client.workflow.getHandle(batch.workflowId).terminate('the test is over');
  });

  it.concurrent('has an id that may have any word in it, namespace too', async () => {
    const longhaul = new Longhaul({ client: environment.client, taskQueue: `nobody-${randomUUID()}` });
    const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };
    const { started, workflowId } = await longhaul.startBatch({ id: `namespace-${randomUUID()}`, rows });

    expect(started?.origin).toBe('started');
    await environment.client.workflow.getHandle(workflowId).terminate('the test is over');
  });
});
