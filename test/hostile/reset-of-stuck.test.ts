import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { workflowSources } from '../../src/workflow-sources';
import { findTemporalProgram } from '../../tools/find-temporal';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import type { Problem } from '../../src';
import { eventually } from '../support/eventually';
import { workflowSinks } from '../support/task-workers';

let environment: ClientEnvironment;
let native: NativeConnection;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  native = await NativeConnection.connect({ address: environment.address });
});
afterAll(async () => {
  await environment.close();
  await native.close();
});

function stuckOnly(problem: Problem | null): Problem | undefined {
  return problem?.code === 'Stuck' ? problem : undefined;
}

describe('a task that a signal has wedged', () => {
  it('is freed by the command of the runbook, and has to be asked again to stop', async () => {
    const { longhaul, temporal, address, taskQueue } = environment;
    const workflowBundle = await bundleWorkflowCode({
      ...workflowSources(),
      workflowsPath: require.resolve('../support/wedged-workflows'),
      logger: new DefaultLogger('WARN'),
    });
    const worker = await Worker.create({ connection: native, taskQueue, workflowBundle, sinks: workflowSinks });
    await worker.runUntil(async () => {
      const task = await longhaul.start({ ...smallInput, key: randomUUID() });
      const workflow = temporal.workflow.getHandle(task.workflowId);
      await eventually(async () => (await workflow.fetchHistory()).events?.length === 4);
      await workflow.signal('wedge');
      await eventually(async () => stuckOnly((await task.status()).problem), { withinMs: 60_000 });
      await task.stop();
      const page = await readFile('docs/explanation/operations.md', 'utf8');
      const command = /^temporal (workflow reset --workflow-id ID .*)$/m.exec(page)?.[1] ?? '';
      const { path } = await findTemporalProgram();
      await promisify(execFile)(path, [...command.replace('ID', task.workflowId).split(' '), '--address', address]);
      await eventually(async () => (await task.status()).problem?.code !== 'Stuck');
      await eventually(async () => (await workflow.query<string>('state')) === 'not asked to stop');
      expect((await workflow.describe()).status.name).toBe('RUNNING');
      await task.stop();
      await eventually(async () => (await workflow.describe()).status.name === 'CANCELLED');
    });
  });
});
