import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@temporalio/client';
import { loadLonghaulDataConverter } from '../src/client/codec/data-converter';
import { taskSearchAttributes } from '../src/contract/search-attributes';
import { supervise, type SupervisedProcess } from '../tools/supervise';
import { type BenchStack, whenStarted, withBenchStack } from './bench-stack';
import { build, builtCommand, cpuDuring, idleCpu, middle, withSpread } from './processor-time';

const USAGE = `Usage: npm run bench:overhead -- [options]

What metrics, traces and encryption cost a task: the same tasks on workers of the build with nothing, with each of the
three, and with all, on one server of Temporal and one service, in turn. It builds first.

  --tasks NUMBER    of each kind in each repetition (default: 300)
  --repeat NUMBER   repetitions (default: 7)
  --built           take lib/ as it is
  --help            show this text

Exit code: 0 when every task succeeded and all three together take less than 10 % more, by the median; 1 otherwise.
`;

/** "nothing again" is a worker like "nothing": what lies between the two is noise. */
const kinds = ['nothing', 'nothing again', 'metrics', 'traces', 'encryption', 'all three'] as const;
type Kind = (typeof kinds)[number];

/** The reference service's app that gives one picture. */
const swatch = 5;
const atOnce = 100;
const pollMs = 1_000;
const scrapeEveryMs = 5_000;
const mostOfAllThree = 1.1;

/** A worker of one kind, and the client whose payloads it reads. */
interface Subject {
  readonly worker: SupervisedProcess;
  readonly client: Client;
  readonly taskQueue: string;
  /** Of metrics; null without. */
  readonly metricsUrl: string | null;
}

interface Cpu {
  readonly worker: number;
  readonly temporal: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '300' },
      repeat: { type: 'string', default: '7' },
      built: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [tasks = 0, repeat = 0] = [values.tasks, values.repeat].map(Number);
  const isUsable = [tasks, repeat].every((number) => Number.isInteger(number) && number > 0);
  if (values.help || !isUsable) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  if (!values.built) await build();
  const collector = await Collector.start();
  try {
    await withBenchStack(
      tasks,
      async (stack) => {
        const subjects = await startWorkers(stack, collector.url);
        try {
          await measure(stack, subjects, tasks, repeat, collector);
        } finally {
          await Promise.all([...subjects.values()].map(({ worker }) => worker.stop()));
        }
      },
      {},
      builtCommand,
    );
  } finally {
    collector.close();
  }
}

async function startWorkers(stack: BenchStack, collectorUrl: string): Promise<ReadonlyMap<Kind, Subject>> {
  const keysFile = join(stack.folder, 'codec-keys.json');
  writeFileSync(keysFile, JSON.stringify({ current: 'k', keys: { k: randomBytes(32).toString('base64') } }));
  const traces = { LONGHAUL_TRACES_OTLP_URL: collectorUrl };
  const encryption = { LONGHAUL_CODEC_KEYS_FILE: keysFile };
  const dataConverter = loadLonghaulDataConverter(encryption);
  const encrypting = new Client({ connection: stack.client.connection, dataConverter });
  const metrics = async () => ({ LONGHAUL_METRICS: await freeAddress() });
  const further: Readonly<Record<Kind, NodeJS.ProcessEnv>> = {
    nothing: {},
    'nothing again': {},
    metrics: await metrics(),
    traces,
    encryption,
    'all three': { ...(await metrics()), ...traces, ...encryption },
  };
  const subjects = new Map<Kind, Subject>();
  for (const kind of kinds) {
    const env = further[kind];
    const taskQueue = kind.replaceAll(' ', '-');
    const worker = await supervise({
      ...builtCommand(['worker', '--task-queue', taskQueue]),
      env: { ...stack.env, ...env },
    });
    await whenStarted(worker);
    const { LONGHAUL_METRICS: address } = env;
    const metricsUrl = address === undefined ? null : `http://${address}/metrics`;
    const client = 'LONGHAUL_CODEC_KEYS_FILE' in env ? encrypting : stack.client;
    subjects.set(kind, { worker, client, taskQueue, metricsUrl });
  }
  return subjects;
}

async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}

async function measure(
  stack: BenchStack,
  subjects: ReadonlyMap<Kind, Subject>,
  tasks: number,
  repeat: number,
  collector: Collector,
): Promise<void> {
  process.stderr.write('warming up\n');
  for (const subject of subjects.values()) await run(subject, Math.min(tasks, 100));
  const cpu = new Map<Kind, Cpu[]>(kinds.map((kind) => [kind, []]));
  let failed = 0;
  for (let repetition = 1; repetition <= repeat; repetition += 1) {
    const pids = [...subjects.values()].map(({ worker }) => worker.pid);
    const idle = await idleCpu([stack.temporalPid, ...pids]);
    // Each kind comes first in turn: what the machine does meanwhile meets none of them more often.
    const shift = (repetition - 1) % kinds.length;
    for (const kind of [...kinds.slice(shift), ...kinds.slice(0, shift)]) {
      process.stderr.write(`repetition ${repetition}: ${kind}\n`);
      const subject = subjects.get(kind);
      if (subject === undefined) continue;
      const spent = await cpuDuring([subject.worker.pid, stack.temporalPid], idle, () => run(subject, tasks));
      const [worker = NaN, temporal = NaN] = spent.cpuMs;
      cpu.get(kind)?.push({ worker: worker / tasks, temporal: temporal / tasks });
      failed += spent.result;
    }
  }
  print(cpu, failed);
  process.stdout.write(`\n${collector.spans} spans came in ${collector.requests} requests\n`);
  const isCheap = middle(ratiosOf(cpu, 'all three')) < mostOfAllThree;
  process.exitCode = failed === 0 && isCheap && collector.spans > 0 ? 0 : 1;
}

/** Runs so many tasks to their ends; returns how many did not succeed. */
async function run({ client, taskQueue, metricsUrl }: Subject, tasks: number): Promise<number> {
  const input = { webAppId: swatch, inputs: {}, watch: 'activity', tuning: { poll: { minMs: pollMs, maxMs: pollMs } } };
  const attributes = { status: 'Creating', account: 'default', webAppId: swatch, requestId: null } as const;
  const typedSearchAttributes = taskSearchAttributes(attributes);
  const scrape =
    metricsUrl === null
      ? undefined
      : setInterval(() => void fetch(metricsUrl).then((reply) => reply.arrayBuffer()), scrapeEveryMs);
  let left = tasks;
  let failed = 0;
  const runNext = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      const options = { taskQueue, workflowId: `task:${randomUUID()}`, args: [input], typedSearchAttributes };
      await client.workflow.execute('task', options).catch(() => (failed += 1));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  clearInterval(scrape);
  return failed;
}

function ratiosOf(cpu: ReadonlyMap<Kind, readonly Cpu[]>, kind: Kind, part: 'worker' | 'both' = 'both'): number[] {
  const sum = ({ worker, temporal }: Cpu): number => (part === 'worker' ? worker : worker + temporal);
  const base = (cpu.get('nothing') ?? []).map(sum);
  return (cpu.get(kind) ?? []).map((one, index) => sum(one) / (base[index] ?? NaN));
}

function print(cpu: ReadonlyMap<Kind, readonly Cpu[]>, failed: number): void {
  const line = (...cells: readonly string[]): void => {
    const [first = '', ...others] = cells;
    process.stdout.write(`${first.padEnd(24)}${others.map((cell) => cell.padStart(19)).join('')}\n`);
  };
  const each = (what: string, value: (kind: Kind) => string): void => {
    line(what, ...kinds.map(value));
  };
  const figures = (kind: Kind): readonly Cpu[] => cpu.get(kind) ?? [];
  line('a task', ...kinds);
  each('CPU of the worker, ms', (kind) => middle(figures(kind).map(({ worker }) => worker)).toFixed(1));
  each('CPU of Temporal, ms', (kind) => middle(figures(kind).map(({ temporal }) => temporal)).toFixed(1));
  each('CPU, to "nothing"', (kind) => withSpread(ratiosOf(cpu, kind)));
  each('worker, to "nothing"', (kind) => withSpread(ratiosOf(cpu, kind, 'worker')));
  line('failed', String(failed));
}

/** Takes spans of OTLP over HTTP, in this process, and counts them. */
class Collector {
  spans = 0;
  requests = 0;
  readonly #server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      this.requests += 1;
      this.spans += text.split('"spanId":').length - 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
