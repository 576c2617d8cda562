import { randomUUID } from 'node:crypto';
import {
  Client,
  WorkflowFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { BatchActivities } from '../../src/contract/batch/batch-activities';
import type { BatchInput } from '../../src/contract/batch/batch-input';
import type { BatchResult } from '../../src/contract/batch/batch-messages';
import { batchWorkflowId, rowWorkflowId } from '../../src/contract/workflow-ids';
import type { Activities } from '../../src/contract/activities';
import { searchAttributes } from '../../src/contract/search-attributes';
import { statusQuery, type StopRequestView } from '../../src/contract/task-messages';
import type { BatchMembership } from '../../src/contract/archive-folder';
import type { TaskInput, TaskTuning } from '../../src/contract/task-input';
import type { TaskResult } from '../../src/contract/task-result';
import type { StopOutcome, StopVerb } from '../../src/core/stop-request';
import type { LonghaulStatus } from '../../src/core/task-state';
import { eventually } from './eventually';
import { activitiesByWorkflow } from './fake-activities';
import { quietRuntime } from './quiet-runtime';
import { TaskWorkers, type WorkerChoices } from './task-workers';
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

export type RunningTask = WorkflowHandle<(input: TaskInput) => Promise<TaskResult>>;

export type RunningBatch = WorkflowHandleWithFirstExecutionRunId<(input: BatchInput) => Promise<BatchResult>>;

/** The same, as it was started here: it knows its first run. */
export type StartedTask = WorkflowHandleWithFirstExecutionRunId<(input: TaskInput) => Promise<TaskResult>>;

/** Fields of a task's input that differ from those of {@link smallTask} and {@link fastTuning}; may be malformed. */
export type TestInput = Partial<TaskInput> & Record<string, unknown>;

export type StartTask = (input: TestInput, workflowId?: string) => Promise<StartedTask>;

/** The only id that the workflow of a row may have, or one that no other task has. */
export function testWorkflowId({ batch }: { readonly batch?: BatchMembership }): string {
  return batch === undefined ? `task:${randomUUID()}` : rowWorkflowId(batch.id, batch.key);
}

/** How long a task may stay open when its test fails, and what differs from a worker's defaults. */
interface TestChoices extends WorkerChoices {
  /** @default '90 seconds' */
  readonly executionTimeout?: `${number} seconds`;
}

interface Connections {
  readonly client: Client;
  readonly native: NativeConnection;
}

/** The real dev server with the real workflows, and activities of the test's choice. */
export class TaskEnvironment {
  #connections: Connections | undefined;
  readonly #sharedQueue = `test-${randomUUID()}`;
  #shared: Promise<TaskWorkers> | undefined;
  /** What the shared workers do for a workflow, by its id. */
  readonly #activities = new Map<string, object>();

  /** One for all tests of a suite: opened before the first and closed after the last. */
  static forSuite(): TaskEnvironment {
    const environment = new TaskEnvironment();
    beforeAll(() => environment.open());
    afterAll(() => environment.close());
    return environment;
  }

  async open(): Promise<void> {
    quietRuntime();
    const address = temporalAddress();
    const client = new Client({ connection: await connectClient(address) });
    this.#connections = { client, native: await NativeConnection.connect({ address }) };
  }

  async close(): Promise<void> {
    await (await this.#shared)?.stop();
    await this.#connections?.native.close();
    await this.#connections?.client.connection.close();
  }

  get client(): Client {
    return this.#connected.client;
  }

  get #connected(): Connections {
    if (this.#connections === undefined) throw new Error('The environment is not open.');
    return this.#connections;
  }

  /** Starts one task, on workers that all tests of this environment share unless one is chosen, and ends it. */
  async withTask<T>(
    activities: Activities,
    input: TestInput,
    during: (task: StartedTask) => Promise<T>,
    choices: TestChoices = {},
  ): Promise<T> {
    const { executionTimeout, ...own } = choices;
    if (Object.keys(own).length > 0) {
      return await this.withWorkers(activities, async (start) => during(await start(input)), choices);
    }
    const workflowId = testWorkflowId(input);
    const taskQueue = await this.#share(workflowId, activities);
    const task = await this.#start(taskQueue, workflowId, input, executionTimeout);
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
  ): Promise<T> {
    const workflowId = batchWorkflowId(input.id);
    const taskQueue = await this.#share(workflowId, activities);
    const batch: RunningBatch = await this.client.workflow.start('batch', {
      ...{ taskQueue, workflowId, workflowExecutionTimeout: '5 minutes' },
      args: [input],
    });
    try {
      return await during(batch, taskQueue);
    } finally {
      await endQuietly(batch);
    }
  }

  /** Runs workers on queues of their own while `during` runs, which starts tasks there; then stops all of it. */
  async withWorkers<T>(
    activities: object,
    during: (start: StartTask, taskQueue: string) => Promise<T>,
    { executionTimeout, ...choices }: TestChoices = {},
  ): Promise<T> {
    const taskQueue = `test-${randomUUID()}`;
    const workers = await TaskWorkers.start(this.#connected.native, taskQueue, activities, choices);
    const tasks: StartedTask[] = [];
    try {
      return await during(async (input, workflowId = testWorkflowId(input)) => {
        const task = await this.#start(taskQueue, workflowId, input, executionTimeout);
        tasks.push(task);
        return task;
      }, taskQueue);
    } finally {
      await Promise.all(tasks.map(endQuietly));
      await workers.stop();
    }
  }

  /** Gives these activities for this workflow to the shared workers, and tells their queue. */
  async #share(workflowId: string, activities: object): Promise<string> {
    this.#activities.set(workflowId, activities);
    const all = activitiesByWorkflow((id) => this.#activities.get(id));
    await (this.#shared ??= TaskWorkers.start(this.#connected.native, this.#sharedQueue, all));
    return this.#sharedQueue;
  }

  async #start(
    taskQueue: string,
    workflowId: string,
    input: TestInput,
    executionTimeout: TestChoices['executionTimeout'] = '90 seconds',
  ): Promise<StartedTask> {
    return await this.client.workflow.start('task', {
      ...{ taskQueue, workflowId, workflowExecutionTimeout: executionTimeout },
      memo: { startedBy: 'a test' },
      args: [{ tuning: fastTuning, ...('adopt' in input ? {} : smallTask), ...input }],
    });
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
