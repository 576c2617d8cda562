import type { BatchActivities } from '../../src/contract/batch/batch-activities';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import {
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  setBudgetUpdate,
} from '../../src/contract/batch/batch-messages';
import { eventually } from './eventually';
import { finalFailure } from './fake-activities';
import { type FakeBatch, rowEnd } from './fake-batch';
import type { RunningBatch } from './task-environment';

/** One way in which a batch can go, recorded for replays. */
export interface BatchStory {
  readonly name: string;
  readonly rows: number;
  readonly input: Partial<BatchInput>;
  /** Prepares the rows, and returns what people do with the batch until it ends by itself. */
  readonly begin: (batch: FakeBatch) => (run: RunningBatch) => Promise<unknown>;
  /** How it ends, in Temporal's words. */
  readonly execution: 'COMPLETED' | 'FAILED' | 'CANCELLED';
}

const idle = (): Promise<void> => Promise.resolve();
const tuning = { refillMs: 20, recordRows: 5, retryMaxMs: 50 };

function endAtOnce(batch: FakeBatch): () => Promise<void> {
  batch.endsAtOnce = ({ key }) => rowEnd(key);
  return idle;
}

async function whenFailing(batch: FakeBatch, step: keyof BatchActivities): Promise<void> {
  await eventually(() => (batch.failures.get(step) ?? 0) > 1);
}

function story(name: string, parts: Partial<BatchStory>): BatchStory {
  return { name, rows: 8, input: { tuning }, begin: endAtOnce, execution: 'COMPLETED', ...parts };
}

/** Every branch of the `batch` workflow that leaves events of another kind or in another order. */
export const batchStories: readonly BatchStory[] = [
  story('main-line', {}),
  story('webhook', { input: { tuning, webhook: 'orders' } }),
  story('continued-as-new', {
    rows: 60,
    input: { concurrency: 5, tuning: { ...tuning, continueAsNewAfterEvents: 100 } },
  }),
  story('paused-drained-resumed', {
    input: { tuning, concurrency: 2 },
    begin: (batch) => async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(pauseUpdate);
      batch.end(rowEnd('row-0'));
      await run.executeUpdate(drainUpdate);
      await run.executeUpdate(resumeUpdate);
      await eventually(() => batch.running.size === 2);
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
    },
  }),
  story('failed-rows-again', {
    begin: (batch) => {
      const failure = { type: 'TaskFailed', message: 'out of memory' };
      batch.endsAtOnce = ({ key, index }) => (index === 1 ? undefined : rowEnd(key, { status: 'Failed', failure }));
      return async (run) => {
        await eventually(() => batch.running.size === 1);
        await run.executeUpdate(retryFailedUpdate);
        batch.endsAtOnce = ({ key }) => rowEnd(key);
        batch.end(rowEnd('row-1'));
      };
    },
  }),
  story('another-attempt', {
    input: { tuning, attempts: 2, concurrency: 3 },
    begin: (batch) => {
      const failure = { type: 'TaskFailed', message: 'out of memory' };
      batch.endsAtOnce = ({ key, index }) => rowEnd(key, index === 1 ? { status: 'Failed', failure } : {});
      return idle;
    },
  }),
  story('budget-reached-and-raised', {
    input: { tuning, budget: '0.05EUR' },
    begin: (batch) => {
      const price = { rows: 8, taskMicros: 20_000, isFixed: true };
      batch.opened = { prices: { unpriced: 0, firstUnpriced: null, currencies: { EUR: price } } };
      batch.endsAtOnce = ({ key }) => rowEnd(key, { cost: { currency: 'EUR', micros: 20_000 } });
      return async (run) => {
        await eventually(async () => (await run.query(progressQuery)).state === 'BudgetReached');
        await run.executeUpdate(setBudgetUpdate, { args: [{ budget: '1EUR' }] });
      };
    },
  }),
  story('daily-budget-reached', {
    input: { tuning, concurrency: 3 },
    begin: (batch) => {
      Object.assign(batch, { roomToday: 4, dailyWaitMs: 500 });
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      return async (run) => {
        await eventually(async () => (await run.query(progressQuery)).state === 'DailyBudgetReached');
        const asked = batch.starts.length;
        await eventually(() => batch.starts.length > asked);
        batch.roomToday = Infinity;
      };
    },
  }),
  story('stopped', {
    input: { tuning, concurrency: 3 },
    begin: (batch) => async (run) => {
      await eventually(() => batch.running.size === 3);
      await run.cancel();
    },
    execution: 'CANCELLED',
  }),
  story('stopped-while-recording', {
    input: { tuning: { ...tuning, recordRows: 1 }, concurrency: 3 },
    begin: (batch) => async (run) => {
      batch.failing.add('recordRows');
      await eventually(() => batch.running.size === 3);
      batch.end(rowEnd('row-0'));
      await whenFailing(batch, 'recordRows');
      await run.cancel();
      await eventually(() => batch.running.size === 0);
      batch.failing.clear();
    },
    execution: 'CANCELLED',
  }),
  story('stopped-while-starting', {
    input: { tuning, concurrency: 3 },
    begin: (batch) => {
      batch.failing.add('startRows');
      batch.startedByFailure = 2;
      return async (run) => {
        await whenFailing(batch, 'startRows');
        await run.cancel();
      };
    },
    execution: 'CANCELLED',
  }),
  story('stopped-while-opening', {
    begin: (batch) => {
      batch.failing.add('openBatch');
      return async (run) => {
        await whenFailing(batch, 'openBatch');
        await run.cancel();
      };
    },
    execution: 'CANCELLED',
  }),
  story('resumed-while-recording', {
    input: { tuning, concurrency: 2 },
    begin: (batch) => async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(drainUpdate);
      batch.failing.add('recordRows');
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await whenFailing(batch, 'recordRows');
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      await run.executeUpdate(resumeUpdate);
      batch.failing.clear();
    },
  }),
  story('records-of-many-bytes', {
    // A record has about 400 bytes.
    input: { tuning: { ...tuning, recordBytes: 1_000 } },
  }),
  story('stopped-and-continued-as-new', {
    rows: 2,
    input: { tuning: { ...tuning, continueAsNewAfterEvents: 40 } },
    begin: (batch) => async (run) => {
      await eventually(async () => (await run.query(progressQuery)).running === 2);
      batch.areStopsIgnored = true;
      await run.cancel();
      for (let sent = 0; sent < 20; sent += 1) await run.signal('nobody');
      await eventually(async () => (await run.describe()).runId !== run.firstExecutionRunId);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key, { status: 'Canceled' }));
    },
    execution: 'CANCELLED',
  }),
  story('end-missed', {
    rows: 2,
    input: { tuning: { ...tuning, pollEveryMs: 100 } },
    begin: (batch) => async (run) => {
      await eventually(async () => (await run.query(progressQuery)).running === 2);
      for (const key of batch.running.keys()) batch.silent.set(key, rowEnd(key));
    },
  }),
  story('unknown-field-refused', { input: { tuning, budgt: '1EUR' } as Partial<BatchInput>, execution: 'FAILED' }),
  story('rows-changed', {
    begin: (batch) => {
      batch.unopened = finalFailure('RowsChanged', 'Rows were renamed.');
      return idle;
    },
    execution: 'FAILED',
  }),
  story('rows-unusable', {
    begin: (batch) => {
      batch.unopened = finalFailure('InputUnusable', 'The prepared rows cannot be used.');
      return idle;
    },
    execution: 'FAILED',
  }),
];
