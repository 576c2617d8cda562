import { CancelledFailure } from '@temporalio/common';
import fc from 'fast-check';
import { progressQuery, setConcurrencyUpdate } from '../../src/contract/batch/batch-messages';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import { eventually } from '../support/eventually';
import { FakeService } from '../support/fake-activities';
import { type FakeBatch, fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { historyLengthsOf } from '../support/history-lengths';
import { executionOf, failureOf, type RunningBatch, TaskEnvironment } from '../support/task-environment';
import { refusalOf } from '../support/uncertain-create';

/** `SIGNALS=10000` sends as many as one run of a workflow takes. */
const signalCount = Number(process.env['SIGNALS'] ?? 2_000);

const environment = TaskEnvironment.forSuite();

function batchOf(rows: number, more: Partial<BatchInput> = {}): FakeBatch {
  return fakeBatchOf(environment.client, rows, more);
}

/** Sends many signals, some of them at the same time. */
async function flood(run: RunningBatch, count: number, told: (index: number) => unknown): Promise<void> {
  for (let sent = 0; sent < count; sent += 10) {
    const some = Array.from({ length: Math.min(10, count - sent) }, (_, index) => told(sent + index));
    await Promise.all(some.map((one) => run.signal('rowEnded', one)));
  }
}

/** Asks a batch to stop, and holds that it ends as canceled within a minute. */
async function stopWithinAMinute(run: RunningBatch): Promise<void> {
  await run.cancel();
  const what = 'the batch to be stopped';
  await eventually(async () => (await run.describe()).status.name === 'CANCELLED', { withinMs: 60_000, what });
}

function parsed(json: string): unknown {
  return JSON.parse(json);
}

describe('a batch to which anybody may send anything', () => {
  it.concurrent(
    'is stopped in time after thousands of signals, before a run of it has grown too large',
    async () => {
      const batch = batchOf(40, { concurrency: 20, tuning: { ...fastBatchTuning, continueAsNewAfterEvents: 1_000 } });
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 20);
        await flood(
          run,
          signalCount,
          (index) => [null, rowEnd(`row-${index % 60}`), 'text', { key: `k${index}` }][index % 4],
        );
        await stopWithinAMinute(run);
        // Temporal ends a run of 51,200 events; while signals come in, it refuses to let a fresh one go on.
        const lengths = await historyLengthsOf(environment.client, run.workflowId, 'CANCELLED');
        expect(Math.max(...lengths)).toBeLessThan(4.4 * signalCount + 1_000);
      });
      expect(batch.started).toHaveLength(20);
      expect(new Set(batch.recorded.map(({ key }) => key)).size).toBe(20);
    },
    240_000,
  );

  it.concurrent.each(['__temporal_x', '__stack_trace', '__proto__', 'rowEnded', 'nobody'])(
    'does not mind a signal that is named %s',
    async (name) => {
      const batch = batchOf(3);
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 3);
        await run.signal(name, { key: 'row-0' });
        for (const key of ['row-0', 'row-1', 'row-2']) batch.end(rowEnd(key));
        expect(await run.result()).toMatchObject({ ending: 'completed', success: 3 });
      });
    },
  );

  it.concurrent('refuses every argument of an update that is rubbish with words, and goes on', async () => {
    const batch = batchOf(2, { concurrency: 1 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 1);
      const rows = [null, 1e308, -1, 0.5, '9', [3], {}, true, Number.MAX_SAFE_INTEGER].map((one) => ({ rows: one }));
      for (const one of [null, [], 'text', 7, {}, parsed('{"__proto__":{"rows":5}}'), ...rows]) {
        const refused = run.executeUpdate<unknown, [unknown]>(setConcurrencyUpdate.name, { args: [one] });
        expect(await refusalOf(refused)).toContain('from 1 to 500');
      }
      for (const name of ['pause', 'resume', 'retryFailed', 'drain']) {
        await run.executeUpdate<unknown, [unknown]>(name, { args: [parsed('{"__proto__":null}')] });
      }
      expect(await run.query<unknown, [unknown]>(progressQuery.name, 1e308)).toMatchObject({ concurrency: 1 });
      await stopWithinAMinute(run);
    });
  });

  it.concurrent('goes on whatever the ends of its rows say', async () => {
    const nasty = ['__proto__', 'constructor', 'toString', 'x'.repeat(100_000), '\u001b[2J', '\u202e`|*', ''];
    const batch = batchOf(80, { concurrency: 80, tuning: { ...fastBatchTuning, recordRows: 80 } });
    batch.endsAtOnce = ({ key, index }) => {
      const type = nasty[index] ?? `Type${index}`;
      return rowEnd(key, { status: 'Failed', failure: { type, message: nasty[index % nasty.length] ?? '' } });
    };
    const progress = await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.result();
      return await run.query(progressQuery);
    });
    expect(progress).toMatchObject({ failed: 80, success: 0 });
    expect(Object.keys(progress.failures).length).toBeLessThanOrEqual(51);
    expect(Object.values(progress.failures).reduce((sum, count) => sum + count, 0)).toBe(80);
  });
});

describe('a batch that waits', () => {
  it.concurrent(
    'for its rows to stop continues as new when messages make it long, and still ends as canceled',
    async () => {
      const batch = batchOf(4, { tuning: { ...fastBatchTuning, continueAsNewAfterEvents: 60 } });
      batch.areStopsIgnored = true;
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 4);
        await run.cancel();
        await eventually(async () => (await run.query(progressQuery)).state === 'Stopping');
        await flood(run, 300, (index) => rowEnd(`row-${index % 4}`));
        await eventually(async () => (await run.describe()).runId !== run.firstExecutionRunId, { what: 'a fresh run' });
        expect((await run.query(progressQuery)).state).toBe('Stopping');
        for (const key of [...batch.running.keys()]) batch.end(rowEnd(key, { status: 'Canceled' }));
        await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
        expect(await executionOf(run)).toBe('CANCELLED');
      });
      expect(batch.started).toHaveLength(4);
      expect(batch.recorded).toHaveLength(4);
      expect(batch.canceled).toBe(1);
    },
  );

  it.concurrent.each(['because it is paused', 'for its rows'])(
    '%s polls its rows more and more rarely',
    async (how) => {
      const batch = batchOf(2, { concurrency: 1, tuning: { ...fastBatchTuning, pollEveryMs: 100 } });
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 1);
        if (how === 'because it is paused') await run.executeUpdate('pause');
        await eventually(() => batch.rowPolls.calls >= 6);
        const sinceMs = Date.now();
        const calls = batch.rowPolls.calls;
        await eventually(() => batch.rowPolls.calls >= calls + 2);
        // One whole pause at least, of fifteen times as long as the first.
        expect(Date.now() - sinceMs).toBeGreaterThan(1_400);
        await stopWithinAMinute(run);
      });
    },
  );
});

describe('a batch that is started by anybody', () => {
  /** Starts batches on the queue of one that runs, and tells with which words they fail. */
  async function refusals(
    act: (begin: (id: string, input: unknown) => Promise<string>, good: BatchInput) => Promise<void>,
  ): Promise<void> {
    const batch = batchOf(1);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      const { taskQueue } = await run.describe();
      const timeout = { workflowExecutionTimeout: '1 minute' } as const;
      await act(async (id, input) => {
        const options = { taskQueue, workflowId: `batch:${id}`, args: [input], ...timeout };
        const { type, message } = await failureOf(await environment.client.workflow.start('batch', options));
        expect(type).toBe('InputInvalid');
        return message;
      }, batch.input);
    });
  }

  it.concurrent('with a state that no run of it handed over fails with the reason', async () => {
    const ended = { opened: true, cursor: null, running: [], success: 9, failed: 0, canceled: 0, concurrency: 1 };
    const whole = { ...ended, startedAtMs: 0 };
    const states = [null, 7, 'text', [], {}, { running: 'x' }, whole, { ...ended, startedAtMs: 1e300 }];
    await refusals(async (begin, good) => {
      for (const [index, continueAsNewState] of states.entries()) {
        const id = `${good.id}-${index}`;
        expect(await begin(id, { ...good, id, continueAsNewState })).toContain('continueAsNewState is');
      }
    });
  });

  it.concurrent('under another id than its own fails with the reason', async () => {
    await refusals(async (begin, good) => {
      expect(await begin(`${good.id}-other`, good)).toContain(`id is "${good.id}"`);
    });
  });

  it.concurrent('with anything for an input fails with words', async () => {
    const part = fc.oneof(fc.jsonValue(), fc.constantFrom(1e308, -1, '', '__proto__', 'x'.repeat(100_000)));
    const input = fc.record({
      id: part,
      rows: part,
      tuning: part,
      names: part,
      concurrency: part,
      continueAsNewState: part,
    });
    await refusals(async (begin, good) => {
      const anything = fc.asyncProperty(fc.oneof(fc.jsonValue(), input), async (one) => {
        expect(await begin(`${good.id}-any`, one)).not.toBe('');
      });
      await fc.assert(anything, { numRuns: 40 });
    });
  });
});

describe('a task that is started by anybody', () => {
  it.concurrent(
    'as a row that it is not, or into a batch’s folder, is refused before anything is created',
    async () => {
      const service = new FakeService();
      await environment.withWorkers(service.activities, async (begin) => {
        const row = { inputs: {}, batch: { id: 'b', key: 'r' } };
        for (const workflowId of ['task:forged', 'batch:b:other', 'anything']) {
          const { type, message } = await failureOf(await begin(row, workflowId));
          expect(type).toBe('InputInvalid');
          expect(message).toContain('batch is {"id":"b","key":"r"}');
        }
        const reserved = await failureOf(await begin({ inputs: {}, archive: 'batches/b/results' }));
        expect(reserved.message).toContain('archive is "batches/b/results"');
      });
      expect(service.calls.creates).toEqual([]);
    },
  );
});
