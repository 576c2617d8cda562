import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { errorMessage } from '../src/core/text';
import { supervise, type SupervisedProcess } from '../tools/supervise';
import { Load, type LoadResult } from './load-service';
import { mebibytes, processUse } from './process-use';

const USAGE = `Usage: npm run bench:reference -- [options]

Puts the reference service, in a process of its own on the loopback address, under load, and prints figures.

  --tasks NUMBER     tasks in flight at any time (default: 2000)
  --rate NUMBER      detail requests a second (default: 500)
  --seconds NUMBER   how long (default: 60)
  --help             show this text

Exit code: 0 when there was no error and the rate was kept within 5 %, 1 otherwise.
`;

/** A task lasts long enough that the number in flight is not that of the creates at the same moment. */
const TASK_SECONDS = [30, 90] as const;
const READY_WITHIN_MS = 300_000;
const SETTLE_MS = 10_000;
const LOOK_EVERY_MS = 1_000;

interface Figures {
  readonly load: LoadResult;
  readonly rssIdle: number;
  readonly rssPrepared: number;
  /** One value a second. */
  readonly rssDuring: readonly number[];
  readonly rssAfter: number;
  readonly cpuShare: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '2000' },
      rate: { type: 'string', default: '500' },
      seconds: { type: 'string', default: '60' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const [tasks, rate, seconds] = [values.tasks, values.rate, values.seconds].map(readNumber);
  if (tasks === undefined || rate === undefined || seconds === undefined) throw new Error(USAGE);
  const service = await startService(tasks);
  try {
    const { url, apiKey } = await whenReady(service);
    const options = { url, apiKey, tasks, detailsPerSecond: rate, seconds, taskSeconds: TASK_SECONDS };
    const figures = await press(service.pid, new Load(options), seconds);
    process.stdout.write(textOf(figures));
    const isKept = figures.load.detailsPerSecond >= 0.95 * rate;
    process.exitCode = figures.load.errors.size === 0 && isKept ? 0 : 1;
  } finally {
    await service.stop();
  }
}

/** Half of the tasks run at a time, the others wait. */
function startService(tasks: number): Promise<SupervisedProcess> {
  const main = join(__dirname, '../reference-service/main.ts');
  return supervise({
    command: process.execPath,
    args: ['--require', 'tsx/cjs', main, '--slots', String(Math.ceil(tasks / 2))],
  });
}

async function whenReady(service: SupervisedProcess): Promise<{ url: string; apiKey: string }> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (service.isRunning() && Date.now() < deadline) {
    const [, url] = /LONGHAUL_SERVICE_URL=(\S+)/.exec(service.output()) ?? [];
    const [, apiKey] = /LONGHAUL_API_KEY=(\S+)/.exec(service.output()) ?? [];
    if (url !== undefined && apiKey !== undefined) return { url, apiKey };
    await delay(100);
  }
  throw new Error(`the reference service did not start:\n${service.output()}`);
}

async function press(pid: number, load: Load, seconds: number): Promise<Figures> {
  const idle = await processUse(pid);
  process.stderr.write('creating the tasks\n');
  await load.prepare();
  const prepared = await processUse(pid);
  process.stderr.write(`asking for ${seconds} s\n`);
  const rssDuring: number[] = [];
  const watch = setInterval(() => {
    void processUse(pid).then(({ rssBytes }) => rssDuring.push(rssBytes));
  }, LOOK_EVERY_MS);
  const startedAtMs = performance.now();
  const result = await load.run().finally(() => {
    clearInterval(watch);
  });
  const pressed = await processUse(pid);
  const cpuShare = (pressed.cpuSeconds - prepared.cpuSeconds) / ((performance.now() - startedAtMs) / 1_000);
  await load.close();
  await delay(SETTLE_MS);
  const rssAfter = (await processUse(pid)).rssBytes;
  return { load: result, rssIdle: idle.rssBytes, rssPrepared: prepared.rssBytes, rssDuring, rssAfter, cpuShare };
}

function textOf({ load, rssIdle, rssPrepared, rssDuring, rssAfter, cpuShare }: Figures): string {
  const everyTenth = rssDuring.filter((_, second) => second % 10 === 9);
  const errors = [...load.errors].map(([error, times]) => `  ${times} x ${error}`);
  return [
    `detail requests  ${load.details.count} at ${load.detailsPerSecond.toFixed(1)} a second; ${load.details.toString()}`,
    `creates          ${load.creates.count}; ${load.creates.toString()}`,
    `outputs          ${load.outputs.count}; ${load.outputs.toString()}`,
    `tasks in flight  ${load.fewestInFlight} to ${load.mostInFlight}; ${load.tasksEnded} ended`,
    `memory (RSS)     idle ${mebibytes(rssIdle)}, with all tasks ${mebibytes(rssPrepared)}, at most ${mebibytes(Math.max(...rssDuring))}, ${SETTLE_MS / 1_000} s after ${mebibytes(rssAfter)}`,
    `                 every 10 s: ${everyTenth.map(mebibytes).join(', ')}`,
    `processor        ${(100 * cpuShare).toFixed(0)} % of one core`,
    `errors           ${[...load.errors.values()].reduce((sum, times) => sum + times, 0)}`,
    ...errors,
    '',
  ].join('\n');
}

function readNumber(text: string): number | undefined {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
