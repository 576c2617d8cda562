import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { longhaulVersion } from '../../src/core/version';
import type { DayView } from '../../src/money/day-operations';
import { eventually } from '../support/eventually';
import { changeBuild, type ChangedBuild, longhaulCommand } from '../support/product-build';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import { temporaryFolder } from '../support/temporary-folder';

/** How many tasks run while the version is changed. */
const taskCount = Number(process.env['TASKS'] ?? 20);
const newTaskCount = Math.ceil(taskCount / 5);
const webAppId = 5;
const tuning = { poll: { minMs: 500, maxMs: 1_000 } };
const patience = { withinMs: 60_000 + taskCount * 1_000, everyMs: 250 };

let stack: ProcessStack;
let next: ChangedBuild;
const folder = temporaryFolder();
const deployment = `longhaul-${randomUUID()}`;

beforeAll(async () => {
  stack = await ProcessStack.open();
  // One more step, which is not in the history of any task that runs.
  next = await changeBuild(folder.path, 'workflows/task/watch.ts', (code) =>
    code
      .replace(/^(export async function watchTask\(.*\{)$/m, '$1\n  await sleep(1, { summary: "a new step" });')
      .replace(/^/, "import { sleep } from '@temporalio/workflow';\n"),
  );
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** Starts so many tasks, which the service holds in its queue. */
function startHeld(count: number): Promise<TaskHandle[]> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' }, times: count });
  return Promise.all(Array.from({ length: count }, startOne));
}

async function startOne(): Promise<TaskHandle> {
  return await stack.longhaul.start({ key: randomUUID(), webAppId, inputs: {}, tuning });
}

function accepted(): string[] {
  return stack.service.ledger.entries({ endpoint: 'create' }).flatMap(({ requestId }) => requestId ?? []);
}

/** `longhaul replay` of a build, over the tasks of this test. */
function replay(toCommand: ChangedBuild['toCommand'], ...args: string[]): Promise<CommandEnd> {
  const query = `TaskQueue = "${stack.taskQueue}"`;
  const command = toCommand(['replay', '--query', query, ...args]);
  return runToEnd(command, { env: stack.env, timeout: 200_000 });
}

async function setCurrent(buildId: string): Promise<void> {
  const { workflowService } = stack.client.connection;
  const version = { namespace: 'default', deploymentName: deployment, buildId, identity: 'a test' };
  // The server learns of a version when its first worker polls.
  await eventually(
    () =>
      workflowService.setWorkerDeploymentCurrentVersion(version).then(
        () => true,
        () => false,
      ),
    { ...patience, what: `version ${buildId} to be current` },
  );
}

async function versionOf({ workflowId }: Pick<TaskHandle, 'workflowId'>, runId?: string): Promise<string | undefined> {
  const { raw } = await stack.client.workflow.getHandle(workflowId, runId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

/** A run that continues it as new goes on with the current version. */
async function versionOfFirstRun(task: TaskHandle): Promise<string | undefined> {
  const { raw } = await stack.client.workflow.getHandle(task.workflowId).describe();
  return await versionOf(task, raw.workflowExecutionInfo?.firstRunId ?? undefined);
}

describe('a new version whose workflows have one more step', () => {
  it(`is rolled out while ${taskCount} tasks run: each goes on with its own version, and none is created twice`, async () => {
    const prices = join(folder.path, 'prices.json');
    const price = { webAppId, currency: 'EUR', perTask: '0.02' };
    writeFileSync(
      prices,
      JSON.stringify({ prices: [price], dailyBudgets: [{ account: 'default', amount: '1000EUR' }] }),
    );
    const env = { ...stack.env, LONGHAUL_PRICES_FILE: prices };
    await stack.startWorker({ ...env, LONGHAUL_BUILD_ID: `${deployment}/v1` });
    await setCurrent('v1');
    const old = await startHeld(taskCount);
    await eventually(() => accepted().length === taskCount, { ...patience, what: 'all creates' });
    await eventually(
      async () => {
        const states = await Promise.all(old.map((task) => task.status()));
        return states.every(({ status, polls }) => status === 'Queuing' && (polls ?? 0) > 0);
      },
      { ...patience, what: 'every task to be watched' },
    );

    // The new build cannot go on with them, and says so; the one that runs can.
    const unchanged = await replay(longhaulCommand, '--json');
    // Runs that have continued as new meanwhile are ended ones.
    const isOk = { version: longhaulVersion, isOk: true, open: taskCount + 1, failed: 0, failures: [] };
    expect(JSON.parse(unchanged.stdout)).toMatchObject(isOk);
    expect(unchanged.exitCode).toBe(0);
    const changed = await replay(next.toCommand);
    expect(changed.exitCode).toBe(5);
    expect(changed.stdout).toMatch(/cannot go on with \d+ that are open/);
    // The first 50 are named.
    const named = [...changed.stdout.matchAll(/^(task:\S+) \(open, run /gm)].map(([, id]) => id);
    expect(named).toHaveLength(Math.min(taskCount, 50));
    expect(old.map(({ workflowId }) => workflowId)).toEqual(expect.arrayContaining(named));

    await stack.startWorker({ ...env, LONGHAUL_BUILD_ID: `${deployment}/v2` }, stack.taskQueue, next.toCommand);
    await setCurrent('v2');
    const young = await startHeld(newTaskCount);
    await eventually(() => accepted().length === taskCount + newTaskCount, { ...patience, what: 'the new creates' });
    for (const requestId of accepted()) stack.service.release(requestId);
    const ends = await Promise.all([...old, ...young].map(async (task) => (await task.result()).status));

    expect(new Set(ends)).toEqual(new Set(['Success']));
    expect(new Set(accepted()).size).toBe(taskCount + newTaskCount);
    expect(accepted()).toHaveLength(taskCount + newTaskCount);
    expect(new Set(await Promise.all(old.map(versionOfFirstRun)))).toEqual(new Set(['v1']));
    expect(new Set(await Promise.all(young.map(versionOfFirstRun)))).toEqual(new Set(['v2']));
    // Workers of both versions ask the day of the account, which goes on with the current one.
    // Around midnight there are two days, and each has what was created in it.
    let settled = 0;
    const query = `WorkflowType = "accountDay" AND TaskQueue = "${stack.taskQueue}"`;
    for await (const { workflowId } of stack.client.workflow.list({ query })) {
      expect(await versionOf({ workflowId })).toBe('v2');
      const day = stack.client.workflow.getHandle(workflowId);
      const view = await day.query<DayView>('day');
      expect(view.running).toBe(0);
      settled += view.settled;
      await day.terminate();
    }
    expect(settled).toBe(taskCount + newTaskCount);

    const over = await replay(next.toCommand, '--json');
    expect(JSON.parse(over.stdout)).toMatchObject({ isOk: true, open: 0, failed: 0 });
    expect((JSON.parse(over.stdout) as { closedFailed: number }).closedFailed).toBeGreaterThanOrEqual(taskCount);
    expect(over.exitCode).toBe(0);
  }, 300_000);
});

describe('longhaul replay', () => {
  it('replays so many ended executions as it is asked to, and none of another type', async () => {
    const { stdout, exitCode } = await replay(longhaulCommand, '--closed', '0');
    expect(stdout).toBe(
      `Replayed 0 open and 0 ended ones with longhaul ${longhaulVersion}: it goes on with all that are open.\n`,
    );
    expect(exitCode).toBe(0);
  });
});
