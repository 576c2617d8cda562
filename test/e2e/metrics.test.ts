import { randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Metric, metrics } from '../../src/contract/metrics';
import { freePorts } from '../../tools/free-port';
import type { ProcessEnd, SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { runLonghaul } from '../support/run-longhaul';
import { fastTuning } from '../support/task-environment';
import { photoFolder } from '../support/task-stack';

let stack: ProcessStack;
let worker: string;
let receiver: string;
beforeAll(async () => {
  stack = await ProcessStack.open();
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
  [worker, receiver] = [await freeAddress(), await freeAddress()];
  await stack.startWorker({ ...stack.env, LONGHAUL_METRICS: worker });
});
afterAll(() => stack.close());

async function freeAddress(): Promise<string> {
  return `127.0.0.1:${String((await freePorts(1))[0])}`;
}

/** What a process exports: the value of each line by its name and labels. */
async function scrape(address: string): Promise<Map<string, number>> {
  const text = await (await fetch(`http://${address}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** The sum of all lines of a metric that have these labels. */
function sumOf(values: ReadonlyMap<string, number>, name: string, ...labels: string[]): number {
  const lines = [...values].filter(
    ([line]) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label)),
  );
  return lines.reduce((sum, [, value]) => sum + value, 0);
}

/** How a process ended that is to end within seconds, less than those after which it is killed. */
async function endOf(process: SupervisedProcess): Promise<ProcessEnd | 'it still runs'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'it still runs'>((resolve) => {
    timer = setTimeout(resolve, 8_000, 'it still runs');
  });
  return await Promise.race([process.ended, late]).finally(() => {
    clearTimeout(timer);
  });
}

describe('the metrics of a worker', () => {
  it('count what a task does, beside those of the SDK, under the names of docs/reference/metrics.md and no others', async () => {
    const task = await stack.longhaul.start({
      key: randomUUID(),
      webAppId: 1,
      inputs: { '1:LoadImage.image': { file: join(stack.inputs, 'rocket.jpg') } },
      tuning: fastTuning,
    });
    const { outputBytes } = await task.result();
    const values = await eventually(async () => {
      const scraped = await scrape(worker);
      const ends = ['longhaul_task_ends_total', 'temporal_workflow_completed_total'];
      return ends.every((name) => sumOf(scraped, name) === 1) && scraped;
    });

    const counted = values || new Map<string, number>();

    expect(sumOf(counted, 'longhaul_task_ends_total', 'end="Success"', 'account="default"')).toBe(1);
    expect(sumOf(counted, 'longhaul_creates_total', 'outcome="accepted"')).toBe(1);
    expect(sumOf(counted, 'longhaul_archived_bytes_total')).toBe(outputBytes);
    expect(sumOf(counted, 'longhaul_uploaded_bytes_total')).toBeGreaterThan(1_000);
    expect(sumOf(counted, 'longhaul_polls_total', 'outcome="answered"')).toBeGreaterThan(0);
    expect(sumOf(counted, 'longhaul_create_limiter_closed')).toBe(0);
    expect(sumOf(counted, 'longhaul_key_refused', 'account="default"')).toBe(0);
    expect(sumOf(counted, 'longhaul_ready', 'part="temporal"')).toBe(1);
    expect(sumOf(counted, 'longhaul_ready', 'part="archive"')).toBe(1);

    const suffix = /(?:_total|_seconds(?:_bucket|_sum|_count))?\{.*$/;
    const names = [...counted.keys()].filter((line) => line.startsWith('longhaul_'));
    const known = new Set(Object.values<Metric>(metrics).map(({ name }) => name));
    expect(names.map((line) => line.replace(suffix, '')).filter((name) => !known.has(name))).toEqual([]);
    for (const secret of [stack.service.apiKey, 'Signature', 'token']) {
      expect([...counted.keys()].join('\n')).not.toContain(secret);
    }
  });

  it('know no account that a task’s starter made up', async () => {
    const task = await stack.longhaul.start({ key: randomUUID(), webAppId: 5, inputs: {}, account: 'made-up-0815' });
    await expect(task.result()).rejects.toMatchObject({ failureType: 'AccountUnknown' });
    await eventually(async () => sumOf(await scrape(worker), 'longhaul_task_ends_total', 'account="unknown"') === 1);

    expect([...(await scrape(worker)).keys()].join('\n')).not.toContain('made-up');
  });
});

/** The variables of a receiver at a free port. */
async function receiverEnvironment(): Promise<NodeJS.ProcessEnv> {
  const callback = `http://127.0.0.1:${(await freeAddress()).split(':')[1] ?? ''}/callback`;
  return {
    ...stack.env,
    ...{ LONGHAUL_CALLBACK_URL: callback, LONGHAUL_CALLBACK_PORT: new URL(callback).port },
    LONGHAUL_CALLBACK_TOKEN: 'a-token-of-this-test-0815',
  };
}

describe('the metrics of a receiver', () => {
  it('count callbacks by what came of them', async () => {
    const env = await receiverEnvironment();
    await stack.startReceiver({ ...env, LONGHAUL_METRICS: receiver });
    const callback = env['LONGHAUL_CALLBACK_URL'] ?? '';
    // As the doctor asks first, which must not look like a service with a wrong token.
    await fetch(callback, { method: 'POST' });
    await fetch(callback, { method: 'POST', headers: { authorization: 'Bearer another' } });
    await fetch(callback, { method: 'POST', headers: { 'X-Svc-Task-Correlation': 'task:proxy-drops-the-token' } });
    const counted = async (outcome: string): Promise<number> =>
      sumOf(await scrape(receiver), 'longhaul_callbacks_total', `outcome="${outcome}"`);

    await eventually(async () => (await counted('wrong token')) === 2, { what: 'two wrong tokens to be counted' });
    expect(await counted('no token')).toBe(1);
  });

  it('do not keep the process alive after a SIGTERM', async () => {
    const LONGHAUL_METRICS = `http://${await freeAddress()}`;
    const stopped = await stack.startReceiver({ ...(await receiverEnvironment()), LONGHAUL_METRICS });

    process.kill(stopped.pid, 'SIGTERM');

    expect(await endOf(stopped)).toEqual({ code: 0, signal: null });
  });

  it('do not keep alive a process whose start failed', async () => {
    const env = { ...(await receiverEnvironment()), LONGHAUL_METRICS: await freeAddress() };
    const taken = new URL(stack.service.url).port;

    const { exitCode, stderr } = await runLonghaul(['receiver'], { ...env, LONGHAUL_CALLBACK_PORT: taken });

    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('LONGHAUL_CALLBACK_PORT')]);
  });
});

describe('an address that is taken', () => {
  it('keeps a worker from starting, with the variable to change', async () => {
    await expect(stack.startWorker({ ...stack.env, LONGHAUL_METRICS: worker })).rejects.toThrow(
      /LONGHAUL_METRICS.*give another port/,
    );
  });
});
