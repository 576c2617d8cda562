import { randomUUID } from 'node:crypto';
import {
  type WorkflowHandle,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowIdConflictPolicy,
  type WorkflowIdReusePolicy,
} from '@temporalio/client';
import { Longhaul } from '../../src/client/longhaul';
import type { TaskResult } from '../../src/contract/task-result';
import { eventually } from '../support/eventually';
import { forgettingMs, forgetWorkflow } from '../support/forget-workflow';
import { failureOf, fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';

/* Starts by Temporal’s own client, without a memo, beside Longhaul’s; test/languages/same-key has the whole table. */

let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(() => stack.close());

type Task = WorkflowHandle<() => Promise<TaskResult>>;

interface Policies {
  readonly reuse?: WorkflowIdReusePolicy;
  readonly conflict?: WorkflowIdConflictPolicy;
}

const same = { webAppId: 5, inputs: { '2:Wait.seconds': 0 } };
const other = { webAppId: 5, inputs: { '2:Wait.seconds': 1 } };
const long = { webAppId: 5, inputs: { '2:Wait.seconds': 3_600 } };
const invalid = { webAppId: 5, inputs: 'none' };
const tuning = { ...fastTuning, createTimeoutMs: 3_000 };

/** A start by a plain client; without policies its defaults hold: duplicates allowed, conflicts failed. */
async function start(key: string, input: object, { reuse, conflict }: Policies = {}): Promise<Task> {
  return await stack.client.workflow.start<() => Promise<TaskResult>>('task', {
    taskQueue: stack.taskQueue,
    workflowId: `task:${key}`,
    workflowExecutionTimeout: '90 seconds',
    ...(reuse !== undefined && { workflowIdReusePolicy: reuse }),
    ...(conflict !== undefined && { workflowIdConflictPolicy: conflict }),
    args: [{ ...input, tuning }] as never,
  });
}

const creates = (): number => stack.service.ledger.total('create');

async function running(key: string): Promise<{ task: Task; requestId: string }> {
  const task = await start(key, long);
  const requestId = await eventually(async () => (await longhaul.task(key).status()).requestId);
  return { task, requestId: requestId ?? '' };
}

describe('a start under the id of a task that runs', () => {
  it('with USE_EXISTING is given the task that runs, whatever its input; Longhaul’s client compares', async () => {
    const key = randomUUID();
    const { task } = await running(key);
    const before = creates();
    const attached = await start(key, other, { conflict: 'USE_EXISTING' });
    expect((await attached.describe()).runId).toBe((await task.describe()).runId);
    await expect(longhaul.start({ ...other, key, tuning })).rejects.toThrow(/another input/);
    expect((await longhaul.start({ ...long, key, tuning })).origin).toBe('attached');
    expect(creates()).toBe(before);
    await task.cancel();
  });

  it('with TERMINATE_EXISTING takes the same task over, and is refused with another input', async () => {
    const key = randomUUID();
    const { requestId } = await running(key);
    const before = creates();
    const second = await start(key, long, { conflict: 'TERMINATE_EXISTING' });
    await eventually(async () => (await longhaul.task(key).status()).requestId === requestId);
    const third = await start(key, other, { conflict: 'TERMINATE_EXISTING' });
    expect((await failureOf(third)).type).toBe('InputChanged');
    expect(second.workflowId).toBe(third.workflowId);
    expect(creates()).toBe(before);
  });
});

describe('a start under the id of a task that is over', () => {
  it('gets the same task with the same input, and is refused with another one, which is never paid', async () => {
    const key = randomUUID();
    const { requestId } = await (await start(key, same)).result();
    const before = creates();
    expect(await (await start(key, same)).result()).toMatchObject({ status: 'Success', requestId });
    expect((await failureOf(await start(key, other))).type).toBe('InputChanged');
    expect(creates()).toBe(before);
  });
});

describe('a start under the id of a task that ended as InputInvalid', () => {
  it('with REJECT_DUPLICATE is refused by Temporal; Longhaul’s client starts it', async () => {
    const key = randomUUID();
    await failureOf(await start(key, invalid));
    await expect(start(key, same, { reuse: 'REJECT_DUPLICATE' })).rejects.toThrow(WorkflowExecutionAlreadyStartedError);
    const task = await longhaul.start({ ...same, key, tuning });
    expect(task.origin).toBe('started');
    expect(await task.result()).toMatchObject({ status: 'Success' });
  });
});

describe('a start under an id that Temporal has forgotten', () => {
  it(
    'gets the same task with the same input, and is refused with another one',
    async () => {
      const key = randomUUID();
      const { requestId } = await (await start(key, same)).result();
      await forgetWorkflow(stack.client, `task:${key}`);
      const before = creates();
      expect(await (await start(key, same, { reuse: 'REJECT_DUPLICATE' })).result()).toMatchObject({ requestId });
      await forgetWorkflow(stack.client, `task:${key}`);
      expect((await failureOf(await start(key, other, { reuse: 'REJECT_DUPLICATE' }))).type).toBe('InputChanged');
      expect(creates()).toBe(before);
    },
    forgettingMs,
  );
});
