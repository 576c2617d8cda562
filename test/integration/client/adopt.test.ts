import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { InputChangedError } from '../../../src/client/errors';
import { runCommandLine } from '../../../src/commands/program';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { traceHeader } from '../../../src/contract/traces';
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

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** The place in a trace that the start of a workflow was sent with. */
async function traceparentOf(client: Client, workflowId: string): Promise<string | undefined> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const { fields } = events?.[0]?.workflowExecutionStartedEventAttributes?.header ?? {};
  const { traceparent } = JSON.parse(Buffer.from(fields?.[traceHeader]?.data ?? []).toString() || '{}') as {
    traceparent?: string;
  };
  return traceparent;
}

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine([...args, '--task-queue', environment.taskQueue], context);
  return context;
}

async function status(id: string): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine(['status', id], context);
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
    expect(JSON.parse(context.stdout.text)).toEqual({
      workflowId: `task:${key}`,
      origin: 'attached',
      url: null,
      withoutEffect: [],
    });
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
    const old = longhaul.task(key);
    await eventually(async () => (await old.status()).adoptedBy === task.workflowId, {
      what: 'the adoption in a list',
    });
    expect((await task.status()).adoptedBy).toBeNull();
    const { stdout } = await status(key);
    expect(stdout.text).toMatch(new RegExp(`^  adopted by +${task.workflowId}$`, 'm'));
    expect(stdout.text).toContain(
      `failure      WorkflowTerminated: The workflow was terminated, and ${task.workflowId}`,
    );
    expect(stdout.text).not.toContain('Start it again');
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

  it('has the tags and the place in a trace that it is given', async () => {
    const { longhaul, service, temporal } = environment;
    const tags = ['customer:42', 'rescued'];
    const task = await longhaul.adopt(service.requestId, { tuning, tags, traceparent });
    await task.result();

    expect((await task.status()).tags).toEqual(tags);
    expect(await traceparentOf(temporal, task.workflowId)).toBe(traceparent);
    const listed = longhaul.list({ tags, requestIds: [service.requestId] });
    await eventually(async () => {
      for await (const { workflowId } of listed) return workflowId === task.workflowId;
      return false;
    });
  });
});

describe('a batch', () => {
  it('begins at the place in a trace that it is given', async () => {
    const { longhaul, temporal } = environment;
    const rows = { location: '/nowhere/rows.jsonl', digest: 'd1', rows: 1, pages: 1 };
    const batch = await longhaul.startBatch({ id: randomUUID(), rows }, { traceparent });
    await temporal.workflow.getHandle(batch.workflowId).terminate('the test is over');

    expect(await traceparentOf(temporal, batch.workflowId)).toBe(traceparent);
    const refused = longhaul.startBatch({ id: randomUUID(), rows }, { traceparent: 'nonsense' });
    await expect(refused).rejects.toThrow('traceparent is "nonsense"');
  });
});

describe('longhaul adopt', () => {
  it('gives the task its tags, which its status shows', async () => {
    const { requestId } = environment.service;
    await run('adopt', requestId, '--tag', 'customer:42', '--tag', 'rescued', '--json');
    const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
    await runCommandLine(['status', `adopt-${requestId}`], context);

    expect(context.stdout.text).toMatch(/^ {2}tags {9}customer:42, rescued$/m);
  });
});
