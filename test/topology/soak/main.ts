import { Command, InvalidArgumentError } from 'commander';
import { planSoak } from '../../faults/soak/plan';
import { Soak, soakTable } from '../../faults/soak/run-soak';
import { buildProduct, removeBuild } from '../../support/product-build';
import { secondAccount } from '../places';
import { Topology } from '../topology';
import { injectInto, topologyFaults } from './inject';

interface Options {
  readonly minutes: number;
  readonly tasksPerMinute: number;
  readonly seed: number;
}

const options = new Command('npm run soak:topology --')
  .description(
    'Tasks on a whole deployment, each part of which is stopped or killed; ends with 1 when a promise did not hold.',
  )
  .option('--minutes <number>', 'for so long faults happen', positive, 60)
  .option('--tasks-per-minute <number>', 'how many tasks are started', positive, 12)
  .option('--seed <number>', 'decides everything that chance decides', positive, Math.ceil(Math.random() * 1_000_000))
  .parse()
  .opts<Options>();

main(options).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

async function main({ minutes, tasksPerMinute, seed }: Options): Promise<void> {
  const forMs = Math.round(minutes * 60_000);
  const tasks = Math.ceil(minutes * tasksPerMinute);
  console.log(`seed ${seed}: ${tasks} tasks, faults for ${minutes} min`);
  await buildProduct();
  try {
    const topology = await Topology.open();
    try {
      const soak = new Soak({
        stack: topology,
        plan: planSoak({ seed, tasks, forMs }, topologyFaults),
        forMs,
        say: (line) => {
          console.log(line);
        },
        inject: (fault, started) => injectInto(topology, fault, started),
        accounts: ['default', secondAccount],
      });
      const report = await soak.run();
      const again = `npm run soak:topology -- --tasks-per-minute ${tasksPerMinute} --seed ${seed} --minutes ${minutes}`;
      console.log(`\n${soakTable(report, again)}`);
      process.exitCode = report.broken.length === 0 ? 0 : 1;
    } finally {
      await topology.close();
    }
  } finally {
    removeBuild();
  }
}

function positive(text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new InvalidArgumentError(`${text} is not a number above 0.`);
}
