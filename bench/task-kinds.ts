import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from '@swc/core';
import { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { loadLonghaulDataConverter } from '../src/client/codec/data-converter';
import { batchWorkflowId, rowWorkflowId } from '../src/contract/workflow-ids';
import { taskSearchAttributes } from '../src/contract/search-attributes';
import { workflowTaskQueue } from '../src/contract/task-queues';
import { supervise, type SupervisedProcess } from '../tools/supervise';
import { type BenchStack, whenStarted, withBenchStack } from './bench-stack';
import { historyCost } from './history-cost';
import { builtCommand } from './processor-time';

/**
 * The smallest workflow, a task watched by timer and by activity, a row of a batch; and a task watched by activity, with
 * plain and with encrypted payloads, each on a worker that runs nothing else.
 */
export const kinds = ['smallest', 'timer', 'activity', 'row', 'plain', 'encrypted'] as const;
export type Kind = (typeof kinds)[number];

/** Of a worker that runs nothing else, on a task queue of that name. */
type KindApart = 'plain' | 'encrypted';

function isApart(kind: Kind): kind is KindApart {
  return kind === 'plain' || kind === 'encrypted';
}

/** What the tasks are like. */
export interface TaskKindOptions {
  /** How long each runs at the service; 0 is done at once. */
  readonly seconds: number;
  readonly pollMs: number;
  /** So many at the same time, of each kind. @default 100 */
  readonly atOnce?: number;
}

/** Of one run of tasks of a kind, a task each; a batch counts with its rows. */
export interface Figures {
  readonly events: number;
  /** Size of the history. */
  readonly bytes: number;
  readonly actions: number;
  readonly actionKinds: ReadonlyMap<string, number>;
  /** As often as the cadence asks for between the create and the end. */
  readonly pollsAskedFor: number;
  readonly polls: number;
  /** Tasks that did not succeed, all together. */
  readonly failed: number;
}

/** A run of tasks that are over; its histories can be read after the processor time was. */
export interface TaskRunOfKind {
  /** Tasks that did not succeed, all together. */
  readonly failed: number;
  figures(): Promise<Figures>;
}

/** The reference service's app that gives one picture. */
const swatch = 5;
const defaultAtOnce = 100;
/** So many histories are read of each run. */
const sampleSize = 40;
/** What no history has: these operations of Temporal's frontend are billed as well. */
const billedOperations = { RecordActivityTaskHeartbeat: 'heartbeat', QueryWorkflow: 'query' } as const;

/** Runs `during` with all kinds on a stack for so many tasks at once; everything is from the build. */
export async function withTaskKinds(
  tasks: number,
  options: TaskKindOptions,
  during: (kinds: TaskKinds, stack: BenchStack) => Promise<void>,
): Promise<void> {
  const withKinds = async (stack: BenchStack): Promise<void> => {
    const all = await TaskKinds.open(stack, options);
    try {
      await during(all, stack);
    } finally {
      await all.close();
    }
  };
  await withBenchStack(tasks, withKinds, {}, builtCommand);
}

/** Runs tasks of each kind on one stack, and reads what they took. */
export class TaskKinds {
  readonly #stack: BenchStack;
  readonly #options: TaskKindOptions;
  readonly #smallestWorker: SupervisedProcess;
  /** Of the kinds that have a worker and a task queue of their own. */
  readonly #workersOfKinds: Readonly<Record<KindApart, SupervisedProcess>>;
  /** Reads and writes encrypted payloads, and reads plain ones. */
  readonly #encrypting: Client;

  private constructor(
    stack: BenchStack,
    options: TaskKindOptions,
    workers: Readonly<Record<KindApart | 'smallest', SupervisedProcess>>,
    encrypting: Client,
  ) {
    this.#stack = stack;
    this.#options = options;
    this.#smallestWorker = workers.smallest;
    this.#workersOfKinds = workers;
    this.#encrypting = encrypting;
  }

  /** Starts the worker of the smallest workflow, without a loader in its process. */
  static async open(stack: BenchStack, options: TaskKindOptions): Promise<TaskKinds> {
    const folder = join(stack.folder, 'smallest');
    mkdirSync(folder);
    for (const name of ['activities', 'worker']) {
      const filename = join(__dirname, `smallest/${name}.ts`);
      const { code } = transformSync(readFileSync(filename, 'utf8'), {
        filename,
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'commonjs' },
      });
      writeFileSync(join(folder, `${name}.js`), code);
    }
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(__dirname, 'smallest/workflow.ts'),
      logger: new DefaultLogger('WARN'),
    });
    const bundle = join(folder, 'bundle.js');
    writeFileSync(bundle, code);
    const worker = await supervise({
      command: process.execPath,
      args: [join(folder, 'worker.js')],
      env: {
        ...stack.env,
        NODE_PATH: join(__dirname, '../node_modules'),
        SMALLEST_BUNDLE: bundle,
        SMALLEST_SERVICE: stack.service.url,
        SMALLEST_API_KEY: stack.service.apiKey,
        SMALLEST_FOLDER: join(folder, 'files'),
      },
    });
    await whenStarted(worker);
    const keysFile = join(stack.folder, 'codec-keys.json');
    writeFileSync(keysFile, JSON.stringify({ current: 'k', keys: { k: randomBytes(32).toString('base64') } }));
    const env = { ...stack.env, LONGHAUL_CODEC_KEYS_FILE: keysFile };
    const plain = await supervise({ ...builtCommand(['worker', '--task-queue', 'plain']), env: stack.env });
    const encrypted = await supervise({ ...builtCommand(['worker', '--task-queue', 'encrypted']), env });
    await Promise.all([plain, encrypted].map(whenStarted));
    const dataConverter = loadLonghaulDataConverter(env);
    const client = new Client({ connection: stack.client.connection, dataConverter });
    return new TaskKinds(stack, options, { smallest: worker, plain, encrypted }, client);
  }

  async close(): Promise<void> {
    const { plain, encrypted } = this.#workersOfKinds;
    await Promise.all([this.#smallestWorker, plain, encrypted].map((worker) => worker.stop()));
  }

  /** The process whose processor time a kind takes. */
  workerPid(kind: Kind): number {
    if (kind === 'smallest') return this.#smallestWorker.pid;
    return isApart(kind) ? this.#workersOfKinds[kind].pid : this.#stack.worker.pid;
  }

  /** Runs so many tasks of a kind to their ends. */
  async run(kind: Kind, tasks: number): Promise<TaskRunOfKind> {
    const { ledger } = this.#stack.service;
    const before = { polls: ledger.total('detail'), billed: await this.#billed() };
    const run = kind === 'row' ? await this.#runBatch(tasks) : await this.#runTasks(kind, tasks);
    const polls = ledger.total('detail') - before.polls;
    const billed = await this.#billed();
    return {
      failed: run.failed,
      figures: async () => {
        const client = this.#encrypting;
        const sample = run.workflowIds.slice(0, sampleSize);
        const total = { events: 0, bytes: 0, actions: 0, failed: run.failed };
        const actionKinds = new Map<string, number>();
        const add = (name: string, count: number): void => {
          actionKinds.set(name, (actionKinds.get(name) ?? 0) + count);
          total.actions += count;
        };
        const count = async (workflowId: string, share: number): Promise<void> => {
          const handle = client.workflow.getHandle(workflowId);
          const { historySize = 0 } = await handle.describe();
          const cost = historyCost((await handle.fetchHistory()).events ?? []);
          total.events += cost.events / share;
          total.bytes += historySize / share;
          for (const [name, times] of cost.kinds) add(name, times / share);
        };
        for (const workflowId of sample) await count(workflowId, sample.length);
        if (run.batchWorkflowId !== undefined) await count(run.batchWorkflowId, tasks);
        for (const [name, times] of billed) add(name, (times - (before.billed.get(name) ?? 0)) / tasks);
        const { seconds, pollMs } = this.#options;
        const pollsAskedFor = Math.max(1, Math.ceil((seconds * 1_000) / pollMs));
        return { ...total, actionKinds, pollsAskedFor, polls: polls / tasks };
      },
    };
  }

  get #inputs(): Record<string, number> {
    return this.#options.seconds === 0 ? {} : { '2:Wait.seconds': this.#options.seconds };
  }

  async #runTasks(kind: Exclude<Kind, 'row'>, tasks: number): Promise<EndedRun> {
    const { pollMs, atOnce = defaultAtOnce } = this.#options;
    const task = { webAppId: swatch, inputs: this.#inputs };
    const start =
      kind === 'smallest'
        ? { type: 'smallest', taskQueue: 'smallest', input: { ...task, pollMs } }
        : {
            type: 'task',
            taskQueue: isApart(kind) ? kind : workflowTaskQueue,
            input: {
              ...task,
              watch: kind === 'timer' ? kind : 'activity',
              tuning: { poll: { minMs: pollMs, maxMs: pollMs } },
            },
          };
    const workflowIds = Array.from({ length: tasks }, () => `task:${randomUUID()}`);
    let next = 0;
    let failed = 0;
    const runNext = async (): Promise<void> => {
      for (let id = workflowIds[next++]; id !== undefined; id = workflowIds[next++]) {
        const { type, taskQueue, input } = start;
        // As Longhaul's client starts it.
        const attributes = { status: 'Creating', account: 'default', webAppId: swatch, requestId: null } as const;
        const typedSearchAttributes = kind === 'smallest' ? [] : taskSearchAttributes(attributes);
        const options = { taskQueue, workflowId: id, args: [input], typedSearchAttributes };
        const client = kind === 'encrypted' ? this.#encrypting : this.#stack.client;
        await client.workflow.execute(type, options).catch(() => (failed += 1));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, runNext));
    return { workflowIds, failed, batchWorkflowId: undefined };
  }

  async #runBatch(rows: number): Promise<EndedRun> {
    const { folder, env } = this.#stack;
    const { pollMs, atOnce = defaultAtOnce } = this.#options;
    const id = randomUUID();
    const keys = Array.from({ length: rows }, (_, row) => `row-${row}`);
    const file = join(folder, `${id}.jsonl`);
    const row = { webAppId: swatch, inputs: this.#inputs, tuning: { poll: { minMs: pollMs, maxMs: pollMs } } };
    writeFileSync(file, keys.map((key) => `${JSON.stringify({ key, ...row })}\n`).join(''));
    const args = ['batch', 'run', file, '--id', id, '--concurrency', String(atOnce), '--json'];
    const command = await supervise({ ...builtCommand(args), env });
    const { code } = await command.ended;
    if (code !== 0) process.stderr.write(command.output());
    return {
      workflowIds: keys.map((key) => rowWorkflowId(id, key)),
      failed: code === 0 ? 0 : rows,
      batchWorkflowId: batchWorkflowId(id),
    };
  }

  /** How often the billed operations were called so far, by their names here. */
  async #billed(): Promise<ReadonlyMap<string, number>> {
    const text = await (await fetch(this.#stack.metricsUrl)).text();
    const calls = new Map<string, number>(Object.values(billedOperations).map((name) => [name, 0]));
    for (const [, labels = '', value] of text.matchAll(/^service_requests\{([^}]*)\} (\S+)$/gm)) {
      const operation = /\boperation="([^"]+)"/.exec(labels)?.[1] ?? '';
      if (!labels.includes(`service_name="frontend"`) || !(operation in billedOperations)) continue;
      const name = billedOperations[operation as keyof typeof billedOperations];
      calls.set(name, (calls.get(name) ?? 0) + Number(value));
    }
    return calls;
  }
}

interface EndedRun {
  readonly workflowIds: readonly string[];
  readonly failed: number;
  readonly batchWorkflowId: string | undefined;
}
