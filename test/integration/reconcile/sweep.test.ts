import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InputInvalidError } from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { ServiceClient } from '../../../src/service';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { compareAll } from './compare-all';
import { type RunningTask, whenStatusIs } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

const swatch = { webAppId: 5, inputs: {} };

let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await longhaul.sweeps.remove();
  await stack.close();
});

/** A task that runs at the service until it is released. */
async function startHeld(): Promise<{ task: RunningTask; requestId: string }> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const task = await stack.start(swatch);
  await whenStatusIs(task, 'Queuing');
  return { task, requestId: stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '' };
}

async function terminated(): Promise<{ task: RunningTask; requestId: string }> {
  const held = await startHeld();
  await held.task.terminate('by hand');
  return held;
}

async function command(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] });
  await runCommandLine(['sweep', ...args, '--task-queue', stack.taskQueue], context);
  return context;
}

/** Temporal's list is behind by a moment. */
async function whenUnsafe(): Promise<FakeContext> {
  let context = await command('run');
  await eventually(
    async () => {
      if (context.exitCode === 5) return true;
      context = await command('run');
      return context.exitCode === 5;
    },
    { withinMs: 30_000, what: 'a sweep that finds something' },
  );
  return context;
}

describe('a sweep', () => {
  it('finds what nothing follows, says so in its result, its log and its report, and changes nothing', async () => {
    const { task, requestId } = await terminated();
    const creates = stack.service.ledger.total('create');

    const swept = await whenUnsafe();

    expect(swept.stdout.text).toContain('Running, and followed by no workflow (1):');
    expect(swept.stdout.text).toContain(`longhaul adopt ${requestId} --task-queue ${stack.taskQueue}`);
    expect(stack.lines).toContainEqual(
      expect.objectContaining({
        msg: 'not safe',
        finding: expect.objectContaining({ kind: 'running', requestId }) as object,
      }),
    );
    const [report = ''] = (await readdir(join(stack.archive, '.sweeps'))).sort().reverse();
    expect(swept.stdout.text).toContain(report);
    expect(JSON.parse(await readFile(join(stack.archive, '.sweeps', report), 'utf8'))).toMatchObject({
      unsafe: { running: 1 },
      findings: [{ requestId, workflowId: task.workflowId }],
      omitted: 0,
    });
    expect(stack.service.ledger.total('create')).toBe(creates);
    expect(stack.service.ledger.total('cancel') + stack.service.ledger.total('interrupt')).toBe(0);

    stack.service.release(requestId);
    await (await longhaul.adopt(requestId)).result();
    await eventually(async () => (await command('run')).exitCode === 0, { withinMs: 30_000 });
  });

  it('follows again, archives and stops what its options name, and what somebody follows it leaves alone', async () => {
    const { requestId: stopped } = await terminated();
    const { task: followed, requestId } = await startHeld();
    const archived = await (await stack.start(swatch)).result();
    await rm(archived.outputs[0]?.path ?? '');

    let handled = 0;
    await eventually(
      async () => {
        const swept = await command('run', '--rearchive', '--unfollowed', 'stop', '--json');
        handled += (JSON.parse(swept.stdout.text) as { handled: number }).handled;
        return handled >= 2 && swept.exitCode === 0;
      },
      { withinMs: 60_000, what: 'sweeps that take care of two' },
    );

    await expect((await longhaul.adopt(stopped)).result()).resolves.toMatchObject({ status: 'Canceled' });
    await eventually(async () => (await command('run')).exitCode === 0, { withinMs: 30_000 });
    await expect(readFile(archived.outputs[0]?.path ?? '')).resolves.toBeInstanceOf(Buffer);
    expect(await followed.query('status')).toMatchObject({ status: 'Queuing', stopRequests: [] });
    stack.service.release(requestId);
    await expect(followed.result()).resolves.toMatchObject({ status: 'Success' });
  });

  it('is refused before it begins when its input is none, whoever starts it', async () => {
    await expect(longhaul.sweeps.run({ windowDays: 0 })).rejects.toThrow(InputInvalidError);
    expect((await command('run', '--unfollowed', 'kill')).stderr.text).toMatch(
      /unfollowed is "kill"; give report, adopt, stop/,
    );
    expect((await command('install', '--every', '1s')).stderr.text).toMatch(/every is 1000 ms; give 5m to 30d/);
    const workflowId = `rubbish-${randomUUID()}`;
    const args = [{ windowDays: -1, policy: 'all' }];
    const rubbish = stack.client.workflow.execute('sweep', { taskQueue: stack.taskQueue, workflowId, args });
    await expect(rubbish).rejects.toMatchObject({ cause: { type: 'InputInvalid' } });
  });
});

describe('a task that a workflow follows', () => {
  it('is not taken for one that nothing follows when the workflow is missing in Temporal’s list, as one that continues while that is read', async () => {
    const { task, requestId } = await startHeld();
    const path = join(stack.archive, createRecordName(task.workflowId, 1));
    const record = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...record, sentAt: new Date(Date.now() - 3_600_000).toISOString() }));
    const behind = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    jest.spyOn(behind, 'list').mockImplementation(async function* () {
      for await (const one of longhaul.list()) if (one.workflowId !== task.workflowId) yield one;
    });
    const service = new ServiceClient({ baseUrl: stack.service.url, apiKey: () => stack.service.apiKey });
    const parts = { longhaul: behind, client: service, archive: stack.archive, taskQueue: stack.taskQueue };

    expect((await compareAll(parts, {}).finally(() => service.close())).findings).toEqual([]);

    stack.service.release(requestId);
    await task.result();
  });
});

describe('the schedule of sweeps', () => {
  it('is installed, runs at once, can be changed, and is removed', async () => {
    expect((await command('status')).stdout.text).toContain('No sweep is installed');
    expect((await command('install', '--every', '30m')).exitCode).toBe(0);
    const firstAt = Date.now();
    await eventually(
      async () => {
        const { newest } = await longhaul.sweeps.status();
        return (
          newest?.workflowId.startsWith(`longhaul-sweep-${stack.taskQueue}-20`) === true &&
          newest.execution === 'COMPLETED'
        );
      },
      { withinMs: 30_000, what: 'the first scheduled sweep' },
    );
    await command('install', '--every', '2h', '--verify', '--window', '7');
    const { installed } = await longhaul.sweeps.status();
    expect(installed).toMatchObject({
      everyMs: 7_200_000,
      plan: { windowDays: 7, verify: true, unfollowed: 'report' },
    });
    expect(Date.parse(installed?.dueAt ?? '')).toBeGreaterThan(firstAt + 2 * 7_200_000);
    expect((await command('status')).stdout.text).toMatch(
      /runs every 2 h \(of the last 7 days, hashing every file\); the next one at/,
    );

    expect((await command('remove')).stdout.text).toBe('No sweep runs by itself any more.\n');
    expect((await command('remove')).stdout.text).toBe('No sweep was installed.\n');
  });
});
