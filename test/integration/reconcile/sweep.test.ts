import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { InputInvalidError } from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { handleAll } from '../../../src/reconcile/policies';
import { workflowState } from '../../../src/reconcile/workflow-state';
import { ServiceClient } from '../../../src/service';
import { eventually } from '../../support/eventually';
import { whenListedAsEnded } from '../../support/listed-end';
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
  await whenListedAsEnded(stack.client, held.task.workflowId, 'TERMINATED');
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
    { what: 'a sweep that finds something' },
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
    await eventually(async () => (await command('run')).exitCode === 0);
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
    await eventually(async () => (await command('run')).exitCode === 0);
    await expect(readFile(archived.outputs[0]?.path ?? '')).resolves.toBeInstanceOf(Buffer);
    expect(await followed.query('status')).toMatchObject({ status: 'Queuing', stopRequests: [] });
    stack.service.release(requestId);
    await expect(followed.result()).resolves.toMatchObject({ status: 'Success' });
  });

  it('counts as not safe what it adopted before and finds again, so that what adoption does not help is not hidden', async () => {
    const archived = await (await stack.start(swatch)).result();
    await (await longhaul.adopt(archived.requestId ?? '')).result();
    await rm(archived.outputs[0]?.path ?? '');

    let swept = await command('run', '--rearchive', '--json');
    await eventually(async () => {
      if (swept.exitCode === 5) return true;
      swept = await command('run', '--rearchive', '--json');
      return swept.exitCode === 5;
    });

    const result = JSON.parse(swept.stdout.text) as { unsafe: object; report: string };
    expect(result).toMatchObject({ unsafe: { damaged: 1 }, handled: 0 });
    const report = JSON.parse(await readFile(result.report, 'utf8')) as unknown;
    expect(report).toMatchObject({ handled: [{ requestId: archived.requestId }] });
    await eventually(async () => (await command('run')).exitCode === 0);
  });

  it('stops nothing whose workflow Temporal does not know, which may run in another namespace', async () => {
    const { task, requestId } = await terminated();
    const path = join(stack.archive, createRecordName(task.workflowId, 1));
    const record = parseCreateRecord(await readFile(path));
    const sentAt = new Date(Date.now() - 60_000).toISOString();
    await rm(path);
    const elsewhere = join(stack.archive, createRecordName('task:elsewhere', 1));
    await mkdir(dirname(elsewhere), { recursive: true });
    await writeFile(elsewhere, JSON.stringify({ ...record, workflowId: 'task:elsewhere', sentAt }));
    await stack.client.workflowService.deleteWorkflowExecution({
      namespace: stack.client.options.namespace,
      workflowExecution: { workflowId: task.workflowId },
    });
    await eventually(async () => {
      for await (const { workflowId } of longhaul.list()) if (workflowId === task.workflowId) return false;
      return true;
    });

    const swept = await command('run', '--unfollowed', 'stop', '--json');

    expect(JSON.parse(swept.stdout.text)).toMatchObject({ unsafe: { running: 1 }, handled: 0 });
    expect(swept.stdout.text).toContain('Temporal does not know its workflow, so it is not stopped by itself.');
    stack.service.release(requestId);
    await (await longhaul.adopt(requestId)).result();
    await eventually(async () => (await command('run')).exitCode === 0);
  });

  it('stops nothing that another workflow began to follow a moment ago', async () => {
    const { task, requestId } = await terminated();
    const other = await longhaul.adopt(requestId, { key: `mine-${randomUUID()}` });
    const behind = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    // As when Temporal's list does not show the other one yet.
    jest.spyOn(behind, 'adopt').mockImplementation(async (id) => {
      const workflowId = `task:adopt-${id}`;
      const args = [{ adopt: { requestId: id } }];
      await stack.client.workflow.start('task', { taskQueue: stack.taskQueue, workflowId, args });
      return Object.assign(behind.task(workflowId), { origin: 'started' as const });
    });
    const remedy = { do: 'adopt', requestId, account: 'default', folder: '' } as const;
    const about = { requestId, workflowId: task.workflowId, account: 'default', reason: 'It runs.' };
    const plan = { windowDays: 1, verify: false, rearchive: false, unfollowed: 'stop' } as const;
    const findings = [{ ...about, kind: 'running' as const, remedies: [remedy] }];

    const [swept] = await handleAll(behind, plan, findings, new AbortController().signal);

    expect(swept?.handled).toMatch(/does not stop it: another one may follow it/);
    stack.service.release(requestId);
    await expect(other.result()).resolves.toMatchObject({ status: 'Success' });
    await longhaul.task(`task:adopt-${requestId}`).result();
  });

  it('leaves a row to its batch while that runs, which may start it again', async () => {
    const { requestId } = await terminated();
    const batch = `batch:${randomUUID()}`;
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
    const { taskQueue } = stack;
    const running = await stack.client.workflow.start('task', { taskQueue, workflowId: batch, args: [swatch] });
    // Terminated before its create is answered, it would leave a task behind that nobody releases.
    await whenStatusIs(running, 'Queuing');
    const ofBatch = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
    const row = { taskQueue, workflowId: `${batch}:a`, args: [{ adopt: { requestId } }] };
    await (await stack.client.workflow.start('task', row)).terminate('by hand');

    const about = { requestId, workflowId: `${batch}:a`, account: 'default', reason: 'It runs.' };
    const remedies = [{ do: 'adopt', requestId, account: 'default', folder: '' } as const];
    const plan = { windowDays: 1, verify: false, rearchive: false, unfollowed: 'adopt' } as const;
    const findings = [{ ...about, kind: 'running' as const, remedies }];
    const [swept] = await handleAll(longhaul, plan, findings, new AbortController().signal);

    expect(swept).toMatchObject({ handled: undefined, isLeft: true });
    expect(swept?.finding.reason).toMatch(/its batch .* runs, and may start it again/);
    await running.terminate('by hand');
    for (const held of [requestId, ofBatch]) {
      stack.service.release(held);
      await (await longhaul.adopt(held)).result();
    }
    await eventually(async () => (await command('run')).exitCode === 0);
  });

  it('tells what it found when the archive takes no report', async () => {
    const { requestId } = await terminated();
    await rename(join(stack.archive, '.sweeps'), join(stack.archive, 'kept')).catch(() => undefined);
    await writeFile(join(stack.archive, '.sweeps'), 'no folder');

    const swept = await whenUnsafe();

    expect(swept.stdout.text).toContain(`longhaul adopt ${requestId}`);
    expect(swept.stdout.text).toContain('Report: none, ');
    await rm(join(stack.archive, '.sweeps'));
    stack.service.release(requestId);
    await (await longhaul.adopt(requestId)).result();
    await eventually(async () => (await command('run')).exitCode === 0);
  });

  it('is refused before it begins when its input is none, whichever client starts it', async () => {
    await expect(longhaul.sweeps.run({ windowDays: 0 })).rejects.toThrow(InputInvalidError);
    expect((await command('run', '--unfollowed', 'kill')).stderr.text).toMatch(/unfollowed is "kill"; give one of/);
    expect((await command('install', '--every', '1s')).stderr.text).toMatch(/--every is "1s"; give 5m to 30d/);
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
    const record = parseCreateRecord(await readFile(path));
    await writeFile(path, JSON.stringify({ ...record, sentAt: new Date(Date.now() - 3_600_000).toISOString() }));
    const behind = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    jest.spyOn(behind, 'list').mockImplementation(async function* () {
      for await (const one of longhaul.list()) if (one.workflowId !== task.workflowId) yield one;
    });
    const service = new ServiceClient({ baseUrl: stack.service.url, apiKey: () => stack.service.apiKey });
    const parts = { longhaul: behind, client: service, archive: stack.archive, taskQueue: stack.taskQueue };

    expect((await compareAll(parts, {})).findings).toEqual([]);
    // Its create seems to be one of which nothing is known.
    await writeFile(path, JSON.stringify({ ...record, requestId: null, sentAt: '2026-01-01T00:00:00.000Z' }));
    expect((await compareAll(parts, {}).finally(() => service.close())).findings).toEqual([]);

    stack.service.release(requestId);
    await task.result();
  });
});

describe('a create record', () => {
  it('that names what can be no workflow does not end the comparison', async () => {
    for (const workflowId of ['odd', 'task:', `task:${'ä'.repeat(600)}`])
      expect(await workflowState(longhaul, workflowId)).toBe('unknown');
  });
});

describe('the schedule of sweeps', () => {
  it('is installed, runs at once, can be changed, and is removed', async () => {
    const before = await command('status');
    expect(before.stdout.text).toContain('No sweep is installed');
    expect(before.exitCode).toBe(6);
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
      { what: 'the first scheduled sweep' },
    );
    await command('install', '--every', '2h', '--verify', '--window', '7');
    const { installed } = await longhaul.sweeps.status();
    expect(installed).toMatchObject({
      everyMs: 7_200_000,
      plan: { windowDays: 7, verify: true, unfollowed: 'report' },
    });
    expect(Date.parse(installed?.dueAt ?? '')).toBeGreaterThan(firstAt + 2 * 7_200_000);
    const status = await command('status');
    expect(status.stdout.text).toMatch(/runs every 2 h \(of the last 7 days, hashing every file\); the next one at/);
    expect(status.exitCode).toBe(0);

    const schedule = stack.client.schedule.getHandle(`longhaul-sweep-${stack.taskQueue}`);
    await schedule.update(({ action, policies, state }) => {
      const args = [{ windowDays: '\u001b[2Jx' }];
      return { spec: { calendars: [{ hour: 3 }] }, policies, state, action: { ...action, args } };
    });
    const byHand = await longhaul.sweeps.status();
    expect(byHand.installed).toMatchObject({ everyMs: 24 * 3_600_000, problems: [expect.any(String)] });
    expect(Date.parse(byHand.installed?.dueAt ?? '')).toBeGreaterThan(firstAt + 47 * 3_600_000);
    const shown = (await command('status')).stdout.text;
    expect(shown).toMatch(/changed by hand, and no sweep can begin.*\n {2}- windowDays is /);
    expect(shown).not.toContain('\u001b');
    expect((await command('run')).stderr.text).toMatch(/windowDays is .*; give a whole number/);

    expect((await command('remove')).stdout.text).toBe('No sweep runs by itself any more.\n');
    expect((await command('remove')).stdout.text).toBe('No sweep was installed.\n');
  });
});
