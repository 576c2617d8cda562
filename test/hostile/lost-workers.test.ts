import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureTypes } from '../../src/contract/failure-types';
import type { UncertainPolicy } from '../../src/contract/task-input';
import type { TaskHandle } from '../../src/client/task-handle';
import type { SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { startRawServer, type RawServer } from '../support/start-raw-server';

/** Apps of the reference service: one takes an image, the other hands a file back. */
const courier = 11;
const tuning = { retryMaxMs: 200, poll: { minMs: 150, maxMs: 250 } };
const mostAttempts = 5;
const apiSecret = 'PLANTED-SECRET';

let stack: ProcessStack;
let worker: SupervisedProcess;
/** Settles once {@link worker} is the one that runs: it may fetch an input before its start is noticed here. */
let starting: Promise<void> = Promise.resolve();
/** What each request for the poisonous input does to its worker. */
let signal: NodeJS.Signals;
let poison: RawServer;

beforeAll(async () => {
  stack = await ProcessStack.open();
  writeFileSync(join(stack.inputs, 'film.mp4'), randomBytes(1024));
  poison = await startRawServer({
    onFirstBytes: () => {
      void starting.then(() => process.kill(worker.pid, signal));
    },
  });
});
afterAll(async () => {
  await poison.close();
  await stack.close();
});

/** A worker that throws where no code catches it when it gets SIGUSR2; its health endpoint takes a free port. */
async function startFragileWorker(): Promise<void> {
  starting = startAndKeep();
  await starting;
}

async function startAndKeep(): Promise<void> {
  const plant = `
    import { isMainThread } from 'node:worker_threads';
    if (isMainThread) process.on('SIGUSR2', () => {
      setTimeout(() => { throw new Error('planted: Bearer ' + process.env.PLANTED + ' ' + process.env.LONGHAUL_API_KEY); });
      Promise.reject(new Error('planted rejection'));
    });`;
  worker = await stack.startWorker({
    ...stack.env,
    PLANTED: apiSecret,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(plant)}`,
    LONGHAUL_INPUT_HOSTS: `127.0.0.1:${poison.port}`,
    LONGHAUL_HEALTH_PORT: '0',
  });
}

async function start(file: string, onUncertain: UncertainPolicy = 'hold'): Promise<TaskHandle> {
  const inputs = { '1:LoadFile.file': { file } };
  return await stack.longhaul.start({ key: randomUUID(), webAppId: courier, inputs, onUncertain, tuning });
}

/** Starts a worker whenever the last one has ended, until the task has; returns how many it took. */
async function startWorkersUntil(isOver: () => boolean): Promise<number> {
  for (let started = 1; ; started += 1) {
    await startFragileWorker();
    const ended = worker.ended.then(() => true);
    await eventually(async () => isOver() || (await Promise.race([ended, Promise.resolve(false)])), {
      withinMs: 60_000,
    });
    if (isOver()) return started;
    if (started > mostAttempts + 3) throw new Error('the input is handed on without end');
  }
}

describe('an input that ends each worker which fetches it', () => {
  it.each([
    ['killed', 'SIGKILL'],
    ['by an error that no code catches', 'SIGUSR2'],
  ] as const)(
    'fails its task for good after five workers: %s',
    async (_how, how) => {
      const before = poison.connectionCount();
      signal = how;
      const task = await start(`${poison.url}/film.mp4`);
      let failure: unknown;
      const result = task.result().catch((error: unknown) => {
        failure = error;
      });
      await startWorkersUntil(() => failure !== undefined);
      await result;
      expect(failure).toMatchObject({ failureType: failureTypes.WorkerLost });
      expect(String(failure)).toContain('5 attempts in a row');
      // The first one may end its worker before Temporal has heard of it.
      expect(poison.connectionCount() - before).toBeLessThanOrEqual(mostAttempts + 1);
      expect(worker.isRunning()).toBe(true);
      await worker.stop();
    },
    300_000,
  );

  it('and tasks that ran beside it succeed', async () => {
    const beside = stack.proxy.ambush({ markers: ['PUT '], fault: { kind: 'holdRequest', afterBytes: 100 } });
    // A worker may be killed while its create is on its way.
    const innocent = await start('film.mp4', 'recreate');
    signal = 'SIGKILL';
    let isOver = false;
    await startFragileWorker();
    await eventually(() => beside.metCount === 1, { withinMs: 30_000 });
    const culprit = await start(`${poison.url}/film.mp4`);
    const result = culprit.result().catch(() => {
      isOver = true;
    });
    await worker.ended;
    await startWorkersUntil(() => isOver);
    await result;
    stack.proxy.release();
    expect(await innocent.result()).toMatchObject({ status: 'Success' });
    await worker.stop();
  }, 300_000);
});

describe('inputs that are pipes without a writer', () => {
  it('fail at once, more of them than there are threads for files, and the worker still stops when it is told to', async () => {
    await startFragileWorker();
    const pipes = Array.from({ length: 8 }, (_, index) => `pipe-${index}`);
    execFileSync('mkfifo', pipes, { cwd: stack.inputs });
    const tasks = await Promise.all(pipes.map((pipe) => start(pipe)));
    for (const task of tasks) {
      await expect(task.result()).rejects.toMatchObject({ failureType: failureTypes.InputUnusable });
    }
    process.kill(worker.pid, 'SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
  }, 60_000);
});

describe('an error that no code catches', () => {
  it('is logged without secrets, turns the health bad, lets a create finish, and ends the worker with 1', async () => {
    await startFragileWorker();
    const health = /"health":"([^"]+)"/.exec(worker.output())?.[1] ?? '';
    expect((await fetch(health)).status).toBe(200);
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'stall', ms: 4_000 } });
    const creates = (): number => stack.service.ledger.entries().filter(({ endpoint }) => endpoint === 'create').length;
    const before = creates();
    const task = await start('film.mp4');
    await eventually(() => creates() === before + 1, { withinMs: 30_000, everyMs: 20 });
    process.kill(worker.pid, 'SIGUSR2');
    await eventually(async () => (await fetch(health)).status === 503, { withinMs: 3_000 });
    expect(await worker.ended).toEqual({ code: 1, signal: null });
    const log = worker.output();
    expect(log).toContain('planted rejection');
    expect(log).toContain('uncaughtException');
    expect(log).not.toContain(apiSecret);
    expect(log).not.toContain(stack.service.apiKey);
    await startFragileWorker();
    expect(await task.result()).toMatchObject({ status: 'Success' });
    expect(creates()).toBe(before + 1);
    await worker.stop();
  }, 120_000);

  it('ends a receiver in order, with 1', async () => {
    const receiver = await stack.startReceiver({
      ...stack.env,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('planted'); })")}`,
      LONGHAUL_CALLBACK_URL: 'http://127.0.0.1/callback',
      LONGHAUL_CALLBACK_TOKEN: 'a-token-of-sixteen-characters',
      LONGHAUL_CALLBACK_PORT: '0',
    });
    process.kill(receiver.pid, 'SIGUSR2');
    expect(await receiver.ended).toEqual({ code: 1, signal: null });
    expect(receiver.output()).toContain('planted');
    expect(receiver.output()).toContain('receiver stopped');
  }, 60_000);
});
