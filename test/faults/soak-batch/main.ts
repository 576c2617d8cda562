import { Command, InvalidArgumentError } from 'commander';
import { runInstantBatch } from './instant-batch';
import { type BatchSoakSize, runBatchSoak } from './run-batch-soak';
import { batchSoakTable, instantBatchTable } from './tables';

interface Options extends BatchSoakSize {
  readonly instant?: number;
}

const options = new Command('npm run soak:batch --')
  .description('A batch under kills, on real parts of its own; ends with 1 when a promise did not hold.')
  .option('--rows <number>', 'how many rows', whole, 2_000)
  .option('--worker-kills <number>', 'how often the worker is killed', whole, 10)
  .option('--cli-kills <number>', 'how often the command is killed, and run again', whole, 2)
  .option('--temporal-restarts <number>', 'how often Temporal is killed, and started again', whole, 1)
  .option('--instant <rows>', 'instead: rows whose tasks are over at once, through the batch workflow alone', whole)
  .parse()
  .opts<Options>();

main(options).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});

async function main({ instant, ...size }: Options): Promise<void> {
  // The AWS SDK's notice about this Node would stand between the lines.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const [table, broken] = instant === undefined ? await soak(size) : await instantBatch(instant);
  say(`\n${table}`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

async function soak(size: BatchSoakSize): Promise<[table: string, broken: readonly string[]]> {
  const report = await runBatchSoak(size, say);
  return [batchSoakTable(report), report.broken];
}

async function instantBatch(rows: number): Promise<[table: string, broken: readonly string[]]> {
  const report = await runInstantBatch(rows, say);
  return [instantBatchTable(report), report.broken];
}

function say(line: string): void {
  console.log(line);
}

function whole(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new InvalidArgumentError(`${text} is not a whole number.`);
}
