import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { BatchActivities } from '../../../src/contract/batch/batch-activities';
import type { BatchInput } from '../../../src/contract/batch/batch-input';
import type { BatchResult } from '../../../src/contract/batch/batch-messages';
import { batchWorkflowId } from '../../../src/contract/workflow-ids';
import { FakeBatch, rowEnd } from '../../support/fake-batch';
import { historyLengthsOf } from '../../support/history-lengths';
import { quietRuntime } from '../../support/quiet-runtime';
import { RestartableTemporal } from '../../support/restartable-temporal';
import { workflowBundle } from '../../support/product-build';
import { maxEventsOfARun } from './batch-promises';
import { MemoryWatch } from './memory-watch';
import { connectClient } from '../../support/temporal-connection';
import { workflowSinks } from '../../support/task-workers';

/** What a batch of instant rows took. */
export interface InstantBatchReport {
  readonly rows: number;
  readonly seconds: number;
  readonly runs: number;
  readonly mostEventsOfARun: number;
  readonly eventsARow: number;
  /** The most that the worker's process, in which the fakes are, and the server's took: after a tenth, and at the end. */
  readonly memory: { readonly afterATenth: string; readonly atTheEnd: string };
  /** What does not hold; nothing when all of it does. */
  readonly broken: readonly string[];
}

const queue = 'instant';

/** Runs a batch whose tasks are over as soon as they are started: what is measured is the batch workflow itself. */
export async function runInstantBatch(rows: number, say: (line: string) => void): Promise<InstantBatchReport> {
  quietRuntime();
  const temporal = await RestartableTemporal.start();
  const connection = await connectClient(temporal.address);
  const native = await NativeConnection.connect({ address: temporal.address });
  try {
    return await run(temporal, new Client({ connection }), native, rows, say);
  } finally {
    await native.close();
    await connection.close();
    await temporal.stop();
  }
}

async function run(
  temporal: RestartableTemporal,
  client: Client,
  native: NativeConnection,
  rows: number,
  say: (line: string) => void,
): Promise<InstantBatchReport> {
  const batch = new FakeBatch(client, 'instant', rows, { concurrency: 500 }, 200);
  batch.endsAtOnce = ({ key }) => rowEnd(key);
  const counts = new RecordCount(batch.activities, rows);
  const worker = await Worker.create({
    connection: native,
    workflowBundle: await workflowBundle(),
    taskQueue: queue,
    activities: counts.activities,
    sinks: workflowSinks,
  });
  const memory = new MemoryWatch({ 'worker with fakes': () => process.pid, Temporal: () => temporal.pid });
  let afterATenth = '';
  counts.onTenth = (tenth) => {
    if (tenth === 1) afterATenth = memory.toString();
    say(`${String(tenth * 10).padStart(4)} %  at most ${memory.toString()}`);
  };
  const startedAtMs = performance.now();
  const handle = await client.workflow.start<(input: BatchInput) => Promise<BatchResult>>('batch', {
    taskQueue: queue,
    workflowId: batchWorkflowId(batch.id),
    args: [batch.input],
  });
  await worker.runUntil(() => handle.result());
  const seconds = (performance.now() - startedAtMs) / 1_000;
  await memory.stop();
  const lengths = await historyLengthsOf(client, handle.workflowId);
  const mostEventsOfARun = Math.max(...lengths);
  return {
    ...{ rows, seconds, runs: lengths.length, mostEventsOfARun },
    eventsARow: lengths.reduce((sum, length) => sum + length, 0) / rows,
    memory: { afterATenth, atTheEnd: memory.toString() },
    broken: [
      ...counts.broken(batch.started),
      ...(mostEventsOfARun > maxEventsOfARun ? [`a run has ${mostEventsOfARun} events`] : []),
    ],
  };
}

/** Counts what is recorded instead of keeping it, so that the memory that is measured is not that of the test. */
class RecordCount {
  readonly activities: BatchActivities;
  onTenth: (tenth: number) => void = () => undefined;
  readonly #rows: number;
  readonly #recorded = new Set<number>();
  #records = 0;

  constructor(activities: BatchActivities, rows: number) {
    this.#rows = rows;
    this.activities = {
      ...activities,
      recordRows: ({ records }) => {
        const tenths = this.#tenths();
        this.#records += records.length;
        for (const { index } of records) this.#recorded.add(index);
        if (this.#tenths() > tenths) this.onTenth(this.#tenths());
        return Promise.resolve();
      },
    };
  }

  broken(started: readonly string[]): string[] {
    const expected = { started: started.length, rowsStarted: new Set(started).size };
    const found = { ...expected, records: this.#records, rowsRecorded: this.#recorded.size };
    return Object.entries(found)
      .filter(([, count]) => count !== this.#rows)
      .map(([what, count]) => `${what} is ${count} for ${this.#rows} rows`);
  }

  #tenths(): number {
    return Math.floor((10 * this.#records) / this.#rows);
  }
}
