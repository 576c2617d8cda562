import { Command, InvalidArgumentError } from 'commander';
import { planSoak, soakFaults } from './plan';
import { runSoak, soakTable } from './run-soak';

interface Options {
  readonly tasks: number;
  readonly seed: number;
  readonly minutes: number;
}

const options = new Command('npm run soak --')
  .description('Tasks under random faults, on real parts of its own; ends with 1 when a promise did not hold.')
  .option('--tasks <number>', 'how many tasks', whole, 200)
  .option('--seed <number>', 'decides everything that chance decides', whole, Math.ceil(Math.random() * 1_000_000))
  .option('--minutes <number>', 'for so long faults happen', positive, 5)
  .parse()
  .opts<Options>();

main(options).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

async function main({ tasks, seed, minutes }: Options): Promise<void> {
  // The AWS SDK's notice about this Node would stand between the lines.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const forMs = Math.round(minutes * 60_000);
  console.log(`seed ${seed}: ${tasks} tasks, faults for ${minutes} min`);
  const report = await runSoak(planSoak({ seed, tasks, forMs }, soakFaults), forMs, (line) => {
    console.log(line);
  });
  console.log(`\n${soakTable(report, `npm run soak -- --tasks ${tasks} --seed ${seed} --minutes ${minutes}`)}`);
  process.exitCode = report.broken.length === 0 ? 0 : 1;
}

function positive(text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  throw new InvalidArgumentError(`${text} is not a number above 0.`);
}

function whole(text: string): number {
  const number = positive(text);
  if (Number.isInteger(number)) return number;
  throw new InvalidArgumentError(`${text} is not a whole number.`);
}
