import path from 'node:path';
import { type Command, Option } from 'commander';
import type { BatchHandle } from '../../client/batch-handle';
import { InputInvalidError } from '../../client/errors';
import type { BatchInput, RowsReference } from '../../contract/batch-input';
import { isConcurrency, maxConcurrency } from '../../contract/parse-batch-input';
import { checkRows, type PreparedRowFile, readRows, type RowsReport } from '../../rows';
import { type CommandContext, type ConnectionOptions, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { taskQueueOption } from '../shared-options';
import { eventTeller, type TellEvent } from './batch-events';
import { checkedBatchId } from './batch-id';
import { followBatchToTheEnd } from './finish-batch';
import { batchIdOfFile, prepareForWorkers } from './prepared-rows-place';
import { addRowFileOptions, readRowFileOptions, type RowFileOptions, type RowFileToRead } from './row-file-options';
import { maxShownProblems, problemFacts, rowsReportFacts, rowsReportText } from './rows-report';

interface BatchRunOptions extends ConnectionOptions, RowFileOptions {
  readonly id?: string;
  readonly concurrency?: string;
  readonly archive?: string;
  readonly watch?: 'timer' | 'activity';
  readonly dryRun?: true;
  readonly skipBad?: true;
  readonly retryFailed?: true;
  readonly allowChanged?: true;
  readonly detach?: true;
  readonly json?: true;
}

const help = `
Every row becomes a task, and every row is checked before anything is paid.
Columns are input keys (1:LoadImage.image), or what a --template asks for; in
cells @FILE is a file, relative to the row file. Files are opened by the
worker: they and the row file must lie under its LONGHAUL_INPUT_ROOTS, unless
LONGHAUL_STAGING says where they are uploaded for it.

Run again, the command follows the batch that runs, or goes on where the last
one ended: rows that are done are never paid twice. Ctrl-C detaches; the batch
goes on.

Example:
  $ longhaul batch run photos.csv --app 1 -i 2:ImageScale.width=512 --dry-run
`;

/** `longhaul batch run FILE`: runs every row of a file as a task and follows them to the table at the end. */
export function addBatchRunCommand(batch: Command, context: CommandContext): void {
  const command = batch
    .command('run')
    .summary('run every row of a file as a task')
    .description('Runs every row of a JSONL, CSV or TSV file as a task, and prints a table at the end.')
    .argument('<file>', 'the row file')
    .option('--id <id>', 'the batch’s id (default: the name of the row file without its ending)');
  addRowFileOptions(command)
    .option('--archive <folder>', 'a folder inside the archive (default: "batches/ID/outputs")')
    .option('--concurrency <rows>', `rows at the same time, 1 to ${maxConcurrency} (default: 100)`)
    .addOption(
      new Option('--watch <way>', 'how the end of a row is noticed (default: activity)').choices(['timer', 'activity']),
    )
    .option('--dry-run', 'check every row and start nothing; Temporal is not needed')
    .option('--skip-bad', 'go on without bad rows')
    .option('--retry-failed', 'start rows again that did not succeed; may be paid anew')
    .option('--allow-changed', 'start rows again that changed under their key; paid anew')
    .option('--detach', 'do not follow it')
    .option('--json', 'print one JSON object a line: what happens, and the result')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action((file: string, options: BatchRunOptions) => runBatch(context, file, options));
}

async function runBatch(context: CommandContext, file: string, options: BatchRunOptions): Promise<void> {
  const id = checkedBatchId(options.id ?? batchIdOfFile(file));
  const concurrency = checkedConcurrency(options.concurrency);
  const tell = eventTeller(context.stdout, options.json ?? false);
  const toRead = await readRowFileOptions(file, options, context.cwd);
  if (options.dryRun === true) {
    await dryRun(context, file, toRead, tell, options.json ?? false);
    return;
  }
  const { report, rows } = await prepare(context, { id, file, options, toRead, tell });
  if (rows === null) {
    context.stderr.write(refusal(report));
    context.exitWith(exitCodes.badInput);
    return;
  }
  const input = batchInput(id, file, rows, report, options, concurrency);
  await withLonghaul(context, options, async (longhaul) => {
    const batch = await longhaul.startBatch(input);
    tellStart(context, batch, tell);
    if (options.detach !== true) await followBatchToTheEnd(context, batch, { tell, isJson: options.json ?? false });
    else if (options.json !== true) context.stdout.write(`${batch.workflowId}\n`);
  });
}

/** Checks every row; the report is the result. */
async function dryRun(
  context: CommandContext,
  file: string,
  toRead: RowFileToRead,
  tell: TellEvent,
  isJson: boolean,
): Promise<void> {
  const report = await checkRows(readRows(toRead.file, toRead.options), {
    maxProblems: maxShownProblems,
    onProblem: (problem) => {
      tell('problem', problemFacts(problem));
    },
  });
  tell('checked', rowsReportFacts(file, report));
  if (!isJson) context.stdout.write(`${rowsReportText(file, report)}\n`);
  if (report.badRows > 0 || report.goodRows === 0) context.exitWith(exitCodes.badInput);
}

interface Preparation {
  readonly id: string;
  readonly file: string;
  readonly options: BatchRunOptions;
  readonly toRead: RowFileToRead;
  readonly tell: TellEvent;
}

async function prepare(
  context: CommandContext,
  { id, file, options, toRead, tell }: Preparation,
): Promise<PreparedRowFile> {
  context.stderr.write(`Checking ${file} …\n`);
  const rowFile = path.resolve(context.cwd, file);
  const prepared = await prepareForWorkers(context, rowFile, readRows(toRead.file, toRead.options), {
    name: id,
    skipBad: options.skipBad ?? false,
    maxProblems: maxShownProblems,
    onProblem: (problem) => {
      tell('problem', problemFacts(problem));
    },
  });
  tell('checked', rowsReportFacts(file, prepared.report));
  context.stderr.write(`${rowsReportText(file, prepared.report)}\n`);
  return prepared;
}

function refusal({ goodRows }: RowsReport): string {
  return goodRows === 0
    ? 'Nothing was started: there is no row that can become a task.\n'
    : 'Nothing was started. Mend the bad rows, or go on without them with --skip-bad.\n';
}

function batchInput(
  id: string,
  file: string,
  rows: RowsReference,
  { badRows }: RowsReport,
  options: BatchRunOptions,
  concurrency: number | undefined,
): BatchInput {
  const { archive, names, watch, retryFailed, allowChanged } = options;
  return {
    id,
    rows,
    source: file,
    badRows,
    ...(concurrency !== undefined && { concurrency }),
    ...(archive !== undefined && { archive }),
    ...(names !== undefined && { names }),
    ...(watch !== undefined && { watch }),
    ...(retryFailed !== undefined && { retryFailed }),
    ...(allowChanged !== undefined && { allowChanged }),
  };
}

function checkedConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rows = Number(text);
  if (isConcurrency(rows)) return rows;
  const problem = `--concurrency is ${JSON.stringify(text)}; give a whole number from 1 to ${maxConcurrency}.`;
  throw new InputInvalidError([problem], 'batch');
}

function tellStart({ stderr }: CommandContext, batch: BatchHandle, tell: TellEvent): void {
  const { workflowId, started, url } = batch;
  const { origin = 'started', hasTheseRows = true } = started ?? {};
  tell(origin, { workflowId, url, hasTheseRows });
  stderr.write(`${origin === 'started' ? 'Started' : 'Following, for it runs already:'} ${workflowId}\n`);
  if (url !== null) stderr.write(`  ${url}\n`);
  if (!hasTheseRows) {
    stderr.write('  It runs other rows than this file has now; run the command again when it is over.\n');
  }
}
