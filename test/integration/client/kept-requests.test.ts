import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../../src/commands/program';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
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

async function uncertain(): Promise<string> {
  const key = randomUUID();
  environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
  const task = await environment.longhaul.start({ ...smallInput, key });
  await eventually(async () => (await task.status()).status === 'CreateUncertain');
  return key;
}

describe('longhaul resolve of a task that was asked to end while its create was uncertain', () => {
  it('says that the request is kept and ends the task that is followed from now on', async () => {
    const key = await uncertain();
    await run('cancel', key);
    await run('interrupt', key);
    const { stderr } = await run('resolve', key, '--adopt', randomUUID());
    expect(stderr.text).toBe(
      `It was asked to cancel and to interrupt before, which is kept and applies from now on: longhaul status ${key}\n`,
    );
    await environment.temporal.workflow.getHandle(`task:${key}`).terminate('the test is over');
  });

  it('says nothing of requests where there were none', async () => {
    const key = await uncertain();
    expect((await run('resolve', key, '--adopt', randomUUID())).stderr.text).toBe('');
    await environment.temporal.workflow.getHandle(`task:${key}`).terminate('the test is over');
  });
});
