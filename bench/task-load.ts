import { parseArgs } from 'node:util';
import type { BenchStack } from './bench-stack';
import { build, cpuDuring, idleCpu, middle, withSpread } from './processor-time';
import { type Figures, type Kind, kinds, type TaskKinds, withTaskKinds } from './task-kinds';

const USAGE = `Usage: npm run bench:task -- [options]

What a task costs, beside the smallest workflow with the same three activities (create, watch, fetch): both on one server of
Temporal and one service, in turn, with workers from the build. It builds first.

  --tasks NUMBER    of each kind in each repetition (default: 300)
  --repeat NUMBER   repetitions (default: 5)
  --seconds NUMBER  how long a task runs at the service (default: 0, done at once)
  --every NUMBER    seconds between two polls of a task (default: 1)
  --built           take lib/ as it is
  --help            show this text

Exit code: 0 when every task succeeded; 1 otherwise.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      tasks: { type: 'string', default: '300' },
      repeat: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '0' },
      every: { type: 'string', default: '1' },
      built: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [tasks = 0, repeat = 0, seconds = 0, every = 0] = [
    values.tasks,
    values.repeat,
    values.seconds,
    values.every,
  ].map(Number);
  const isUsable = [tasks, repeat].every((number) => Number.isInteger(number) && number > 0);
  if (values.help || !isUsable || !(seconds >= 0) || !(every > 0)) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  if (!values.built) await build();
  await withTaskKinds(tasks, { seconds, pollMs: every * 1_000 }, async (all, stack) => {
    await measure(stack, all, tasks, repeat);
  });
}

/** Processor time of one kind in one repetition, without what is taken when nothing is done, in milliseconds a task. */
interface Cpu {
  readonly worker: number;
  readonly temporal: number;
}

async function measure(stack: BenchStack, all: TaskKinds, tasks: number, repeat: number): Promise<void> {
  process.stderr.write('warming up\n');
  for (const kind of kinds) await all.run(kind, Math.min(tasks, 20));
  const cpu = new Map<Kind, Cpu[]>(kinds.map((kind) => [kind, []]));
  const figures = new Map<Kind, Figures[]>(kinds.map((kind) => [kind, []]));
  for (let repetition = 1; repetition <= repeat; repetition += 1) {
    const idle = await idleCpu([stack.temporalPid, ...new Set(kinds.map((kind) => all.workerPid(kind)))]);
    for (const kind of kinds) {
      process.stderr.write(`repetition ${repetition}: ${kind}\n`);
      const pids = [all.workerPid(kind), stack.temporalPid];
      const spent = await cpuDuring(pids, idle, () => all.run(kind, tasks));
      const [worker = NaN, temporal = NaN] = spent.cpuMs;
      cpu.get(kind)?.push({ worker: worker / tasks, temporal: temporal / tasks });
      figures.get(kind)?.push(await spent.result.figures());
    }
  }
  print(cpu, figures);
  const succeeded = [...figures.values()].flat().every((figure) => figure.failed === 0);
  process.exitCode = succeeded ? 0 : 1;
}

function print(cpu: ReadonlyMap<Kind, readonly Cpu[]>, figures: ReadonlyMap<Kind, readonly Figures[]>): void {
  const base = (cpu.get('smallest') ?? []).map(({ worker, temporal }) => worker + temporal);
  const line = (...cells: readonly string[]): void => {
    process.stdout.write(
      `${cells.map((cell, index) => (index === 0 ? cell.padEnd(24) : cell.padStart(17))).join('')}\n`,
    );
  };
  const each = (what: string, value: (kind: Kind) => string): void => {
    line(what, ...kinds.map(value));
  };
  const ofCpu = (read: (one: Cpu) => number): ((kind: Kind) => string) => {
    return (kind) => middle((cpu.get(kind) ?? []).map(read)).toFixed(1);
  };
  const ofFigures = (read: (one: Figures) => number, digits = 1): ((kind: Kind) => string) => {
    return (kind) => middle((figures.get(kind) ?? []).map(read)).toFixed(digits);
  };
  line('a task', ...kinds);
  each(
    'CPU of the worker, ms',
    ofCpu(({ worker }) => worker),
  );
  each(
    'CPU of Temporal, ms',
    ofCpu(({ temporal }) => temporal),
  );
  each('CPU, to the smallest', (kind) => {
    const ratios = (cpu.get(kind) ?? []).map(
      ({ worker, temporal }, index) => (worker + temporal) / (base[index] ?? NaN),
    );
    return withSpread(ratios);
  });
  const plain = (cpu.get('plain') ?? []).map(({ worker }) => worker);
  each('worker, to "plain"', (kind) => {
    return middle((cpu.get(kind) ?? []).map(({ worker }, index) => worker / (plain[index] ?? NaN))).toFixed(2);
  });
  each(
    'events',
    ofFigures(({ events }) => events),
  );
  each(
    'history, KiB',
    ofFigures(({ bytes }) => bytes / 1_024),
  );
  each(
    'polls asked for',
    ofFigures(({ pollsAskedFor }) => pollsAskedFor),
  );
  each(
    'polls made',
    ofFigures(({ polls }) => polls),
  );
  each(
    'billable actions',
    ofFigures(({ actions }) => actions),
  );
  const words = new Set([...figures.values()].flat().flatMap(({ actionKinds }) => [...actionKinds.keys()]));
  for (const word of words)
    each(
      `  ${word}`,
      ofFigures(({ actionKinds }) => actionKinds.get(word) ?? 0, 2),
    );
  each(
    'failed',
    ofFigures(({ failed }) => failed, 0),
  );
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
