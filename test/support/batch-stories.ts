import type { BatchInput } from '../../src/contract/batch-input';
import {
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
} from '../../src/contract/batch-messages';
import { eventually } from './eventually';
import { type FakeBatch, rowEnd } from './fake-batch';
import type { RunningBatch } from './task-environment';

/** One way in which a batch can go, recorded for replays. */
export interface BatchStory {
  /** Also the name of its recorded history. */
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

function story(name: string, parts: Partial<BatchStory>): BatchStory {
  return { name, rows: 8, input: { tuning }, begin: endAtOnce, execution: 'COMPLETED', ...parts };
}

/** Every branch of the `batch` workflow that leaves events of another kind or in another order. */
export const batchStories: readonly BatchStory[] = [
  story('main-line', {}),
  story('continued-as-new', {
    rows: 60,
    input: { concurrency: 5, tuning: { ...tuning, continueAsNewAfterEvents: 100 } },
  }),
  story('paused-drained-resumed', {
    input: { tuning, concurrency: 2 },
    begin: (batch) => async (run) => {
      await eventually(() => batch.running.size === 2);
      await run.executeUpdate(pauseUpdate);
      await batch.end(rowEnd('row-0'));
      await run.executeUpdate(drainUpdate);
      await run.executeUpdate(resumeUpdate);
      await eventually(() => batch.running.size === 2);
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      for (const key of [...batch.running.keys()]) await batch.end(rowEnd(key));
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
        await batch.end(rowEnd('row-1'));
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
  story('ended-without-a-word', {
    rows: 2,
    input: { tuning: { ...tuning, lookEveryMs: 100 } },
    begin: (batch) => async (run) => {
      await eventually(async () => (await run.query(progressQuery)).running === 2);
      for (const key of batch.running.keys()) batch.silent.set(key, rowEnd(key));
    },
  }),
  story('rows-changed', {
    begin: (batch) => {
      batch.changed = 1;
      return idle;
    },
    execution: 'FAILED',
  }),
];
