import { type InjectedSinks, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { workerDataConverter } from '../../src/client/codec/data-converter';
import type { CodecKeys } from '../../src/config/codec-keys';
import type { ReplaySinks } from '../../src/contract/metrics';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../../src/contract/task-queues';
import { workflowThread } from '../../src/worker';
import { encodeFailures } from '../../src/workflow-sources';
import { workflowBundle } from './product-build';
import { temporalAddress } from './temporal-connection';

/** What differs from a worker's defaults. */
export interface WorkerChoices {
  readonly maxCachedWorkflows?: number;
  /** @default replays are told to nothing */
  readonly sinks?: InjectedSinks<ReplaySinks>;
  readonly stickyQueueScheduleToStartTimeout?: '200 ms';
  /** How many workers take workflow tasks. @default 1 */
  readonly workflowWorkers?: number;
  /** Uploads, and archives, at a time. @default 16 */
  readonly transferSlots?: number;
  /** What payloads are encrypted with. @default null: they are not */
  readonly codecKeys?: CodecKeys | null;
}

/** What workflows call beside Temporal. */
export const workflowSinks = { longhaulReplays: { ended: { fn: (): void => undefined } } };

/** Workers of the real workflows on a queue, its transfer, archive and watch queues, with a test's activities. */
export class TaskWorkers {
  readonly #workers: readonly Worker[];
  readonly #running: Promise<unknown>;
  readonly #connections: readonly NativeConnection[];

  private constructor(workers: readonly Worker[], connections: readonly NativeConnection[]) {
    this.#workers = workers;
    this.#connections = connections;
    this.#running = Promise.all(workers.map((worker) => worker.run()));
  }

  static async start(
    connection: NativeConnection,
    taskQueue: string,
    activities: object,
    { workflowWorkers = 1, transferSlots = 16, codecKeys = null, ...choices }: WorkerChoices = {},
  ): Promise<TaskWorkers> {
    // Temporal's core has no two workers of one queue on one connection.
    const others = await Promise.all(
      Array.from({ length: workflowWorkers - 1 }, () => NativeConnection.connect({ address: temporalAddress() })),
    );
    const bundle = codecKeys === null ? await workflowBundle() : await encodeFailures(await workflowBundle());
    const dataConverter = workerDataConverter(codecKeys);
    const common = { connection, activities, dataConverter };
    const workflows = {
      ...common,
      workflowBundle: bundle,
      taskQueue,
      sinks: workflowSinks,
      ...workflowThread,
      ...choices,
    };
    const transfers = { ...common, maxConcurrentActivityTaskExecutions: transferSlots };
    const options: WorkerOptions[] = [
      ...[connection, ...others].map((one) => ({ ...workflows, connection: one })),
      { ...transfers, taskQueue: transferTaskQueue(taskQueue) },
      { ...transfers, taskQueue: archiveTaskQueue(taskQueue) },
      { ...common, taskQueue: watchTaskQueue(taskQueue), maxHeartbeatThrottleInterval: 10 },
    ];
    return new TaskWorkers(await Promise.all(options.map((one) => Worker.create(one))), others);
  }

  async stop(): Promise<void> {
    for (const worker of this.#workers) worker.shutdown();
    await this.#running;
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }
}
