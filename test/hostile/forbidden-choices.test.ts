import { randomUUID } from 'node:crypto';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import type { TaskInput } from '../../src/contract/task-input';
import { rowWorkflowId } from '../../src/contract/workflow-ids';
import { fastTuning } from '../support/task-environment';
import { photoFolder, TaskStack } from '../support/task-stack';

let stack: TaskStack;

beforeAll(async () => {
  const env = { LONGHAUL_ALLOW_ACCOUNTS: 'default', LONGHAUL_REFUSE: 'tuning,recreate' };
  stack = await TaskStack.open({ env });
});

afterAll(() => stack.close());

/** As any client of Temporal may start it, with nothing but this input. */
async function run(input: TaskInput): Promise<unknown> {
  const { client, taskQueue } = stack;
  const { batch } = input;
  const workflowId = batch === undefined ? `task:${randomUUID()}` : rowWorkflowId(batch.id, batch.key);
  const options = { taskQueue, workflowId, workflowExecutionTimeout: '90 seconds' } as const;
  return await client.workflow.execute('task', { ...options, args: [input] });
}

async function failureOf(input: TaskInput): Promise<unknown> {
  try {
    await run(input);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    let cause: unknown = error.cause;
    while (cause instanceof Error && !(cause instanceof ApplicationFailure)) cause = cause.cause;
    return cause;
  }
  return undefined;
}

/** Uploads, commits and creates that the service was asked for. */
function paidFor(): number {
  return stack.service.ledger
    .entries()
    .filter(({ endpoint = '' }) => ['create', 'upload-token', 'commit'].includes(endpoint)).length;
}

const values = { webAppId: 5, inputs: {} };
const withFile = { webAppId: 1, inputs: { '1:LoadImage.image': { file: `${photoFolder}/rocket.jpg` } } };
const row = { batch: { id: randomUUID(), key: 'a' } };

describe('a worker whose operator forbids choices', () => {
  it.each<[string, TaskInput, string]>([
    ['tuning, before the create', { ...values, tuning: fastTuning }, 'tuning is {'],
    ['tuning, before the upload', { ...withFile, tuning: fastTuning }, 'tuning is {'],
    ['tuning of a row', { ...values, ...row, tuning: fastTuning }, 'tuning is {'],
    ['a second create', { ...values, onUncertain: 'recreate' }, 'onUncertain is "recreate"'],
    ['an account', { ...withFile, account: 'studio' }, 'account is "studio"'],
  ])('refuses %s, of a raw start too, and nothing is sent to the service', async (_what, input, message) => {
    const failure = await failureOf(input);

    expect(failure).toMatchObject({ type: 'NotAllowed', message: expect.stringContaining(message) as string });
    expect(paidFor()).toBe(0);
  });

  it('runs a task that chose nothing of that', async () => {
    expect(await run({ ...values, onUncertain: 'hold' })).toMatchObject({ status: 'Success' });
  });
});
