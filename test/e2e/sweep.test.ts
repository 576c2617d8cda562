import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../tools/free-port';
import { eventually } from '../support/eventually';
import { whenListedAsEnded } from '../support/listed-end';
import { ProcessStack } from '../support/process-stack';
import { fastTuning } from '../support/task-environment';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open();
});
afterAll(async () => {
  await stack.longhaul.sweeps.remove();
  await stack.close();
});

/** What a worker that begins now tells of the last sweep. */
async function gaugesOfNewWorker(): Promise<string> {
  const [port = 0] = await freePorts(1);
  const worker = await stack.startWorker({ ...stack.env, LONGHAUL_METRICS: `127.0.0.1:${port}` });
  const text = await eventually(async () => {
    const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return (
      scraped.includes('longhaul_not_safe{') && scraped.includes('longhaul_sweep_due_timestamp_seconds ') && scraped
    );
  });
  await worker.stop();
  return text || '';
}

function gauge(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(name.split('}')[0] ?? name));
  return Number(line?.split(' ').at(-1));
}

function sweep(...args: string[]) {
  return stack.run('sweep', ...args, '--task-queue', stack.taskQueue);
}

describe('a scheduled sweep', () => {
  it('goes on at another worker when its own is killed, and every worker tells what it found, until it is safe', async () => {
    const first = await stack.startWorker();
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
    const task = await stack.longhaul.start({ key: randomUUID(), webAppId: 5, inputs: {}, tuning: fastTuning });
    const requestId = await eventually(async () => (await task.status()).requestId);
    await stack.client.workflow.getHandle(task.workflowId).terminate('by hand');
    await whenListedAsEnded(stack.client, task.workflowId, 'TERMINATED');
    // The sweep waits for an answer when its worker dies; the terminated task's last query may take one, too.
    stack.service.scenarios.add({ endpoint: 'detail', scenario: { name: 'stall', ms: 60_000 } });
    expect(await sweep('install', '--every', '1h')).toMatchObject({ exitCode: 0 });
    await eventually(async () => {
      const { newest } = await stack.longhaul.sweeps.status();
      if (newest === null) return false;
      const { raw } = await stack.client.workflow.getHandle(newest.workflowId).describe();
      return raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime != null);
    });
    process.kill(first.pid, 'SIGKILL');
    stack.service.scenarios.clear();

    const second = await stack.startWorker();
    const last = await eventually(async () => (await stack.longhaul.sweeps.status()).last ?? false, {
      withinMs: 90_000,
      what: 'the sweep at the second worker',
    });

    expect(last).toMatchObject({ unsafe: { running: 1 }, handled: 0 });
    const status = await sweep('status');
    expect(status).toMatchObject({ exitCode: 5 });
    expect(status.stdout).toContain(`longhaul adopt ${String(requestId)} --task-queue ${stack.taskQueue}`);
    const log = stack.logFiles.map((file) => readFileSync(file, 'utf8')).join('');
    expect(log).toMatch(/"msg":"not safe"/);
    expect(readdirSync(join(stack.archive, '.sweeps'))).toHaveLength(1);
    const told = await gaugesOfNewWorker();
    expect(gauge(told, 'longhaul_not_safe{kind="running"}')).toBe(1);
    expect(gauge(told, 'longhaul_not_safe{kind="lost"}')).toBe(0);
    expect(gauge(told, 'longhaul_sweep_due_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000 + 7_000);

    stack.service.release(String(requestId));
    expect(await stack.run('adopt', String(requestId), '--task-queue', stack.taskQueue)).toMatchObject({ exitCode: 0 });
    expect(await sweep('run')).toMatchObject({ exitCode: 0 });
    await eventually(
      async () => Object.keys((await stack.longhaul.sweeps.status()).last?.unsafe ?? { one: 1 }).length === 0,
    );
    expect(gauge(await gaugesOfNewWorker(), 'longhaul_not_safe{kind="running"}')).toBe(0);
    await second.stop();
  });
});
