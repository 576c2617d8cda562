import { CancelledFailure } from '@temporalio/common';
import { progressQuery } from '../../src/contract/batch/batch-messages';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import { eventually } from '../support/eventually';
import { type FakeBatch, fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

function batchOf(rows: number, more: Partial<BatchInput> = {}): FakeBatch {
  return fakeBatchOf(environment.client, rows, more);
}

describe('a batch that is stopped', () => {
  it.concurrent('stops every row that runs, and ends as canceled once they have ended', async () => {
    const batch = batchOf(20, { concurrency: 4 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 4);
      await run.cancel();
      await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
    });
    expect(batch.stopped).toHaveLength(4);
    expect(batch.recorded.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'Canceled'));
    expect(batch.started).toHaveLength(4);
  });

  describe.each(['recordRows', 'pollRows'] as const)('while it cannot get on with %s', (step) => {
    it.concurrent('stops every row that runs at once, and ends as canceled when it can', async () => {
      const batch = batchOf(4, { tuning: { ...fastBatchTuning, recordRows: 1, pollEveryMs: 200 } });
      batch.failing.add(step);
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 4);
        // The record fails with the first row that ends, the poll by itself.
        if (step === 'recordRows') batch.end(rowEnd('row-0'));
        await eventually(() => (batch.failures.get(step) ?? 0) > 1);
        const running = [...batch.running.keys()].sort();
        await run.cancel();
        await eventually(() => batch.running.size === 0, { withinMs: 60_000, what: 'every row to be stopped' });
        expect([...batch.stopped].sort()).toEqual(running);
        // Ends are awaited, too: when no poll is on its way, the batch ends without one.
        const states: readonly string[] = step === 'pollRows' ? ['Stopping', 'Ended'] : ['Stopping'];
        await eventually(async () => states.includes((await run.query(progressQuery)).state));
        batch.failing.delete(step);
        await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
      });
      expect(batch.started).toHaveLength(4);
      expect(batch.recorded).toHaveLength(4);
    });
  });

  it.concurrent('starts no more rows while it starts some, and stops those that it had started', async () => {
    const batch = batchOf(20, { concurrency: 4 });
    batch.failing.add('startRows');
    batch.startedByFailure = 3;
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => (batch.failures.get('startRows') ?? 0) > 1);
      await run.cancel();
      await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
    });
    expect(batch.started).toEqual(['row-0', 'row-1', 'row-2']);
    expect([...batch.stopped].sort()).toEqual(batch.started);
    expect(batch.recorded.map(({ status }) => status)).toEqual(['Canceled', 'Canceled', 'Canceled']);
  });

  it.concurrent('ends without starting a row when its rows could not be compared', async () => {
    const batch = batchOf(5);
    batch.failing.add('openBatch');
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => (batch.failures.get('openBatch') ?? 0) > 1);
      await run.cancel();
      await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
      expect(await run.query(progressQuery)).toMatchObject({ state: 'Ended', report: { notStarted: 5, csv: '' } });
    });
    expect(batch.started).toEqual([]);
  });
});
