import { pendingProblem } from '../../src/client/task/pending-work';
import {
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  setConcurrencyUpdate,
} from '../../src/contract/batch/batch-messages';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import { eventually } from '../support/eventually';
import { type FakeBatch, fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { historyLengthsOf } from '../support/history-lengths';
import { failureOf, TaskEnvironment } from '../support/task-environment';
import { refusalOf } from '../support/uncertain-create';

const environment = TaskEnvironment.forSuite();

function batchOf(rows: number, more: Partial<BatchInput> = {}): FakeBatch {
  return fakeBatchOf(environment.client, rows, more);
}

describe('a batch', () => {
  it.concurrent('runs every row once, records how each ended, and reports', async () => {
    const batch = batchOf(35);
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    const result = await environment.withBatch(batch.activities, batch.input, (run) => run.result());
    expect(batch.started).toEqual(Array.from({ length: 35 }, (_, index) => `row-${index}`));
    expect(batch.recorded.map(({ key }) => key).sort()).toEqual([...batch.started].sort());
    const record = batch.recorded.find(({ key }) => key === 'row-12');
    expect(record).toMatchObject({ page: 1, line: 13, digest: 'digest-12', status: 'Success' });
    expect(result).toMatchObject({ batchId: batch.id, rows: 35, ending: 'completed', csv: 'results.csv' });
  });

  it.concurrent('with no rows at all ends at once', async () => {
    const batch = batchOf(0);
    expect(await environment.withBatch(batch.activities, batch.input, (run) => run.result())).toMatchObject({
      ending: 'completed',
    });
  });

  it.concurrent('never runs more rows at the same time than its concurrency, which can be changed', async () => {
    const batch = batchOf(12, { concurrency: 3 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 3);
      await run.executeUpdate(setConcurrencyUpdate, { args: [{ rows: 5 }] });
      // They run before the batch is told that they do.
      await eventually(async () => (await run.query(progressQuery)).running === 5);
      expect(await run.query(progressQuery)).toMatchObject({ running: 5, waiting: 7, concurrency: 5 });
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await run.result();
    });
    expect(batch.peak).toBe(5);
    expect(batch.started).toHaveLength(12);
  });

  it.concurrent('refuses a concurrency that it cannot have', async () => {
    const batch = batchOf(1);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      for (const rows of [0, 501, 1.5]) {
        expect(await refusalOf(run.executeUpdate(setConcurrencyUpdate, { args: [{ rows }] }))).toContain(
          'from 1 to 500',
        );
      }
    });
  });

  it.concurrent('counts what its rows uploaded, beyond a hand-over to another run', async () => {
    const batch = batchOf(30, { concurrency: 3, tuning: { ...fastBatchTuning, continueAsNewAfterEvents: 60 } });
    batch.endsAtOnce = ({ key }) => rowEnd(key, { uploads: { files: 1, bytes: 10, shared: 2 } });
    const progress = await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.result();
      return await run.query(progressQuery);
    });
    expect(progress).toMatchObject({ success: 30, uploads: { files: 30, bytes: 300, shared: 60 } });
    expect((await historyLengthsOf(environment.client, `batch:${batch.id}`)).length).toBeGreaterThan(1);
  });

  it.concurrent('leaves what was over before it began out of its pace', async () => {
    // By a poll: the wait for ends that began before the rows were started tells none of this age.
    const batch = batchOf(3, { concurrency: 2, tuning: { ...fastBatchTuning, pollEveryMs: 100 } });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(async () => (await run.query(progressQuery)).running === 2);
      batch.end(rowEnd('row-0', { endedAt: '2026-01-01T00:00:00.000Z' }));
      await eventually(async () => (await run.query(progressQuery)).success === 1);
      expect((await run.query(progressQuery)).perMinute).toBeNull();
      batch.end(rowEnd('row-1'));
      await eventually(async () => (await run.query(progressQuery)).success === 2);
      expect((await run.query(progressQuery)).perMinute).toBeGreaterThan(0);
    });
  });

  it.concurrent('starts nothing while it is paused, and goes on when it is resumed', async () => {
    const batch = batchOf(4, { concurrency: 2 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      const beforeMs = Date.now();
      await run.executeUpdate(pauseUpdate);
      const { pausedAt = '' } = await run.query(progressQuery);
      expect(Date.parse(pausedAt)).toBeGreaterThan(beforeMs - 5_000);
      await run.executeUpdate(pauseUpdate);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await eventually(async () => (await run.query(progressQuery)).success === 2);
      expect(await run.query(progressQuery)).toMatchObject({ state: 'Paused', waiting: 2, pausedAt });
      expect(batch.started).toHaveLength(2);
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      await run.executeUpdate(resumeUpdate);
      await run.result();
      expect(await run.query(progressQuery)).not.toHaveProperty('pausedAt');
    });
    expect(batch.started).toHaveLength(4);
  });

  it.concurrent('ends after the rows that run when it is drained', async () => {
    const batch = batchOf(9, { concurrency: 2 });
    const result = await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(pauseUpdate);
      await run.executeUpdate(drainUpdate);
      const progress = await run.query(progressQuery);
      expect(progress.state).toBe('Draining');
      expect(progress).not.toHaveProperty('pausedAt');
      batch.end(rowEnd([...batch.running.keys()][0]!));
      await eventually(async () => (await run.query(progressQuery)).success === 1);
      const { running, perMinute, expectedEnd } = await run.query(progressQuery);
      // The seven rows that wait are not among those that will have ended then.
      const ofRunning = Date.now() + (running / perMinute!) * 60_000;
      expect(Math.abs(Date.parse(expectedEnd!) - ofRunning)).toBeLessThan(5_000);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      return run.result();
    });
    expect(result.ending).toBe('drained');
    expect(batch.started).toHaveLength(2);
    expect(batch.recorded).toHaveLength(2);
  });

  it.concurrent('tells of failures by type, and starts the failed rows again when asked to', async () => {
    const batch = batchOf(6);
    const failure = { type: 'TaskFailed', message: 'out of memory' };
    batch.endsAtOnce = ({ key, index }) => rowEnd(key, index % 3 === 1 ? { status: 'Failed', failure } : {});
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await run.executeUpdate(retryFailedUpdate);
      await eventually(() => batch.started.length === 8);
      await run.result();
      expect(await run.query(progressQuery)).toMatchObject({
        state: 'Ended',
        success: 4,
        failed: 2,
        failures: { TaskFailed: 4 },
        lastFailures: [{ message: 'out of memory' }, {}, {}, {}],
      });
    });
    expect(batch.started.slice(6)).toEqual(['row-1', 'row-4']);
  });

  it.concurrent('tells what it cannot get on with, and goes on by itself once it can', async () => {
    const batch = batchOf(3);
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    batch.failing.add('recordRows');
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      const problem = await eventually(async () => {
        const { raw } = await run.describe();
        return (await pendingProblem(environment.client, raw.pendingActivities ?? [])) ?? undefined;
      });
      expect(problem).toMatchObject({ code: 'Retrying', message: 'recordRows: no space left on device' });
      batch.failing.clear();
      await run.result();
    });
    expect(batch.recorded.map(({ key }) => key).sort()).toEqual(['row-0', 'row-1', 'row-2']);
  });

  it.concurrent('goes on when it is resumed while the last row of a drain is being recorded', async () => {
    const batch = batchOf(6, { concurrency: 2 });
    const result = await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(drainUpdate);
      batch.failing.add('recordRows');
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await eventually(() => (batch.failures.get('recordRows') ?? 0) > 0);
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      await run.executeUpdate(resumeUpdate);
      batch.failing.delete('recordRows');
      return run.result();
    });
    expect(result.ending).toBe('completed');
    expect(batch.started).toHaveLength(6);
  });

  it.concurrent('promises no more rows when it is drained, stopped or over, and says what helps', async () => {
    const batch = batchOf(4, { concurrency: 2 });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      const refusals = (): Promise<string[]> =>
        Promise.all([refusalOf(run.executeUpdate(resumeUpdate)), refusalOf(run.executeUpdate(retryFailedUpdate))]);
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(drainUpdate);
      expect(await refusalOf(run.executeUpdate(retryFailedUpdate))).toMatch(/being drained.*resume it first/s);

      batch.failing.add('reportBatch');
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await eventually(async () => (await run.query(progressQuery)).state === 'Reporting');
      const [resume, retry] = await refusals();
      expect(resume).toMatch(/The batch is over: run the file again/);
      expect(retry).toMatch(/The batch is over: run the file again with --retry-failed/);
    });

    const stopped = batchOf(2);
    stopped.failing.add('recordRows');
    await environment.withBatch(stopped.activities, stopped.input, async (run) => {
      await eventually(() => stopped.running.size === 2);
      await run.cancel();
      await eventually(() => (stopped.failures.get('recordRows') ?? 0) > 0);
      expect(await refusalOf(run.executeUpdate(resumeUpdate))).toMatch(/being stopped: once it is over, run the file/);
      expect(await refusalOf(run.executeUpdate(retryFailedUpdate))).toMatch(/being stopped.*--retry-failed/);
    });
  });

  it.concurrent('notices rows whose end was missed', async () => {
    const batch = batchOf(3, { tuning: { ...fastBatchTuning, pollEveryMs: 200 } });
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 3);
      for (const key of batch.running.keys()) {
        batch.silent.set(key, rowEnd(key, { status: 'Failed', failure: { type: 'Terminated', message: 'by hand' } }));
      }
      await run.result();
    });
    expect(batch.recorded.map(({ failure }) => failure?.type)).toEqual(['Terminated', 'Terminated', 'Terminated']);
  });

  it.concurrent('records rows of many outputs in calls that Temporal takes', async () => {
    const rows = 40;
    const batch = batchOf(rows, { tuning: { ...fastBatchTuning, recordRows: rows } });
    const outputs = Array.from({ length: 20 }, (_, index) => ({
      path: `${'deep/'.repeat(600)}${index}`,
      sha256: 'ab',
      bytes: 1,
    }));
    batch.endsAtOnce = ({ key }) => rowEnd(key, { outputs, outputCount: 20 });
    await environment.withBatch(batch.activities, batch.input, (run) => run.result());
    expect(new Set(batch.recorded.map(({ key }) => key)).size).toBe(rows);
  });

  it.concurrent('counts a row once, and no row of others, whatever it is told', async () => {
    const batch = batchOf(2);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 2);
      batch.end(rowEnd('row-0'));
      batch.end(rowEnd('row-0'));
      batch.end(rowEnd('row-of-another'));
      await eventually(async () => (await run.query(progressQuery)).success === 1);
      batch.end(rowEnd('row-1'));
      await run.result();
    });
    expect(batch.recorded).toHaveLength(2);
  });

  it.concurrent('fails with every problem of a malformed input', async () => {
    const batch = batchOf(1, { concurrency: 9_999, names: '{ext}' });
    const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(failure.type).toBe('InputInvalid');
    for (const word of ['concurrency', '9999', '{index}']) expect(failure.message).toContain(word);
  });

  it.concurrent(
    'refuses a budget under a misspelt name, whichever client starts it, before it starts a row',
    async () => {
      const batch = batchOf(3, { budgt: '1EUR' } as Partial<BatchInput>);
      const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
      expect(failure.type).toBe('InputInvalid');
      expect(failure.message).toContain('Unknown field "budgt"; did you mean budget?');
      expect(batch.started).toEqual([]);
    },
  );
});

/** `npm run soak:batch -- --instant 10000` takes more. */
const rows = 2_000;

describe(`a batch of ${rows} rows`, () => {
  it.concurrent(
    'never lets a run exceed 4,096 events, and loses and doubles none',
    async () => {
      const limit = 600;
      const batch = batchOf(rows, {
        concurrency: 500,
        tuning: { ...fastBatchTuning, recordRows: 100, continueAsNewAfterEvents: limit },
      });
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      const runs = await environment.withBatch(batch.activities, batch.input, async (run) => {
        await run.result();
        return historyLengthsOf(environment.client, run.workflowId);
      });
      expect(new Set(batch.started).size).toBe(rows);
      expect(batch.started).toHaveLength(rows);
      expect(new Set(batch.recorded.map(({ key }) => key)).size).toBe(rows);
      expect(batch.recorded).toHaveLength(rows);
      expect(runs.length).toBeGreaterThan(3);
      expect(Math.max(...runs)).toBeLessThan(4_096);
      // A handful of events a row, whatever the number of rows.
      expect(runs.reduce((sum, length) => sum + length, 0) / rows).toBeLessThan(8);
    },
    300_000,
  );
});
