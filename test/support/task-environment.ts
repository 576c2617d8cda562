import { randomUUID } from 'node:crypto';
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
import type { BatchInput } from '../../src/contract/batch-input';
import type { BatchResult } from '../../src/contract/batch-messages';
import { batchWorkflowId, rowWorkflowId } from '../../src/contract/workflow-ids';
import type { Activities } from '../../src/contract/activities';
import { searchAttributes } from '../../src/contract/search-attributes';
import { statusQuery, type StopRequestView } from '../../src/contract/task-messages';
import type { BatchMembership, TaskInput, TaskTuning } from '../../src/contract/task-input';
import type { TaskResult } from '../../src/contract/task-result';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../../src/contract/task-queues';
import type { StopOutcome, StopVerb } from '../../src/domain/stop-request';
import type { LonghaulStatus } from '../../src/domain/task-state';
import { workflowThread } from '../../src/worker';
import { eventually } from './eventually';
import { quietRuntime } from './quiet-runtime';
import { workflowBundle } from './workflow-bundle';
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
    await this.native.close();
    await this.connection.close();
  }

  /** Starts one task on queues of its own, runs workers for it while `during` runs, and stops them. */
  withTask<T>(
    activities: Activities,
    input: TestInput,
    during: (task: StartedTask) => Promise<T>,
    options: WorkerChoices = {},
  ): Promise<T> {
    return this.withWorkers(activities, async (start) => during(await start(input)), options);
  }

  /** Runs one batch on a queue of its own, over activities of the test's choice. */
  async withBatch<T>(
    activities: BatchActivities,
    input: BatchInput,
    during: (batch: RunningBatch, taskQueue: string) => Promise<T>,
    options: Pick<WorkerChoices, 'maxCachedWorkflows'> = {},
  ): Promise<T> {
    const taskQueue = `test-${randomUUID()}`;
    const { native: connection, bundle: workflowBundle } = this;
    const worker = await Worker.create({
      ...{ connection, workflowBundle, taskQueue, activities },
      ...workflowThread,
      ...options,
    });
    const running = worker.run();
    const batch: RunningBatch = await this.client.workflow.start('batch', {
      taskQueue,
      workflowId: batchWorkflowId(input.id),
      workflowExecutionTimeout: '5 minutes',
      args: [input],
    });
    try {
      return await during(batch, taskQueue);
    } finally {
      await endQuietly(batch);
      worker.shutdown();
      await running;
    }
  }

  /** Runs workers on queues of their own while `during` runs, which starts tasks there; then stops all of it. */
  async withWorkers<T>(
    activities: Activities,
    during: (start: StartTask, taskQueue: string) => Promise<T>,
    { executionTimeout = '90 seconds', workflowWorkers = 1, transferSlots = 16, ...options }: WorkerChoices = {},
  ): Promise<T> {
    const taskQueue = `test-${randomUUID()}`;
    // Temporal's core has no two workers of one queue on one connection.
    const others = await Promise.all(
      Array.from({ length: workflowWorkers - 1 }, () => NativeConnection.connect({ address: temporalAddress() })),
    );
    const takesWorkflows = (connection: NativeConnection): Promise<Worker> =>
      Worker.create({
        ...{ connection, workflowBundle: this.bundle, taskQueue, activities },
        ...workflowThread,
        ...options,
      });
    const workers = await Promise.all([
      ...[this.native, ...others].map(takesWorkflows),
      Worker.create({
        connection: this.native,
        taskQueue: transferTaskQueue(taskQueue),
        activities,
        maxConcurrentActivityTaskExecutions: transferSlots,
      }),
      Worker.create({
        connection: this.native,
        taskQueue: archiveTaskQueue(taskQueue),
        activities,
        maxConcurrentActivityTaskExecutions: transferSlots,
      }),
      Worker.create({
        connection: this.native,
        taskQueue: watchTaskQueue(taskQueue),
        activities,
        maxHeartbeatThrottleInterval: 10,
      }),
    ]);
    const tasks: StartedTask[] = [];
    const start: StartTask = async (input, workflowId = testWorkflowId(input)) => {
      const task: StartedTask = await this.client.workflow.start('task', {
        taskQueue,
        workflowId,
        workflowExecutionTimeout: executionTimeout,
        memo: { startedBy: 'a test' },
        args: [{ tuning: fastTuning, ...('adopt' in input ? {} : smallTask), ...input }],
      });
      tasks.push(task);
      return task;
    };
    const running = workers.map((worker) => worker.run());
    try {
      return await during(start, taskQueue);
    } finally {
      await Promise.all(tasks.map(endQuietly));
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await Promise.all(others.map((connection) => connection.close()));
    }
  }
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
