import { randomUUID } from 'node:crypto';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { Finding } from '../../src/client/diagnose';
import { WorkflowStuckError } from '../../src/client/errors';
import { runCommandLine } from '../../src/commands/program';
import { problemText } from '../../src/contract/problem';
import { overloadAdvice, stuckAdvice } from '../../src/contract/task-advice';
import { batchWorkflowId } from '../../src/contract/workflow-ids';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import type { Problem } from '../../src';
import { eventually } from '../support/eventually';
import { seen } from '../support/fake-activities';
import { FakeContext } from '../support/fake-context';

let environment: ClientEnvironment;
let native: NativeConnection;
let broken: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  native = await NativeConnection.connect({ address: environment.address });
  broken = await bundleWorkflowCode({
    workflowsPath: require.resolve('../support/broken-workflows'),
    logger: new DefaultLogger('WARN'),
  });
});
afterAll(async () => {
  await environment.close();
  await native.close();
});

/** Runs a worker whose workflow code is broken. */
async function withBrokenWorker<T>(during: () => Promise<T>): Promise<T> {
  const { taskQueue } = environment;
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle: broken });
  return await worker.runUntil(during);
}

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine(args, context);
  return context;
}

/** What a command prints. */
async function printed(...args: string[]): Promise<string> {
  return (await run(...args)).stdout.text;
}

function stuckOnly(problem: Problem | null): Problem | undefined {
  return problem?.code === 'Stuck' ? problem : undefined;
}

describe('a task and a batch whose workflow tasks fail', () => {
  it('are told as stuck, with what to do, by status, list and doctor, and go on with a worker that is whole', async () => {
    const { longhaul, service, taskQueue } = environment;
    const task = await longhaul.start({ ...smallInput, key: randomUUID() });
    const other = await longhaul.start({ ...smallInput, key: randomUUID() });
    const id = randomUUID();
    const rows = { location: 'rows', digest: 'ab', rows: 1, pages: 1 };
    const batch = await longhaul.startBatch({ id, rows });
    await withBrokenWorker(async () => {
      const stuck = await eventually(async () => stuckOnly((await task.status()).problem));
      expect(stuck).toMatchObject(stuckAdvice('this worker is broken'));
      await expect(task.abandon()).rejects.toThrow(WorkflowStuckError);
      await eventually(async () => stuckOnly((await batch.status()).problem));
      const listed = await eventually(
        async () => {
          for await (const one of longhaul.list({ problem: 'Stuck' }))
            if (one.workflowId === task.workflowId) return one;
          return undefined;
        },
        { withinMs: 60_000, what: 'Temporal to report the problem' },
      );
      expect(listed?.problem).toMatchObject({ code: 'Stuck' });
      expect(listed?.problem?.message).toContain('category=WorkflowTaskFailed');
      expect(await task.problem()).toMatchObject({ code: 'Stuck' });

      const stopped = await run('stop', other.workflowId);
      expect(stopped.stderr.text).toMatch(
        /^Asked task:\S+ to stop\..*\nIts workflow tasks fail .* a stop does not reach it/,
      );
      expect(await printed('status', task.workflowId)).toMatch(/problem\s+Stuck.*: Its workflow tasks fail/);
      expect(await printed('list', '--problem', 'Stuck')).toContain(
        `${task.workflowId}: Stuck: Its workflow tasks fail`,
      );
      expect(await printed('batch', 'status', id)).toMatch(/problem\s+Stuck.*: Its workflow tasks fail/);
      const { findings } = JSON.parse(await printed('doctor', '--json', '--task-queue', taskQueue)) as {
        findings: Finding[];
      };
      const finding = findings.find(({ check }) => check === 'Stuck tasks and batches');
      expect(finding).toMatchObject({ isOk: false, remedy: problemText(stuckAdvice('this worker is broken')) });
      expect(finding?.found).toMatch(/make no progress/);
    });

    service.script = [seen('Running')];
    service.onVerb = () => {
      service.script = [seen('Canceled')];
      return { taken: true };
    };
    await environment.temporal.workflow.getHandle(batchWorkflowId(id)).terminate();
    await environment.temporal.workflow.getHandle(other.workflowId).terminate();
    await environment.startWorkers();
    await eventually(async () => (await task.status()).status === 'Running', { withinMs: 60_000 });
    expect((await task.status()).problem).toBeNull();
    await task.stop();
    expect(await task.result()).toMatchObject({ status: 'Canceled' });
  });
});

describe('a task whose workflow tasks time out', () => {
  it('is told to go on by itself, by status and doctor, and is not told as stuck', async () => {
    const { temporal: client, longhaul } = environment;
    const taskQueue = `test-${randomUUID()}`;
    const workflowId = `task:${randomUUID()}`;
    const workflow = await client.workflow.start('task', {
      ...{ taskQueue, workflowId, args: [{ webAppId: 7, inputs: {} }], workflowTaskTimeout: '1 second' },
    });
    // A worker that has too much to do takes what it cannot end in time.
    const take = () =>
      client.workflowService.pollWorkflowTaskQueue({
        namespace: 'default',
        taskQueue: { name: taskQueue },
        identity: 'busy',
      });
    const status = await eventually(
      async () => {
        await take();
        const { problem } = await longhaul.task(workflowId).status();
        return problem?.code === 'Overloaded' ? problem : undefined;
      },
      { withinMs: 60_000, what: 'workflow tasks that timed out' },
    );
    expect(status?.remedy).toMatch(/goes on by itself/);
    const finding = await eventually(
      async () => {
        await take();
        const { findings: all } = JSON.parse(await printed('doctor', '--json', '--task-queue', taskQueue)) as {
          findings: Finding[];
        };
        return all.find(({ check, isOk }) => check === 'Stuck tasks and batches' && !isOk);
      },
      { withinMs: 60_000, what: 'Temporal to report the problem' },
    );
    expect(finding).toMatchObject({ remedy: problemText(overloadAdvice) });
    await workflow.terminate();
  });
});
