import { randomUUID } from 'node:crypto';
import { InputChangedError, InputInvalidError } from '../../../src/client/errors';
import { runCommandLine } from '../../../src/commands/program';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { FakeContext } from '../../support/fake-context';
import { ClientEnvironment, smallInput } from './client-environment';

const { tuning } = smallInput;
let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});

afterAll(() => environment.close());

beforeEach(() => {
  const { service } = environment;
  service.calls.creates = [];
  service.calls.archives = [];
  service.requestId = randomUUID();
  service.script = [seen('Success')];
});

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine([...args, '--task-queue', environment.taskQueue], context);
  return context;
}

/** Starts a task that goes on until the script changes, and waits until a list shows its request id. */
async function startRunning(key: string): Promise<void> {
  const { longhaul, service, temporal } = environment;
  service.script = [seen('Running')];
  await longhaul.start({ ...smallInput, key });
  const query = `WorkflowId = "task:${key}" AND ExecutionStatus = "Running"`;
  await eventually(async () => {
    for await (const { typedSearchAttributes } of temporal.workflow.list({ query })) {
      if (typedSearchAttributes.get(searchAttributes.requestId) === service.requestId) return true;
    }
    return false;
  });
}

describe('adopting a task', () => {
  it('twice at once follows it once', async () => {
    const { longhaul, service } = environment;
    service.script = [seen('Running')];
    const tasks = await Promise.all([1, 2, 3, 4].map(() => longhaul.adopt(service.requestId, { tuning })));
    service.script = [seen('Success')];

    expect(new Set(tasks.map(({ workflowId }) => workflowId))).toEqual(new Set([`task:adopt-${service.requestId}`]));
    expect(tasks.filter(({ origin }) => origin === 'started')).toHaveLength(1);
    await expect(tasks[0]?.result()).resolves.toMatchObject({ status: 'Success', requestId: service.requestId });
    expect(service.calls.creates).toEqual([]);
  });

  it.each([
    ['a plain id', randomUUID()],
    ['an id that holds what a filter of Temporal’s would take for its own', `${randomUUID()}/a:"OR"='1'\\"\\`],
  ])('attaches to the workflow that follows it already, whatever its key: %s', async (_, requestId) => {
    const key = randomUUID();
    const { service } = environment;
    service.requestId = requestId;
    await startRunning(key);
    const context = await run('adopt', service.requestId, '--detach', '--json');

    expect(context.stderr.text).toBe(`Following, for it exists already: task:${key}\n`);
    expect(JSON.parse(context.stdout.text)).toEqual({ workflowId: `task:${key}`, origin: 'attached', url: null });
    service.script = [seen('Success')];
    await environment.longhaul.task(key).result();
  });

  it('takes it over when the workflow that followed it was terminated, at once', async () => {
    const key = randomUUID();
    const { longhaul, service, temporal } = environment;
    await startRunning(key);
    await temporal.workflow.getHandle(`task:${key}`).terminate('by hand');
    service.script = [seen('Success')];

    const task = await longhaul.adopt(service.requestId, { tuning });

    expect(task).toMatchObject({ origin: 'started', workflowId: `task:adopt-${service.requestId}` });
    await expect(task.result()).resolves.toMatchObject({ status: 'Success', requestId: service.requestId });
  });

  it('again when its workflow is over archives it again, wherever that is wanted', async () => {
    const { longhaul, service } = environment;
    await (await longhaul.adopt(service.requestId, { tuning })).result();

    const again = await longhaul.adopt(service.requestId, { tuning, archive: 'elsewhere' });

    expect(again).toMatchObject({ origin: 'started', workflowId: `task:adopt-${service.requestId}` });
    await again.result();
    expect(service.calls.archives.map(({ folder }) => folder)).toEqual(['', 'elsewhere']);
  });

  it('under a key that stands for something else is refused, running or over', async () => {
    const key = randomUUID();
    const { longhaul, service } = environment;
    await (await longhaul.start({ ...smallInput, key })).result();

    const adopted = longhaul.adopt(randomUUID(), { key, tuning });

    await expect(adopted).rejects.toThrow(InputChangedError);
    expect(service.calls.creates).toHaveLength(1);
  });

  it('by what cannot be a request id is refused before anything is sent', async () => {
    await expect(environment.longhaul.adopt('a b')).rejects.toThrow(InputInvalidError);
  });
});

describe('longhaul adopt', () => {
  it('follows the task to its archived outputs, as run does', async () => {
    const { service } = environment;
    const context = await run('adopt', service.requestId);

    expect(context.exitCode).toBe(0);
    expect(context.stderr.text).toMatch(new RegExp(`^Started task:adopt-${service.requestId}\\n`));
    expect(context.stdout.text).toMatch(/^Success {2}task:adopt-/);
  });

  it('ends with 3 when the task failed at the service', async () => {
    environment.service.script = [seen('Failed')];
    const context = await run('adopt', environment.service.requestId, '--json');

    expect(context.exitCode).toBe(3);
    expect(JSON.parse(context.stdout.text)).toMatchObject({ error: { type: 'TaskFailed', exitCode: 3 } });
  });
});
