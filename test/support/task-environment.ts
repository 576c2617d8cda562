import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { Connection } from '@temporalio/client';
import {
  Client,
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { BatchActivities } from '../../src/contract/batch-activities';
import type { BatchInput, BatchMembership } from '../../src/contract/batch-input';
import type { BatchResult } from '../../src/contract/batch-progress';
import { batchWorkflowId, rowWorkflowId } from '../../src/contract/workflow-ids';
import type { Activities } from '../../src/contract/activities';
import { searchAttributes } from '../../src/contract/search-attributes';
import { statusQuery } from '../../src/contract/messages';
import type { TaskInput, TaskTuning } from '../../src/contract/task-input';
import type { TaskResult } from '../../src/contract/task-result';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../../src/contract/task-queues';
import type { StopRequestView } from '../../src/contract/task-status';
import type { StopOutcome, StopVerb } from '../../src/domain/stop-request';
import type { LonghaulStatus } from '../../src/domain/task-state';
import { workflowThread } from '../../src/worker';
import { eventually } from './eventually';
import { quietRuntime } from './quiet-runtime';
import { workflowBundle } from './product-build';
import { connectClient, temporalAddress } from './temporal-connection';

/** Durations for tests: what takes seconds in production takes milliseconds here; what only a failure ends may last. */
export const fastTuning: Partial<TaskTuning> = {
  poll: { minMs: 10, maxMs: 30 },
  createRetryMs: 20,
  createRetryMaxMs: 50,
  notVisibleGraceMs: 300,
  stopGraceMs: 30_000,
  archiveGraceMs: 30_000,
  retryMaxMs: 50,
};

/** The smallest task: one file, one value. */
const smallTask = {
  webAppId: 7,
  inputs: { '1:LoadImage.image': { file: 'photo.jpg' }, '2:ImageScale.width': 512 },
} as const;

type Bundle = NonNullable<WorkerOptions['workflowBundle']>;

/** A `task` workflow under test. */
export type RunningTask = WorkflowHandle<(input: TaskInput) => Promise<TaskResult>>;

/** A `batch` workflow under test. */
export type RunningBatch = WorkflowHandleWithFirstExecutionRunId<(input: BatchInput) => Promise<BatchResult>>;

/** The same, as it was started here: it knows its first run. */
export type StartedTask = WorkflowHandleWithFirstExecutionRunId<(input: TaskInput) => Promise<TaskResult>>;

/** Fields of a task's input that differ from those of {@link smallTask} and {@link fastTuning}; may be malformed. */
export type TestInput = Partial<TaskInput> & Record<string, unknown>;

/** Starts a task on the workers that run. */
export type StartTask = (input: TestInput, workflowId?: string) => Promise<StartedTask>;

/** What differs from a worker's defaults, and how long a task may stay open when its test fails. */
export interface WorkerChoices {
  readonly maxCachedWorkflows?: number;
  /** How many workers take workflow tasks. @default 1 */
  readonly workflowWorkers?: number;
  /** Uploads, and archives, at a time. */
  readonly transferSlots?: number;
  readonly executionTimeout?: `${number} seconds`;
}

/** The only id that the workflow of a row may have, or one that no other task has. */
export function testWorkflowId({ batch }: { readonly batch?: BatchMembership }): string {
  return batch === undefined ? `task:${randomUUID()}` : rowWorkflowId(batch.id, batch.key);
}

/** The real dev server with the real workflows, and activities of the test's choice. */
export class TaskEnvironment {
  readonly client: Client;
  private readonly connection: Connection;
  private readonly native: NativeConnection;
  private readonly bundle: Bundle;
  private readonly id = randomUUID();
  private shared: Promise<{ readonly stop: () => Promise<void> }> | undefined;
  /** What the shared workers do for a workflow, by its id. */
  private readonly activities = new Map<string, object>();
  private readonly shareable = {
    default: (...args: unknown[]): unknown => {
      const { workflowExecution, activityType } = activityInfo();
      const activities = this.activities.get(workflowExecution?.workflowId ?? '') ?? {};
      const activity = Reflect.get(activities, activityType) as ((...args: unknown[]) => unknown) | undefined;
      if (activity === undefined) throw new Error(`No test has given ${activityType} for this workflow.`);
      return activity(...args);
    },
  };

  private constructor(connection: Connection, native: NativeConnection, bundle: Bundle) {
    this.client = new Client({ connection });
    this.connection = connection;
    this.native = native;
    this.bundle = bundle;
  }

  static async open(): Promise<TaskEnvironment> {
    quietRuntime();
    const address = temporalAddress();
    const connection = await connectClient(address);
    const native = await NativeConnection.connect({ address });
    return new TaskEnvironment(connection, native, await workflowBundle());
  }

  async close(): Promise<void> {
    await (await this.shared)?.stop();
    await this.native.close();
    await this.connection.close();
  }

  /** Starts one task on the workers that all tests of this environment share, and ends it after `during`. */
  async withTask<T>(
    activities: Activities,
    input: TestInput,
    during: (task: StartedTask) => Promise<T>,
    { executionTimeout }: Pick<WorkerChoices, 'executionTimeout'> = {},
  ): Promise<T> {
    const workflowId = testWorkflowId(input);
    const taskQueue = await this.sharedQueue(workflowId, activities);
    const task = await this.start(taskQueue, workflowId, input, executionTimeout);
    try {
      return await during(task);
    } finally {
      await endQuietly(task);
    }
  }

  /** Runs one batch on the shared workers, over activities of the test's choice. */
  async withBatch<T>(
    activities: BatchActivities,
    input: BatchInput,
    during: (batch: RunningBatch, taskQueue: string) => Promise<T>,
    options: Pick<WorkerChoices, 'maxCachedWorkflows'> = {},
  ): Promise<T> {
    const workflowId = batchWorkflowId(input.id);
    const own = Object.keys(options).length === 0 ? undefined : `test-${randomUUID()}`;
    const taskQueue = own ?? (await this.sharedQueue(workflowId, activities));
    const running = own === undefined ? undefined : run([await this.workflowWorker(own, activities, options)]);
    const batch: RunningBatch = await this.client.workflow.start('batch', {
      taskQueue,
      workflowId,
      workflowExecutionTimeout: '5 minutes',
      args: [input],
    });
    try {
      return await during(batch, taskQueue);
    } finally {
      await endQuietly(batch);
      await running?.stop();
    }
  }

  /** Runs workers on queues of their own while `during` runs, which starts tasks there; then stops all of it. */
  async withWorkers<T>(
    activities: Activities,
    during: (start: StartTask, taskQueue: string) => Promise<T>,
    { executionTimeout, workflowWorkers = 1, transferSlots, ...options }: WorkerChoices = {},
  ): Promise<T> {
    const taskQueue = `test-${randomUUID()}`;
    // Temporal's core has no two workers of one queue on one connection.
    const others = await Promise.all(
      Array.from({ length: workflowWorkers - 1 }, () => NativeConnection.connect({ address: temporalAddress() })),
    );
    const workers = await Promise.all([
      ...[this.native, ...others].map((native) => this.workflowWorker(taskQueue, activities, options, native)),
      ...this.activityWorkers(taskQueue, activities, transferSlots),
    ]);
    const tasks: StartedTask[] = [];
    const running = run(workers);
    try {
      return await during(async (input, workflowId = testWorkflowId(input)) => {
        const task = await this.start(taskQueue, workflowId, input, executionTimeout);
        tasks.push(task);
        return task;
      }, taskQueue);
    } finally {
      await Promise.all(tasks.map(endQuietly));
      await running.stop();
      await Promise.all(others.map((connection) => connection.close()));
    }
  }

  private async start(
    taskQueue: string,
    workflowId: string,
    input: TestInput,
    executionTimeout: WorkerChoices['executionTimeout'] = '90 seconds',
  ): Promise<StartedTask> {
    return await this.client.workflow.start('task', {
      taskQueue,
      workflowId,
      workflowExecutionTimeout: executionTimeout,
      memo: { startedBy: 'a test' },
      args: [{ tuning: fastTuning, ...('adopt' in input ? {} : smallTask), ...input }],
    });
  }

  /** The queue of the shared workers, which have these activities for this workflow. */
  private async sharedQueue(workflowId: string, activities: Activities | BatchActivities): Promise<string> {
    this.activities.set(workflowId, activities);
    const taskQueue = `test-${this.id}`;
    this.shared ??= (async () => {
      const workers = [
        this.workflowWorker(taskQueue, this.shareable),
        ...this.activityWorkers(taskQueue, this.shareable),
      ];
      return run(await Promise.all(workers));
    })();
    await this.shared;
    return taskQueue;
  }

  private workflowWorker(
    taskQueue: string,
    activities: object,
    options: Pick<WorkerChoices, 'maxCachedWorkflows'> = {},
    connection = this.native,
  ): Promise<Worker> {
    const workflowBundle = this.bundle;
    return Worker.create({ connection, workflowBundle, taskQueue, activities, ...workflowThread, ...options });
  }

  private activityWorkers(taskQueue: string, activities: object, transferSlots = 16): Promise<Worker>[] {
    const common = { connection: this.native, activities };
    const transfers = { ...common, maxConcurrentActivityTaskExecutions: transferSlots };
    return [
      Worker.create({ ...transfers, taskQueue: transferTaskQueue(taskQueue) }),
      Worker.create({ ...transfers, taskQueue: archiveTaskQueue(taskQueue) }),
      Worker.create({ ...common, taskQueue: watchTaskQueue(taskQueue), maxHeartbeatThrottleInterval: 10 }),
    ];
  }
}

/** Lets workers run until they are stopped. */
function run(workers: readonly Worker[]): { readonly stop: () => Promise<void> } {
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    stop: async () => {
      for (const worker of workers) worker.shutdown();
      await running;
    },
  };
}

/** A test that failed half-way leaves its workflow open. */
async function endQuietly(task: Pick<RunningTask, 'describe' | 'terminate'>): Promise<void> {
  const { status } = await task.describe();
  if (status.name === 'RUNNING') await task.terminate('the test is over');
}

/**
 * Waits until the task is listed under this status. A query could be ahead of it: its answer may stand on an event whose
 * workflow task has not begun, and an update sent then would be handled before that event.
 */
export async function whenStatusIs(task: RunningTask, status: LonghaulStatus): Promise<void> {
  await eventually(async () => (await listedStatusOf(task)) === status, {
    withinMs: 60_000,
    what: `status ${status}`,
  });
}

/** The status under which an operator finds the task in a list. */
export async function listedStatusOf(task: RunningTask): Promise<string | undefined> {
  return (await task.describe()).typedSearchAttributes.get(searchAttributes.status);
}

/** The failure that the workflow ended with, by its durable type. */
export async function failureOf(task: { readonly result: () => Promise<unknown> }): Promise<ApplicationFailure> {
  try {
    await task.result();
  } catch (error) {
    if (error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure) return error.cause;
    throw error;
  }
  throw new Error('The workflow completed.');
}

/** How a workflow ended, in Temporal's words: `COMPLETED`, `FAILED` or `CANCELLED`. */
export async function executionOf(
  task: Pick<RunningTask, 'describe'> & { readonly result: () => Promise<unknown> },
): Promise<string> {
  await task.result().catch(() => undefined);
  return (await task.describe()).status.name;
}

/** The words and the outcome of the task's request to end it by this verb. */
export async function stopRequestOf(task: RunningTask, verb: StopVerb): Promise<StopRequestView> {
  const { stopRequests } = await task.query(statusQuery);
  const request = stopRequests.find((one) => one.verb === verb);
  if (request === undefined) throw new Error(`Nobody asked for ${verb}.`);
  return request;
}

/** Waits until the request to end the task by this verb stands so. */
export async function whenRequestIs(task: RunningTask, verb: StopVerb, outcome: StopOutcome): Promise<void> {
  const what = `the request ${verb} to be ${outcome}`;
  await eventually(async () => (await stopRequestOf(task, verb)).outcome === outcome, { withinMs: 60_000, what });
}
