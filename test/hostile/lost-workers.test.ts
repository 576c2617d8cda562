import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureTypes } from '../../src/contract/failure-types';
import type { UncertainPolicy } from '../../src/contract/task-input';
import { Longhaul } from '../../src/client/longhaul';
import type { TaskHandle } from '../../src/client/task/task-handle';
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
beforeAll(async () => {
  stack = await ProcessStack.open();
  writeFileSync(join(stack.inputs, 'film.mp4'), randomBytes(1024));
});
afterAll(() => stack.close());

/**
 * A queue with one worker that is started anew after its end. It throws where no code catches it when it gets SIGUSR2;
 * its health endpoint takes a free port.
 */
class FragileWorker {
  readonly #taskQueue = `test-${randomUUID()}`;
  readonly #inputHosts: string;
  #running: SupervisedProcess | undefined;
  /** Settles once the last one that was started runs: it may fetch an input before its start is noticed here. */
  #starting: Promise<unknown> = Promise.resolve();

  constructor(inputHosts = '127.0.0.1:1') {
    this.#inputHosts = inputHosts;
  }

  get process(): SupervisedProcess {
    if (this.#running === undefined) throw new Error('There is no worker yet.');
    return this.#running;
  }

  async start(): Promise<void> {
    const plant = `
      import { isMainThread } from 'node:worker_threads';
      if (isMainThread) process.on('SIGUSR2', () => {
        setTimeout(() => { throw new Error('planted: Bearer ' + process.env.PLANTED + ' ' + process.env.LONGHAUL_API_KEY); });
        Promise.reject(new Error('planted rejection'));
      });`;
    const env = {
      ...stack.env,
      PLANTED: apiSecret,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(plant)}`,
      LONGHAUL_INPUT_HOSTS: this.#inputHosts,
      LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0',
    };
    const starting = stack.startWorker(env, this.#taskQueue);
    this.#starting = starting;
    this.#running = await starting;
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.#starting;
    process.kill(this.process.pid, signal);
  }

  /** Starts a worker whenever there is none, until the task has ended. */
  async startUntil(isOver: () => boolean): Promise<void> {
    for (let started = 1; ; started += 1) {
      if (this.#running?.isRunning() !== true) await this.start();
      const ended = this.process.ended.then(() => true);
      await eventually(async () => isOver() || (await Promise.race([ended, Promise.resolve(false)])), {
        withinMs: 60_000,
      });
      if (isOver()) return;
      if (started > mostAttempts + 3) throw new Error('the input is handed on without end');
    }
  }

  async run(file: string, onUncertain: UncertainPolicy = 'hold'): Promise<TaskHandle> {
    const inputs = { '1:LoadFile.file': { file } };
    const longhaul = new Longhaul({ client: stack.client, taskQueue: this.#taskQueue });
    return await longhaul.start({ key: randomUUID(), webAppId: courier, inputs, onUncertain, tuning });
  }
}

describe('an input that ends each worker which fetches it', () => {
  /** Runs `during` with a worker that gets this signal whenever it fetches the input at the URL. */
  async function withPoison(
    signal: NodeJS.Signals,
    during: (worker: FragileWorker, poison: RawServer) => Promise<void>,
  ): Promise<void> {
    const poison: RawServer = await startRawServer({ onFirstBytes: () => void worker.signal(signal) });
    const worker = new FragileWorker(`127.0.0.1:${poison.port}`);
    try {
      await during(worker, poison);
    } finally {
      await poison.close();
    }
  }

  async function expectToFail(worker: FragileWorker, poison: RawServer): Promise<void> {
    const task = await worker.run(`${poison.url}/film.mp4`);
    let failure: unknown;
    const result = task.result().catch((error: unknown) => {
      failure = error;
    });
    await worker.startUntil(() => failure !== undefined);
    await result;
    expect(failure).toMatchObject({ failureType: failureTypes.WorkerLost });
    expect(String(failure)).toContain('5 attempts in a row');
    // The first one may end its worker before Temporal has heard of it.
    expect(poison.connectionCount()).toBeLessThanOrEqual(mostAttempts + 1);
    expect(worker.process.isRunning()).toBe(true);
  }

  it.concurrent(
    'fails its task for good after five workers that an error ends that no code catches',
    async () => {
      await withPoison('SIGUSR2', (worker, poison) => expectToFail(worker, poison));
    },
    300_000,
  );

  it.concurrent(
    'fails its task for good after five workers that are killed, and tasks beside it succeed',
    async () => {
      await withPoison('SIGKILL', async (worker, poison) => {
        const beside = stack.proxy.inject({ markers: ['PUT '], fault: { kind: 'holdRequest', afterBytes: 100 } });
        // A worker may be killed while its create is on its way.
        const innocent = await worker.run(join(stack.inputs, 'film.mp4'), 'recreate');
        await worker.start();
        await eventually(() => beside.hitCount === 1);
        await expectToFail(worker, poison);
        stack.proxy.release();
        expect(await innocent.result()).toMatchObject({ status: 'Success' });
      });
    },
    300_000,
  );
});

describe('inputs that are pipes without a writer', () => {
  it.concurrent(
    'fail at once, more of them than there are threads for files, and the worker still stops when it is told to',
    async () => {
      const worker = new FragileWorker();
      await worker.start();
      const pipes = Array.from({ length: 8 }, (_, index) => join(stack.inputs, `pipe-${index}`));
      execFileSync('mkfifo', pipes);
      const tasks = await Promise.all(pipes.map((pipe) => worker.run(pipe)));
      for (const task of tasks) {
        await expect(task.result()).rejects.toMatchObject({ failureType: failureTypes.InputUnusable });
      }
      await worker.signal('SIGTERM');
      expect(await worker.process.ended).toEqual({ code: 0, signal: null });
    },
  );
});

describe('an error that no code catches', () => {
  it.concurrent(
    'is logged without secrets, turns the health bad, lets a create finish, and ends the worker with 1',
    async () => {
      const worker = new FragileWorker();
      await worker.start();
      const first = worker.process;
      const health = /"health":"([^"]+)"/.exec(first.output())?.[1] ?? '';
      expect((await fetch(health)).status).toBe(200);
      stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'stall', ms: 4_000 } });
      const creates = (): number =>
        stack.service.ledger.entries().filter(({ endpoint }) => endpoint === 'create').length;
      const before = creates();
      const task = await worker.run(join(stack.inputs, 'film.mp4'));
      await eventually(() => creates() === before + 1, { everyMs: 20 });
      await worker.signal('SIGUSR2');
      await eventually(async () => (await fetch(health)).status === 503, { everyMs: 20 });
      expect(await first.ended).toEqual({ code: 1, signal: null });
      const log = first.output();
      expect(log).toContain('planted rejection');
      expect(log).toContain('uncaughtException');
      expect(log).not.toContain(apiSecret);
      expect(log).not.toContain(stack.service.apiKey);
      await worker.start();
      expect(await task.result()).toMatchObject({ status: 'Success' });
      expect(creates()).toBe(before + 1);
    },
  );

  it.concurrent('ends a receiver in order, with 1', async () => {
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
  });
});
