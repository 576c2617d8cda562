import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { BenchStack } from './bench-stack';
import { build, middle, withSpread } from './processor-time';
import { type Kind, type TaskKinds, withTaskKinds } from './task-kinds';

const USAGE = `Usage: npm run bench:burst -- [options]

How long it takes until the service has all the creates of a burst, beside the smallest workflow with the same activities:
both on one server of Temporal and one service, in turn, with workers from the build. It builds first.

  --tasks NUMBER    started at once (default: 400)
  --repeat NUMBER   repetitions (default: 5)
  --seconds NUMBER  how long a task runs at the service, more than a burst takes (default: 30)
  --built           take lib/ as it is
  --help            show this text

Exit code: 0 when every task succeeded; 1 otherwise.
`;

const compared = ['smallest', 'activity', 'timer'] as const satisfies readonly Kind[];
/** Of the creates, in milliseconds. */
const watchedEveryMs = 5;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '400' },
      repeat: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '30' },
      built: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [tasks = 0, repeat = 0, seconds = 0] = [values.tasks, values.repeat, values.seconds].map(Number);
  const isUsable = [tasks, repeat, seconds].every((number) => Number.isInteger(number) && number > 0);
  if (values.help || !isUsable) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  if (!values.built) await build();
  await withTaskKinds(tasks, { seconds, pollMs: 2_000, atOnce: tasks }, async (all, stack) => {
    await measure(stack, all, tasks, repeat);
  });
}

async function measure(stack: BenchStack, all: TaskKinds, tasks: number, repeat: number): Promise<void> {
  process.stderr.write('warming up\n');
  for (const kind of compared) await burst(stack, all, kind, 20);
  const seconds = new Map<Kind, number[]>(compared.map((kind) => [kind, []]));
  for (let repetition = 1; repetition <= repeat; repetition += 1) {
    for (const kind of compared) {
      process.stderr.write(`repetition ${repetition}: ${kind}\n`);
      seconds.get(kind)?.push(await burst(stack, all, kind, tasks));
    }
  }
  const base = seconds.get('smallest') ?? [];
  for (const [kind, measured] of seconds) {
    const ratios = measured.map((one, index) => one / (base[index] ?? NaN));
    process.stdout.write(`${kind.padEnd(10)}${middle(measured).toFixed(2).padStart(7)} s  ${withSpread(ratios)}\n`);
  }
}

/** The seconds from the first start until the service has all creates; waits until the tasks are over. */
async function burst({ service }: BenchStack, all: TaskKinds, kind: Kind, tasks: number): Promise<number> {
  const due = service.ledger.total('create') + tasks;
  const startedMs = performance.now();
  const state = { isOver: false };
  const run = all.run(kind, tasks).finally(() => {
    state.isOver = true;
  });
  while (service.ledger.total('create') < due && !state.isOver) await delay(watchedEveryMs);
  const tookMs = performance.now() - startedMs;
  const { failed } = await run;
  if (failed > 0) throw new Error(`${failed} tasks of the kind ${kind} failed`);
  return tookMs / 1_000;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
