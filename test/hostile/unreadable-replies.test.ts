import { randomUUID } from 'node:crypto';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { ReplyInvalidError, TaskFailedError } from '../../src/client/errors';
import type { ListedTask } from '../../src/client/task/list-tasks';
import { TemporalRowTasks } from '../../src/client/batch/row-tasks';
import { runCommandLine } from '../../src/commands/program';
import { batchWorkflowId, rowWorkflowId, taskWorkflowId } from '../../src/contract/workflow-ids';
import { workflowSources } from '../../src/workflow-sources';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import { eventually } from '../support/eventually';
import { FakeContext } from '../support/fake-context';
import type { ForeignPlan } from '../support/foreign-workflows';
import { jsonPayload, RawMessages, undecodablePayloads } from '../support/raw-messages';
import { workflowSinks } from '../support/task-workers';

/* What Temporal keeps of workflows that another program started, ran and ended under Longhaul's names and ids. */

let environment: ClientEnvironment;
let native: NativeConnection;
let worker: { readonly stop: () => Promise<void> };
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  native = await NativeConnection.connect({ address: environment.address });
  const workflowBundle = await bundleWorkflowCode({
    // With Longhaul's converter, since the SDK's own takes no start with such a memo.
    ...workflowSources(),
    workflowsPath: require.resolve('../support/foreign-workflows'),
    logger: new DefaultLogger('WARN'),
  });
  const foreign = await Worker.create({
    connection: native,
    taskQueue: environment.taskQueue,
    workflowBundle,
    sinks: workflowSinks,
  });
  const running = foreign.run();
  worker = {
    stop: async () => {
      foreign.shutdown();
      await running;
    },
  };
});
afterAll(async () => {
  await worker.stop();
  await native.close();
  await environment.close();
});

/** Starts a foreign workflow with a memo that cannot be decoded; resolves with its id. */
async function foreign(plan: ForeignPlan, workflowId: string): Promise<string> {
  const type = workflowId.startsWith('batch:') && workflowId.split(':').length === 2 ? 'batch' : 'task';
  await new RawMessages(environment.temporal, environment.taskQueue).start(type, workflowId, [jsonPayload(plan)], {
    memo: { fields: { ...undecodablePayloads, startId: jsonPayload(['no text']), inputDigest: jsonPayload(7) } },
  });
  return workflowId;
}

const task = (): string => taskWorkflowId(randomUUID());
const odd: readonly unknown[] = [
  null,
  7,
  'text',
  [],
  { status: 'Success', outputs: 'none', manifest: 3 },
  { status: { toString: 1 }, outputs: [null], stopRequests: 'many', since: 'never' },
];

describe('a workflow of another program', () => {
  it('whose result cannot be read is told as that', async () => {
    const plans: ForeignPlan[] = [...odd.map((result) => ({ result })), { isUndecodable: true }];
    for (const plan of plans) {
      const one = environment.longhaul.task(await foreign(plan, task()));
      await expect(one.result()).rejects.toThrow(ReplyInvalidError);
      expect(await one.status()).toMatchObject({ isOver: true, execution: 'COMPLETED' });
      const id = randomUUID();
      await foreign(plan, batchWorkflowId(id));
      await expect(environment.longhaul.batch(id).result()).rejects.toThrow(ReplyInvalidError);
    }
  });

  it('is no sweep whose result counts, when it ends as one', async () => {
    const messages = new RawMessages(environment.temporal, environment.taskQueue);
    const safe = { followed: 0, archived: 1, nothingToSave: 0, superseded: 0 };
    const real = {
      endedAt: '2026-03-01T12:00:00.000Z',
      safe,
      unsafe: { lost: 2 },
      handled: 0,
      changesSince: null,
      next: null,
      report: 'here',
      text: '',
    };
    const plans: ForeignPlan[] = [
      { result: real },
      ...[...odd, { ...real, unsafe: { odd: 1 } }, { ...real, safe: { archived: -1 } }].map((result) => ({ result })),
      { isUndecodable: true },
      { details: 1 },
    ];
    for (const plan of plans) {
      const workflowId = randomUUID();
      await messages.start('sweep', workflowId, [jsonPayload(plan)]);
      await environment.temporal.workflow
        .getHandle(workflowId)
        .result()
        .catch(() => undefined);
    }
    await eventually(async () => (await environment.longhaul.sweeps.status()).last !== null);
    expect((await environment.longhaul.sweeps.status()).last).toEqual(real);
  });

  it('whose answers cannot be read has a status all the same, without them', async () => {
    const plans: ForeignPlan[] = [
      ...odd.map((answer) => ({ answer, isOpen: true })),
      { isUndecodable: true, isOpen: true },
    ];
    for (const plan of plans) {
      const workflowId = await foreign(plan, task());
      expect(await environment.longhaul.task(workflowId).status()).toMatchObject({ execution: 'RUNNING', polls: null });
      const id = randomUUID();
      await foreign(plan, batchWorkflowId(id));
      expect(await environment.longhaul.batch(id).status()).toMatchObject({ execution: 'RUNNING', progress: null });
      for (const open of [workflowId, batchWorkflowId(id)])
        await environment.temporal.workflow.getHandle(open).terminate();
    }
  });

  it('whose failure has odd details, or such that cannot be decoded, is a failure', async () => {
    for (const details of odd) {
      const one = environment.longhaul.task(await foreign({ details: { result: details } }, task()));
      await expect(one.result()).rejects.toThrow(TaskFailedError);
      await expect(one.result()).rejects.toMatchObject({ failureType: 'Unknown' });
    }
    const one = environment.longhaul.task(await foreign({ details: 1, isUndecodable: true }, task()));
    await expect(one.result()).rejects.toThrow(ReplyInvalidError);
  });

  it('under the id of a row is the failure of that row, which no batch stands still for', async () => {
    const { temporal: client, taskQueue } = environment;
    const rows = new TemporalRowTasks({ client, address: 'here', taskQueue, webUiUrl: null });
    const plans: ForeignPlan[] = [
      ...odd.flatMap((value) => [{ result: value }, { details: { result: value } }]),
      { isUndecodable: true },
      { details: 1, isUndecodable: true },
    ];
    for (const plan of plans) {
      const batchId = randomUUID();
      await foreign(plan, rowWorkflowId(batchId, 'row'));
      expect(await eventually(() => rows.poll(batchId, 'row'))).toMatchObject({ key: 'row', status: 'Failed' });
      const input = { ...smallInput, batch: { id: batchId, key: 'row' } };
      const start = { batchId, key: 'row', originalKey: null, input, digest: 'ab', startId: 'a' } as const;
      const started = await rows.start({ ...start, previous: null, retry: 'any', mayReplace: false });
      expect(started).toMatchObject({ state: 'ended', end: { failure: { type: 'InputChanged' } } });
    }
  });

  it('is listed beside the others, and adopted and started by key without an error that says nothing', async () => {
    const workflowId = await foreign({ isOpen: true }, task());
    const listed = async (): Promise<ListedTask[]> => {
      const tasks: ListedTask[] = [];
      for await (const one of environment.longhaul.list({ limit: 1_000 })) tasks.push(one);
      return tasks;
    };
    await eventually(async () => (await listed()).some((one) => one.workflowId === workflowId));
    const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
    await runCommandLine(['list', '--limit', '1000'], context);
    expect(context.stdout.text).toContain(workflowId);
    const key = workflowId.slice('task:'.length);
    await expect(environment.longhaul.start({ ...smallInput, key })).rejects.toThrow(/another input|cannot be read/);
    await environment.temporal.workflow.getHandle(workflowId).terminate();
  });
});
