import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowTaskQueue } from '../src/contract/task-queues';
import { withBenchStack } from './bench-stack';

/** The reference service's app that hands a file back. */
const courier = 11;
const atOnce = 20;

/** Which files of Longhaul a share counts. A call counts with all that it calls, but for other files of Longhaul. */
const parts: Readonly<Record<string, readonly string[]>> = {
  'redaction of texts': ['core/redact', 'core/text', 'core/uri', 'worker/logger'],
  'reading replies with bounds, JSON and schemas included': [
    ...['service/envelope', 'service/tasks', 'service/inputs'],
  ],
  'checks of connections, files and outputs': [
    ...['storage/connection-rule', 'storage/local-file', 'storage/minimum-rate', 'activities/output-limits'],
  ],
};

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}
interface Frame {
  readonly functionName: string;
  readonly url: string;
}

/** Begins a profile of the main thread at the first SIGUSR2, and writes it at the second. */
function profiler(file: string): string {
  const program = `
    import { isMainThread } from 'node:worker_threads';
    import { Session } from 'node:inspector';
    import { renameSync, writeFileSync } from 'node:fs';
    const file = ${JSON.stringify(file)};
    const session = new Session();
    if (isMainThread) process.once('SIGUSR2', () => {
      session.connect();
      session.post('Profiler.enable');
      session.post('Profiler.start');
      process.once('SIGUSR2', () => session.post('Profiler.stop', (_error, { profile }) => {
        writeFileSync(file + '.part', JSON.stringify(profile));
        renameSync(file + '.part', file);
      }));
    });`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

/**
 * Runs whole tasks (a file up, a create, a watch, a file down) on real parts, with one worker under Node's profiler.
 *
 * @returns how much of the processor time of the worker's main thread was in each part, in percent.
 */
export async function profileTasks(count: number): Promise<Readonly<Record<string, number>>> {
  for (const file of Object.values(parts).flat()) {
    if (!existsSync(join(__dirname, `../src/${file}.ts`))) throw new Error(`bench/task-profile.ts: no src/${file}.ts`);
  }
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-profile-'));
  const profile = join(folder, 'profile.json');
  try {
    await withBenchStack(
      atOnce,
      async ({ client, folder: inputs, worker }) => {
        const file = join(inputs, 'chelsea.png');
        await copyFile(join(__dirname, '../examples/photos/chelsea.png'), file);
        await runTasks(client, file, atOnce);
        process.kill(worker.pid, 'SIGUSR2');
        await runTasks(client, file, count);
        process.kill(worker.pid, 'SIGUSR2');
        while (!existsSync(profile)) await delay(100);
      },
      { NODE_OPTIONS: profiler(profile) },
    );
    return sharesOf(JSON.parse(readFileSync(profile, 'utf8')) as Profile);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runTasks(client: Client, file: string, count: number): Promise<void> {
  let left = count;
  const runNext = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.workflow.execute('task', {
        taskQueue: workflowTaskQueue,
        workflowId: `task:${randomUUID()}`,
        args: [{ webAppId: courier, inputs: { '1:LoadFile.file': { file } } }],
      });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
}

const nothing: ReadonlySet<string> = new Set();

function sharesOf({ nodes, samples, timeDeltas }: Profile): Readonly<Record<string, number>> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const partsOf = new Map<number, ReadonlySet<string>>();
  const visit = (id: number, above: ReadonlySet<string>): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const own = Object.keys(parts).filter((name) =>
      parts[name]?.some((file) => node.callFrame.url.endsWith(`/src/${file}.ts`)),
    );
    const isOther = own.length === 0 && /\/src\/\w+\/[\w/-]+\.ts$/.test(node.callFrame.url);
    const all = isOther ? nothing : own.length === 0 ? above : new Set([...above, ...own]);
    partsOf.set(id, all);
    for (const child of node.children ?? []) visit(child, all);
  };
  if (nodes[0] !== undefined) visit(nodes[0].id, new Set());
  const tookUs = new Map<string, number>();
  let busyUs = 0;
  for (const [index, id] of samples.entries()) {
    const us = timeDeltas[index] ?? 0;
    if (byId.get(id)?.callFrame.functionName === '(idle)') continue;
    busyUs += us;
    for (const name of partsOf.get(id) ?? []) tookUs.set(name, (tookUs.get(name) ?? 0) + us);
  }
  return Object.fromEntries(Object.keys(parts).map((name) => [name, (100 * (tookUs.get(name) ?? 0)) / busyUs]));
}
