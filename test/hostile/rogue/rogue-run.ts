import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { NewTaskInput, TaskTuning } from '../../../src/contract/task-input';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { Longhaul } from '../../../src/client/longhaul';
import { longhaulCommand } from '../../support/product-build';
import { serverEnvironment } from '../../../tools/start-server';
import { supervise, type SupervisedProcess } from '../../../tools/supervise';
import { eventually } from '../../support/eventually';
import { listFiles } from '../../support/list-files';
import type { Closer } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { RogueService, type RogueTask } from './rogue-service';
import type { TaskScript } from './task-script';
import { connectClient, temporalAddress } from '../../support/temporal-connection';

/** Short, so that many tasks end in a test. */
export const tuning: Partial<TaskTuning> = {
  poll: { minMs: 300, maxMs: 900 },
  createRetryMs: 200,
  createRetryMaxMs: 1_000,
  createTimeoutMs: 12_000,
  notVisibleGraceMs: 2_000,
  stopGraceMs: 10_000,
  archiveGraceMs: 10_000,
  retryMaxMs: 500,
};
/** A limiter that refusals have closed keeps the tasks of one account only. */
const ACCOUNTS = 20;
const STARTS_AT_ONCE = 20;

export interface TaskEnding {
  readonly task: RogueTask;
  /** Temporal's word, such as COMPLETED. */
  readonly execution: string;
  readonly status: string;
}

/** Tasks at a rogue service, run by one worker process on real Temporal. */
export class RogueRun {
  readonly service: RogueService;
  readonly worker: SupervisedProcess;
  readonly archive: string;
  readonly #client: Client;
  readonly #taskQueue: string;
  readonly #closers: readonly Closer[];

  private constructor(
    parts: Pick<RogueRun, 'service' | 'worker' | 'archive'> & { client: Client; taskQueue: string },
    closers: readonly Closer[],
  ) {
    ({
      service: this.service,
      worker: this.worker,
      archive: this.archive,
      client: this.#client,
      taskQueue: this.#taskQueue,
    } = parts);
    this.#closers = closers;
  }

  /** Starts service and worker, and every task. */
  static async start(scripts: readonly TaskScript[]): Promise<RogueRun> {
    const folder = temporaryFolder();
    const service = new RogueService(scripts);
    await service.start();
    const address = temporalAddress();
    const connection = await connectClient(address);
    const taskQueue = `rogue-${randomUUID()}`;
    const [archive, inputs] = [join(folder.path, 'archive'), join(folder.path, 'inputs')];
    mkdirSync(inputs);
    const worker = await startWorker(folder.path, service.url, { address, archive, inputs, taskQueue });
    const client = new Client({ connection });
    const run = new RogueRun({ service, worker, archive, client, taskQueue }, [
      folder.remove,
      () => connection.close(),
      () => service.stop(),
      () => worker.stop(),
    ]);
    await run.#startTasks(inputs);
    return run;
  }

  async #startTasks(inputs: string): Promise<void> {
    const longhaul = new Longhaul({ client: this.#client, taskQueue: this.#taskQueue });
    const left = [...this.service.tasks];
    const startNext = async (): Promise<void> => {
      for (let task = left.shift(); task !== undefined; task = left.shift()) {
        const { number, script } = task;
        const name = RogueService.fileNameOf(number);
        if (script.hasFile) writeFileSync(join(inputs, name), `the input of task ${number}`);
        const input: NewTaskInput = {
          webAppId: 1,
          account: `account-${number % ACCOUNTS}`,
          inputs: {
            '1:Text.text': `task-${number}`,
            ...(script.hasFile && { '2:LoadImage.image': { file: join(inputs, name) } }),
          },
          watch: script.watch,
          tuning,
        };
        await longhaul.start({ key: this.#keyOf(number), ...input });
      }
    };
    await Promise.all(Array.from({ length: STARTS_AT_ONCE }, startNext));
  }

  /** Waits until all tasks are over, or none has ended for so long. */
  async settle(quietMs: number, withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    let [lastOpen, sinceMs] = [Number.POSITIVE_INFINITY, Date.now()];
    await eventually(
      async () => {
        const open = await this.#countOpen();
        if (open < lastOpen) [lastOpen, sinceMs] = [open, Date.now()];
        return open === 0 || Date.now() - sinceMs > quietMs || Date.now() > deadline;
      },
      { withinMs: withinMs + 60_000, everyMs: 1_000, what: 'the tasks to end' },
    );
  }

  async stopAll(): Promise<void> {
    for await (const { workflowId } of this.#client.workflow.list({ query: this.#openQuery })) {
      await this.#client.workflow
        .getHandle(workflowId)
        .cancel()
        .catch((error: unknown) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        });
    }
  }

  /** Waits until no task is open, or the time is over. One that misses outputs for good is given up, as a person would. */
  async waitUntilClosed(withinMs: number): Promise<void> {
    const longhaul = new Longhaul({ client: this.#client, taskQueue: this.#taskQueue });
    const deadline = Date.now() + withinMs;
    await eventually(
      async () => {
        if ((await this.#countOpen()) === 0 || Date.now() > deadline) return true;
        for await (const { workflowId, typedSearchAttributes } of this.#client.workflow.list({
          query: this.#openQuery,
        })) {
          if (typedSearchAttributes.get(searchAttributes.status) !== 'ArchiveIncomplete') continue;
          await longhaul
            .task(workflowId)
            .abandon()
            .catch(() => undefined);
        }
        return false;
      },
      { withinMs: withinMs + 60_000, everyMs: 2_000, what: 'the tasks to be stopped' },
    );
  }

  /** Every task, by its number, as Temporal lists it. */
  async endings(): Promise<readonly TaskEnding[]> {
    const endings = new Map<string, { readonly execution: string; readonly status: string }>();
    for await (const each of this.#client.workflow.list({ query: `TaskQueue = '${this.#taskQueue}'` })) {
      const status = each.typedSearchAttributes.get(searchAttributes.status) ?? '';
      endings.set(each.workflowId, { execution: each.status.name, status });
    }
    return this.service.tasks.map((task) => {
      const ending = endings.get(`task:${this.#keyOf(task.number)}`) ?? { execution: 'NOT LISTED', status: '' };
      return { task, ...ending };
    });
  }

  archived(): ReadonlySet<string> {
    return new Set(listFiles(this.archive).map((file) => sha256(readFileSync(join(this.archive, file)))));
  }

  async failureMessage(number: number): Promise<string> {
    const handle = this.#client.workflow.getHandle(`task:${this.#keyOf(number)}`);
    return handle.result().then(
      (result) => JSON.stringify(result).slice(0, 500),
      (error: unknown) => {
        const { message, cause } = error instanceof Error ? error : new Error(String(error));
        return `${message}: ${cause instanceof Error ? cause.message : ''}`.slice(0, 500);
      },
    );
  }

  /** Most memory that the worker has held at once, in MiB; Linux only. */
  workerPeakMebibytes(): number {
    const text = readFileSync(`/proc/${this.worker.pid}/status`, 'utf8');
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024);
  }

  async close(): Promise<void> {
    for await (const { workflowId } of this.#client.workflow.list({ query: this.#openQuery })) {
      await this.#client.workflow
        .getHandle(workflowId)
        .terminate('the test is over')
        .catch(() => undefined);
    }
    for (const close of [...this.#closers].reverse()) await close();
  }

  get #openQuery(): string {
    return `TaskQueue = '${this.#taskQueue}' AND ExecutionStatus = 'Running'`;
  }

  async #countOpen(): Promise<number> {
    return (await this.#client.workflow.count(this.#openQuery)).count;
  }

  #keyOf(number: number): string {
    return `${this.#taskQueue}-${number}`;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Starts a worker process for a service that is not honest, and waits until it works. */
export async function startWorker(
  folder: string,
  serviceUrl: string,
  { address, archive, inputs, taskQueue }: Readonly<Record<'address' | 'archive' | 'inputs' | 'taskQueue', string>>,
  more: { readonly accounts?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<SupervisedProcess & { readonly env: NodeJS.ProcessEnv }> {
  const accounts = Array.from({ length: more.accounts ?? ACCOUNTS }, (_, index) => [
    `account-${index}`,
    { apiKey: `sk-rogue-${index}` },
  ]);
  const accountsFile = join(folder, 'accounts.json');
  writeFileSync(accountsFile, JSON.stringify(Object.fromEntries(accounts)));
  const env = {
    ...serverEnvironment(),
    TEMPORAL_ADDRESS: address,
    LONGHAUL_SERVICE_URL: serviceUrl,
    LONGHAUL_ACCOUNTS_FILE: accountsFile,
    LONGHAUL_ARCHIVE: archive,
    LONGHAUL_INPUT_ROOTS: inputs,
    LONGHAUL_LOG_LEVEL: 'info',
    ...more.env,
  };
  const worker = await supervise({
    ...longhaulCommand(['worker', '--task-queue', taskQueue]),
    cwd: join(__dirname, '../../..'),
    logFile: join(folder, 'worker.log'),
    env,
  });
  await eventually(() => !worker.isRunning() || worker.output().includes('"msg":"worker started"'), {
    withinMs: 60_000,
    what: 'the worker to start',
  });
  if (!worker.isRunning()) throw new Error(`The worker did not start:\n${worker.output()}`);
  return Object.assign(worker, { env });
}
