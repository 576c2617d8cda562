import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { adoptUpdate, statusQuery } from '../../src/contract/task-messages';
import type { CheckAdoptionResult } from '../../src/contract/activities';
import { searchAttributes } from '../../src/contract/search-attributes';
import { eventually } from '../support/eventually';
import { FakeService, noObjection, seen } from '../support/fake-activities';
import { runChainOf } from '../support/run-chain';
import {
  executionOf,
  fastTuning,
  type RunningTask,
  type StartedTask,
  TaskEnvironment,
  whenStatusIs,
} from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { refusalOf, uncertain, whileUncertain } from '../support/uncertain-create';

const environment = TaskEnvironment.forSuite();

function adopt(task: RunningTask, requestId: string): Promise<unknown> {
  return task.executeUpdate(adoptUpdate, { args: [{ requestId }] });
}

describe('the update adopt', () => {
  it.concurrent('with a mistyped request id is refused, and the task still waits for the right one', async () => {
    const service = new FakeService({ knownAs: ['right'] });
    const result = await whileUncertain(environment, service, async (task) => {
      expect(await refusalOf(adopt(task, 'rihgt'))).toMatch(/rihgt.*does not know it.*still waits/);
      expect(await task.query(statusQuery)).toMatchObject({ status: 'CreateUncertain', requestId: null });
      await adopt(task, 'right');
      return await task.result();
    });
    expect(result).toMatchObject({ status: 'Success', requestId: 'right' });
    expect(service.calls.adoptionChecks).toEqual(['rihgt', 'right']);
    expect(service.calls.creates).toHaveLength(1);
  });

  it.each<[string, CheckAdoptionResult, RegExp]>([
    ['that another workflow follows', { ...noObjection, follower: 'task:other' }, /task:other follows/],
    ['that another workflow created', { ...noObjection, creator: 'task:other/1' }, /created by task:other\/1.*--force/],
    [
      'that the service has deleted',
      { ...noObjection, poll: { seen: 'gone', problem: 'It is gone.' } },
      /It is gone\./,
    ],
    [
      'that was created before this create was sent',
      { ...noObjection, createdAt: '2026-03-01T12:00:00.000Z' },
      /created the task some-task at 2026-03-01 12:00:00 UTC, and this create was sent at 20.*--force/,
    ],
    [
      'that another uncertain create may have made',
      { ...noObjection, rival: { workflowId: 'batch:a:2', sentAtMs: Date.UTC(2026, 2, 1) } },
      /create of batch:a:2, sent at 2026-03-01 00:00:00 UTC, is uncertain, too/,
    ],
    ['when the service is away', { ...noObjection, poll: { seen: 'nothing', problem: 'HTTP 503' } }, /HTTP 503/],
  ])('of a task %s is refused, with the reason', async (_, found, reason) => {
    const service = new FakeService({ onCheckAdoption: () => Promise.resolve(found) });
    await whileUncertain(environment, service, async (task) => {
      expect(await refusalOf(adopt(task, 'some-task'))).toMatch(reason);
      expect((await task.query(statusQuery)).status).toBe('CreateUncertain');
    });
  });

  it.concurrent(
    'is forced against times, records and other uncertain creates, and never against the service',
    async () => {
      const against = { createdAt: '2026-03-01T12:00:00.000Z', creator: 'task:a/1' };
      const found = { ...noObjection, ...against, rival: { workflowId: 'task:b', sentAtMs: 0 } };
      const service = new FakeService({
        onCheckAdoption: (requestId) =>
          Promise.resolve(requestId === 'unknown' ? { ...found, poll: { seen: 'notFound' } } : found),
      });
      await whileUncertain(environment, service, async (task) => {
        const force = (requestId: string) => task.executeUpdate(adoptUpdate, { args: [{ requestId, force: true }] });
        expect(await refusalOf(force('unknown'))).toContain('does not know it');
        await force('some-task');
        expect(await task.result()).toMatchObject({ requestId: 'some-task' });
      });
    },
  );

  it.concurrent('is refused when the service cannot be asked in time', async () => {
    const service = new FakeService({ onCheckAdoption: () => Promise.reject(new Error('no such account')) });
    await whileUncertain(environment, service, async (task) => {
      expect(await refusalOf(adopt(task, 'some-task'))).toMatch(/could not be asked \(no such account\); try again/);
    });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'request-1'],
    ['a list', [{ requestId: 'a' }]],
    ['another name', { request_id: 'a' }],
    ['an object for the id', { requestId: { toString: 'a' } }],
    ['a megabyte for the id', { requestId: 'x'.repeat(1_000_000) }],
    ['a line break in the id', { requestId: 'a\nb' }],
  ])('with %s is refused in words that name the argument, and without a stack', async (_, argument) => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      const error = await task.executeUpdate('adopt', { args: [argument] }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
      const { cause } = error as WorkflowUpdateFailedError;
      expect(cause).toMatchObject({ message: expect.stringContaining('{ "requestId": "…" }') as string });
      expect((cause as { failure?: { stackTrace?: string } }).failure?.stackTrace ?? '').toBe('');
      await adopt(task, 'request-1');
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
  });

  it.concurrent.each(['recreate', 'abandon', 'rearchive', 'adopt'])(
    '%s that does not apply is refused without a stack',
    async (name) => {
      const service = new FakeService({ script: [seen('Running')] });
      await environment.withTask(service.activities, { inputs: {} }, async (task) => {
        await whenStatusIs(task, 'Running');
        const error = await task.executeUpdate(name, { args: [{ requestId: 'r' }] }).catch((thrown: unknown) => thrown);
        const { cause } = error as WorkflowUpdateFailedError;
        expect(cause).toMatchObject({ message: `"${name}" does not apply: The task waits for no decision now.` });
        expect((cause as { failure?: { stackTrace?: string } }).failure?.stackTrace ?? '').toBe('');
      });
    },
  );

  it.concurrent('sent twice at once is taken once; nothing fails but the second', async () => {
    const service = new FakeService();
    const result = await whileUncertain(environment, service, async (task) => {
      const answers = await Promise.allSettled([adopt(task, 'one'), adopt(task, 'other'), adopt(task, 'third')]);
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      return await task.result();
    });
    expect(result.status).toBe('Success');
  });

  it.concurrent(
    'that is being checked when a stop comes is carried out, so that the stop can be confirmed',
    async () => {
      const service = new FakeService({ script: [seen('Running')] });
      await whileUncertain(environment, service, async (task) => {
        service.onCheckAdoption = async () => {
          await task.cancel();
          return noObjection;
        };
        await adopt(task, 'request-1');
        expect(await executionOf(task)).toBe('CANCELLED');
      });
      expect(service.calls.verbs).toEqual(['interrupt']);
    },
  );

  it.concurrent('mistyped again and again leaves a bounded history', async () => {
    const service = new FakeService({ createOutcomes: [uncertain], knownAs: ['right'] });
    const input = { inputs: {}, tuning: { ...fastTuning, continueAsNewAfterEvents: 60 } };
    await environment.withTask(service.activities, input, async (task: StartedTask) => {
      await whenStatusIs(task, 'CreateUncertain');
      for (let index = 0; index < 20; index += 1) {
        expect(await refusalOf(adopt(task, `wrong-${index}`))).toContain('does not know it');
      }
      await adopt(task, 'right');
      await task.result();
      const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
      expect(Math.max(...chain.map(({ events }) => events.length))).toBeLessThan(120);
      expect(chain.length).toBeGreaterThan(2);
    });
  });

  it.concurrent('tells its argument in its description', async () => {
    const service = new FakeService();
    await whileUncertain(environment, service, async (task) => {
      const metadata: unknown = await task.query('__temporal_workflow_metadata');
      const { updateDefinitions } = (
        metadata as { definition: Record<string, { name: string; description: string }[]> }
      ).definition;
      expect(updateDefinitions?.find(({ name }) => name === 'adopt')?.description).toContain('{ "requestId": "…" }');
    });
  });
});

/** Waits until a list of Temporal's has the workflow with this task. */
async function whenListed({ workflow }: Client, { workflowId }: RunningTask, requestId: string): Promise<void> {
  const query = `WorkflowId = "${workflowId}" AND ${searchAttributes.requestId.name} = "${requestId}"`;
  await eventually(async () => (await workflow.count(query)).count > 0, { what: 'the list to have it' });
}

describe('the update adopt, at a real worker', () => {
  let stack: TaskStack;
  beforeAll(async () => {
    stack = await TaskStack.open();
  });
  afterAll(() => stack.close());

  it.concurrent('refuses an id that the service does not know, and one that another workflow follows', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
    const held = await stack.start({ webAppId: 5, inputs: {} });
    await whenStatusIs(held, 'Queuing');
    const requestId = (await held.query(statusQuery)).requestId ?? '';
    await eventually(
      async () => (await held.describe()).typedSearchAttributes.get(searchAttributes.requestId) === requestId,
    );

    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await stack.start({ webAppId: 5, inputs: {} });
    await whenStatusIs(task, 'CreateUncertain');
    const own = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
    expect(await refusalOf(adopt(task, `${own}0`))).toContain('The service does not know it');
    await eventually(async () => (await refusalOf(adopt(task, requestId))).includes(held.workflowId), {
      what: 'the follower to be found in the list',
    });
    await adopt(task, own);
    expect(await task.result()).toMatchObject({ status: 'Success', requestId: own });
    await held.cancel();
    expect(await executionOf(held)).toBe('CANCELLED');
  });

  it('refuses an id that a workflow created which is over, and takes one that another only adopted', async () => {
    const over = await stack.start({ webAppId: 5, inputs: {} });
    const { requestId } = (await over.result()) as { requestId: string };
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await stack.start({ webAppId: 5, inputs: {} });
    await whenStatusIs(task, 'CreateUncertain');
    const requestIds = stack.service.ledger.entries({ endpoint: 'create' }).map((entry) => entry.requestId ?? '');
    const own = requestIds.at(-1) ?? '';
    const adopted = await stack.start({ adopt: { requestId: own } });
    await adopted.result();
    await whenListed(stack.client, over, requestId);
    await whenListed(stack.client, adopted, own);

    expect(await refusalOf(adopt(task, requestId))).toContain(`was created by ${over.workflowId}`);
    expect((await task.query(statusQuery)).status).toBe('CreateUncertain');
    await adopt(task, own);
    expect(await task.result()).toMatchObject({ status: 'Success', requestId: own });
  });
});
