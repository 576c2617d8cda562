import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { errorMessage } from '../src/core/text';
import { longhaulCommand } from '../tools/source-command';
import { supervise, type SupervisedProcess } from '../tools/supervise';
import { type BenchStack, withBenchStack } from './bench-stack';
import { mebibytes, processUse } from './process-use';

const USAGE = `Usage: npm run bench:batch -- [options]

Runs a batch of an app that is done at once on real parts (Temporal's dev server, the reference service, one worker, the
command), and prints how fast its rows end and how much memory each process takes meanwhile.

  --rows NUMBER         how many (default: 20000)
  --concurrency NUMBER  how many run at the same time (default: 100)
  --help                show this text

Exit code: 0 when every row succeeded and was created once; 1 otherwise.
`;

/** The reference service's app that is done at once. */
const SWATCH = 5;
const LOOK_EVERY_MS = 1_000;
/** Besides every tenth of the rows: what a small batch takes. */
const FIRST_MARK = 1_000;
const WATCHED = ['command', 'worker', 'Temporal'] as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '20000' },
      concurrency: { type: 'string', default: '100' },
      help: { type: 'boolean', default: false },
    },
  });
  const [rows = 0, concurrency = 0] = [values.rows, values.concurrency].map(Number);
  if (values.help || ![rows, concurrency].every((number) => Number.isInteger(number) && number > 0)) {
    process.stdout.write(USAGE);
    process.exitCode = values.help ? 0 : 1;
    return;
  }
  await withBenchStack(concurrency, async (stack) => {
    const file = join(stack.folder, 'rows.jsonl');
    await pipeline(Readable.from(rowLines(rows)), createWriteStream(file));
    const startedAtMs = performance.now();
    const args = ['batch', 'run', file, '--concurrency', String(concurrency), '--json'];
    const command = await supervise({ ...longhaulCommand(args), env: stack.env });
    process.stdout.write(tableLine('rows', 'a second', ...WATCHED));
    try {
      await watch(stack, command, rows);
    } finally {
      await command.stop();
    }
    const tookMs = performance.now() - startedAtMs;
    const { code } = await command.ended;
    const creates = stack.service.ledger.total('create');
    process.stdout.write(
      `${rows} rows in ${(tookMs / 1_000).toFixed(0)} s, ${((1_000 * rows) / tookMs).toFixed(1)} a second; ` +
        `${creates} creates; the command ended with ${String(code)}\n`,
    );
    process.exitCode = code === 0 && creates === rows ? 0 : 1;
  });
}

function* rowLines(rows: number): Generator<string> {
  for (let row = 0; row < rows; row += 1) yield `${JSON.stringify({ key: `row-${row}`, webAppId: SWATCH })}\n`;
}

/** A line for every mark that the batch reaches, until its command ends. */
async function watch(stack: BenchStack, command: SupervisedProcess, rows: number): Promise<void> {
  const pids = [command.pid, stack.worker.pid, stack.temporalPid];
  const marks = [FIRST_MARK, ...Array.from({ length: 10 }, (_, tenth) => Math.round((rows * (tenth + 1)) / 10))]
    .filter((mark) => mark < rows)
    .sort((one, other) => one - other);
  let most = pids.map(() => 0);
  let since = { creates: 0, atMs: performance.now() };
  const tell = (creates: number): void => {
    const atMs = performance.now();
    const rate = (1_000 * (creates - since.creates)) / (atMs - since.atMs);
    process.stdout.write(tableLine(String(creates), rate.toFixed(1), ...most.map((bytes) => mebibytes(bytes))));
    since = { creates, atMs };
    most = pids.map(() => 0);
  };
  while (command.isRunning()) {
    const uses = await Promise.all(pids.map((pid) => processUse(pid).catch(() => ({ rssBytes: 0 }))));
    most = most.map((bytes, index) => Math.max(bytes, uses[index]?.rssBytes ?? 0));
    const creates = stack.service.ledger.total('create');
    const reached = marks.filter((mark) => creates >= mark);
    if (reached.length > 0) tell(creates);
    marks.splice(0, reached.length);
    await Promise.race([delay(LOOK_EVERY_MS), command.ended]);
  }
  tell(stack.service.ledger.total('create'));
}

function tableLine(...cells: string[]): string {
  return `${cells.map((cell) => cell.padStart(12)).join('')}\n`;
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
