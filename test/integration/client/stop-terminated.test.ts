import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../../src/commands/program';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { seen } from '../../support/fake-activities';
import { ClientEnvironment, smallInput } from './client-environment';

let environment: ClientEnvironment;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine(args, context);
  return context;
}

/** Terminates the workflow of a task that the service shows so, and gives its key. */
async function terminated(status: 'Running' | 'Success'): Promise<string> {
  const key = randomUUID();
  environment.service.requestId = randomUUID();
  environment.service.script = [seen(status)];
  const task = await environment.longhaul.start({ ...smallInput, key });
  await eventually(async () => (await task.status()).serviceStatus === status);
  if (status === 'Success') await task.result();
  else await environment.temporal.workflow.getHandle(task.workflowId).terminate('by hand');
  return key;
}

describe('longhaul stop of a task whose workflow was terminated', () => {
  it('says that the task may run on, and how it is followed and stopped', async () => {
    const key = await terminated('Running');
    const requestId = environment.service.requestId;
    const { exitCode, stderr } = await run('stop', key);
    expect(stderr.text).toBe(
      `Not asked to stop: the workflow task:${key} is over (terminated), and its task may run on at the service, and be paid. Follow it, then stop that:\n  longhaul adopt ${requestId} --detach\n  longhaul stop adopt-${requestId} --wait\n`,
    );
    expect(exitCode).toBe(5);
  });

  it('says of one that ended that it takes no more requests', async () => {
    const { exitCode, stderr } = await run('stop', await terminated('Success'));
    expect(stderr.text).toMatch(/is over already and takes no more requests/);
    expect(exitCode).toBe(2);
  });
});
