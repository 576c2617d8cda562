import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../../src/commands/program';
import type { ProblemCode } from '../../../src/contract/problem';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { FakeContext } from '../../support/fake-context';
import { refusedCreate } from '../../support/refused-create';
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

/** Starts a task of this state; returns its key, and how many creates were sent for its app since. */
async function start(status: string): Promise<{ readonly key: string; readonly creates: () => readonly number[] }> {
  const { service, longhaul } = environment;
  const [key, before] = [randomUUID(), service.calls.creates.length];
  service.requestId = randomUUID();
  await longhaul.start({ ...smallInput, key }, { tags: ['of:the-test'] });
  await eventually(async () => (await longhaul.task(key).status()).status === status, { what: status });
  return { key, creates: () => service.calls.creates.slice(before).map(({ createNumber }) => createNumber) };
}

describe('longhaul retry', () => {
  it('starts what the service ended again, with its own input and tags, as a new create', async () => {
    environment.service.script = [seen('Failed')];
    const { key, creates } = await start('Failed');
    environment.service.script = [seen('Success')];
    environment.service.requestId = randomUUID();
    const { exitCode, stdout } = await run('retry', key, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ requestId: environment.service.requestId, status: 'Success' });
    expect(creates()).toEqual([1, 2]);
    expect(await environment.longhaul.task(key).status()).toMatchObject({ tags: ['of:the-test'] });
    const [first, second] = environment.service.calls.creates.slice(-2);
    expect(second?.inputs).toEqual(first?.inputs);

    expect((await run('retry', key)).exitCode).toBe(2);
    expect(creates()).toEqual([1, 2]);
  });

  it('follows what may still run, and creates nothing', async () => {
    environment.service.script = [seen('Running')];
    const { key, creates } = await start('Running');
    expect((await run('retry', key)).exitCode).toBe(2);
    await environment.temporal.workflow.getHandle(`task:${key}`).terminate();
    environment.service.script = [seen('Success')];
    expect((await run('retry', key)).exitCode).toBe(0);
    expect(creates()).toEqual([1]);
  });

  it('repeats an uncertain create under its own number, which its record stops if it was sent', async () => {
    environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
    const { key, creates } = await start('CreateUncertain');
    await run('resolve', key, '--abandon');
    await expect(environment.longhaul.task(key).result()).rejects.toMatchObject({ failureType: 'CreateUncertain' });
    environment.service.script = [seen('Success')];
    expect((await run('retry', key)).exitCode).toBe(0);
    expect(creates()).toEqual([1, 1]);
  });

  it('refuses what is no task, or a row', async () => {
    for (const id of ['batch:photos:row-1', 'batch:photos', randomUUID()]) {
      expect(await run('retry', id)).toMatchObject({ exitCode: 2 });
    }
  });
});

describe('longhaul retry-now', () => {
  it.each(['waits', 'is paused'])('has a create that %s tried at once', async (how) => {
    const { service, temporal, longhaul } = environment;
    service.createOutcomes = [refusedCreate(503, 'busy', { retryAfterMs: 600_000 })];
    service.script = [seen('Running')];
    const { key, creates } = await start('Creating');
    const workflowId = `task:${key}`;
    const isKnownAs = async (code: ProblemCode): Promise<boolean> =>
      (await longhaul.task(key).status()).problem?.code === code;
    await eventually(() => isKnownAs('Retrying'));
    if (how === 'is paused') {
      const create = { namespace: 'default', execution: { workflowId }, type: 'createTask', identity: 'an operator' };
      await temporal.workflowService.pauseActivity(create);
      await eventually(() => isKnownAs('Paused'));
    }
    const { stdout } = await run('retry-now', key, '--json');
    expect(JSON.parse(stdout.text)).toEqual({ workflowId, steps: ['createTask'] });
    await eventually(async () => (await longhaul.task(key).status()).status === 'Running');
    expect(creates()).toEqual([1, 1]);
    expect(JSON.parse((await run('retry-now', key, '--json')).stdout.text)).toMatchObject({ steps: [] });
    await temporal.workflow.getHandle(workflowId).terminate();
  });
});
