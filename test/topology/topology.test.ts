import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { brokenPromises } from '../faults/promises';
import { TaskUnderTest } from '../faults/task-under-test';
import { eventually } from '../support/eventually';
import { buildProduct, removeBuild } from '../support/product-build';
import { secondAccount } from './places';
import { partNames, type PartName, Topology } from './topology';

/** How many tasks are held by the service while everything is restarted. */
const taskCount = Number(process.env['TASKS'] ?? 100);
/** As an operator would: what the others stand on comes last. */
const restarts: readonly PartName[] = [
  ...(['worker-1', 'worker-2', 'receiver', 'codec-server'] as const),
  ...(['temporal', 'postgresql', 'archive', 'temporal-ui'] as const),
];
/** As tasks are watched by default. */
const tuning = { poll: { minMs: 1_000, maxMs: 3_000 } };
const accounts = ['default', secondAccount] as const;
/** The servers are built first where they are not. */
const startUpMs = 1_800_000;
const patience = { withinMs: 120_000 + taskCount * 1_000, everyMs: 250 };

const tasks: TaskUnderTest[] = [];
let topology: Topology;

beforeAll(async () => {
  await buildProduct();
  topology = await Topology.open();
}, startUpMs);
afterAll(async () => {
  await topology.close();
  removeBuild();
}, 120_000);

/** Starts a task of the next account and way to watch; the service keeps it in its queue until `release` if held. */
async function startTask(name: string, isHeld: boolean): Promise<void> {
  const index = tasks.length;
  const account = accounts[Math.floor(index / 2) % 2] ?? 'default';
  const watch = index % 2 === 0 ? 'timer' : 'activity';
  const task = new TaskUnderTest(topology, name, { account, watch, tuning });
  tasks.push(task);
  const { scenarios } = topology.parts.service;
  if (isHeld) scenarios.add({ endpoint: 'create', scenario: { name: 'hold' }, correlation: task.workflowId });
  await task.start();
}

/** How these tasks end. */
async function endsOf(some: readonly TaskUnderTest[]): Promise<string[]> {
  return await Promise.all(some.map(async ({ handle }) => (await handle.result()).status));
}

describe(`${taskCount} tasks of two accounts, on a deployment each part of which is restarted`, () => {
  it('are queried by the workers before anything is restarted', async () => {
    await Promise.all(Array.from({ length: taskCount }, (_, index) => startTask(`held-${index}`, true)));
    const unasked = (): TaskUnderTest[] => tasks.filter((task) => task.asked('detail') === 0);
    await eventually(() => unasked().length === 0, { ...patience, what: 'every task to be watched' });
    expect(tasks.map(({ acceptedCreates }) => acceptedCreates.length)).toEqual(tasks.map(() => 1));
  }, 400_000);

  it.each(restarts)(
    'go on while %s is restarted, and so does one that begins then',
    async (name) => {
      await startTask(`during-${name}`, false);
      await topology.part(name).restart();
      expect(await endsOf(tasks.slice(-1))).toEqual(['Success']);
    },
    400_000,
  );

  it('succeed, each created once, with its result in the bucket and no secret anywhere', async () => {
    for (const { requestId } of tasks) topology.parts.service.release(requestId ?? '');
    expect(new Set(await endsOf(tasks))).toEqual(new Set(['Success']));
    expect(tasks).toHaveLength(taskCount + partNames.length);
    expect(tasks.filter(({ acceptedCreates }) => acceptedCreates.length !== 1)).toEqual([]);
    expect(await brokenPromises(topology, tasks)).toEqual([]);
    const made = tasks.map(({ requestId }) => topology.parts.service.tasks.find(requestId ?? ''));
    expect(new Set(made.map((task) => task?.request.accountId))).toEqual(new Set(accounts));
  }, 400_000);

  it('are all safe for reconcile', async () => {
    const { exitCode, stdout } = await topology.run('reconcile', '--json', '--verify');
    expect(JSON.parse(stdout)).toMatchObject({ isSafe: true, safe: { archived: tasks.length }, findings: [] });
    expect(exitCode).toBe(0);
  });

  it('were reported by callbacks', () => {
    const [log = ''] = topology.parts.logFiles.filter((file) => file.endsWith('receiver.log'));
    const signaled = readFileSync(log, 'utf8').match(/"outcome":"signaled"/g) ?? [];
    expect(signaled.length).toBeGreaterThanOrEqual(taskCount / 2);
  });

  it('are shown by the Web UI in cipher text, which the codec server that it names decrypts for its pages alone', async () => {
    const { uiUrl } = topology;
    expect(await (await fetch(uiUrl)).text()).toContain('sveltekit');
    const settings = settingsSchema.parse(await (await fetch(`${uiUrl}/api/v1/settings`)).json());
    expect(settings.Codec.Endpoint).toBe(topology.codecUrl);
    const task = tasks[0];
    const path = `/api/v1/namespaces/default/workflows/${encodeURIComponent(task?.workflowId ?? '')}/history`;
    const history = await (await fetch(uiUrl + path)).text();
    const [first] = historySchema.parse(JSON.parse(history)).history.events;
    const payloads = first?.workflowExecutionStartedEventAttributes?.input.payloads ?? [];
    const file = `${task?.key ?? ''}.mp4`;
    expect(payloads).toHaveLength(1);
    expect(textOf(payloads)).not.toContain(file);

    const decode = (origin: string): Promise<Response> =>
      fetch(`${settings.Codec.Endpoint}/decode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-namespace': 'default', origin },
        body: JSON.stringify({ payloads }),
      });
    const decoded = await decode(uiUrl);
    expect(decoded.status).toBe(200);
    expect(textOf(payloadsSchema.parse(await decoded.json()).payloads)).toContain(file);
    expect((await decode('https://elsewhere.example')).status).toBe(403);
  });
});

describe('a task of which an operator paused an activity', () => {
  it('is listed as such, also where Temporal keeps its lists in PostgreSQL', async () => {
    const { service, client, longhaul } = topology.parts;
    const task = new TaskUnderTest(topology, 'paused', { account: 'default', watch: 'timer', tuning });
    const { workflowId } = task;
    const refusal = { name: 'refuse', reason: 'rateLimited', retryAfterSeconds: 300 } as const;
    // Each of its creates: after the pause it would be taken, and be over before it is stopped.
    service.scenarios.add({ endpoint: 'create', scenario: refusal, correlation: workflowId, times: 1_000 });
    await task.start();
    const isRetried = async (): Promise<boolean> =>
      (await longhaul.task(workflowId).status()).problem?.code === 'Retrying';
    await eventually(isRetried, { ...patience, what: 'a refused create' });
    const create = { namespace: 'default', execution: { workflowId }, type: 'createTask' };
    await client.workflowService.pauseActivity({ ...create, identity: 'an operator' });

    const listed = async (): Promise<unknown> =>
      JSON.parse((await topology.run('list', '--problem', 'Paused', '--json')).stdout);
    const expected = { tasks: [{ workflowId, problem: { code: 'Paused' } }] };
    await eventually(async () => JSON.stringify(await listed()).includes(workflowId), {
      ...patience,
      what: 'the list',
    });
    expect(await listed()).toMatchObject(expected);
    await client.workflowService.unpauseActivity(create);
    await eventually(async () => !JSON.stringify(await listed()).includes(workflowId), {
      ...patience,
      what: 'no list',
    });
    await longhaul.task(workflowId).stop();
    await expect(longhaul.task(workflowId).result()).resolves.toMatchObject({ status: 'Canceled' });
  }, 400_000);
});

const payloadsSchema = z.object({ payloads: z.array(z.object({ metadata: z.unknown(), data: z.string() })) });
const settingsSchema = z.object({ Codec: z.object({ Endpoint: z.string() }) });
const historySchema = z.object({
  history: z.object({
    events: z.array(
      z.object({ workflowExecutionStartedEventAttributes: z.object({ input: payloadsSchema }).optional() }),
    ),
  }),
});

function textOf(payloads: z.infer<typeof payloadsSchema>['payloads']): string {
  return payloads.map(({ data }) => Buffer.from(data, 'base64').toString('utf8')).join('\n');
}
