import path from 'node:path';
import { type Command, Option } from 'commander';
import { InputInvalidError } from '../../client/errors';
import { maxConcurrency } from '../../contract/batch-input';
import { checkRows, type RowsReport } from '../../rows';
import { type CommandContext, type ConnectionOptions, type Output, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { taskQueueOption, wholeNumber } from '../shared-options';
import { eventTeller } from './batch-events';
import { type BatchSettingOptions, readBatchSettings } from './batch-settings';
import { checkRowOptions } from './check-row-options';
import { followBatchToTheEnd } from './finish-batch';
import { prepareForWorkers } from './prepared-rows-place';
import { readBatchRows } from './read-batch-rows';
import { addRowFileOptions, readRowFileOptions, type RowFileOptions } from './row-file-options';
import { RowsCheck } from './rows-check';
import { rowsReportFacts, rowsReportText } from './rows-report';
import { tellStart } from './tell-start';

interface BatchRunOptions extends ConnectionOptions, RowFileOptions, BatchSettingOptions {
  readonly first?: string;
  readonly dryRun?: true;
  readonly skipBad?: true;
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
    .option('--first <rows>', 'run only so many good rows, to try it; the whole file goes on from there')
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
  const { dryRun = false, skipBad = false, json: isJson = false } = options;
  const settings = readBatchSettings(file, options);
  const first = checkedFirst(options.first);
  const { file: rowFile, options: rowOptions } = await readRowFileOptions(file, options, context.cwd);
  const toRead = { file: rowFile, options: { ...rowOptions, batchId: settings.input.id } };
  await checkRowOptions(toRead, options);
  const tell = eventTeller(context.stdout, isJson);
  const check = new RowsCheck(settings, toRead, { ...options, first }, tell);
  const tellChecked = async (report: RowsReport, output: Output): Promise<void> => {
    const checked = await check.checked(report);
    tell('checked', rowsReportFacts(checked));
    // On standard output a program reads only events.
    if (!dryRun || !isJson) output.write(`${rowsReportText(checked)}\n`);
  };
  if (dryRun) {
    const report = await checkRows(readBatchRows(toRead), check.sinks);
    await tellChecked(report, context.stdout);
    if (report.badRows > 0 || report.goodRows === 0) context.exitWith(exitCodes.badInput);
    return;
  }
  context.stderr.write(`Checking ${file} …\n`);
  const { report, rows } = await prepareForWorkers(context, path.resolve(context.cwd, file), readBatchRows(toRead), {
    ...check.sinks,
    name: settings.input.id,
    skipBad,
  });
  await tellChecked(report, context.stderr);
  if (rows === null) {
    context.stderr.write(refusal(report));
    context.exitWith(exitCodes.badInput);
    return;
  }
  await withLonghaul(context, options, async (longhaul) => {
    const batch = await longhaul.startBatch({ ...settings.input, rows, badRows: report.badRows });
    await tellStart(context, batch, settings, tell);
    if (options.detach !== true) await followBatchToTheEnd(context, batch, { tell, isJson });
    else if (!isJson) context.stdout.write(`${batch.workflowId}\n`);
  });
}

function refusal({ goodRows }: RowsReport): string {
  return goodRows === 0
    ? 'Nothing was started: there is no row that can become a task.\n'
    : 'Nothing was started. Mend the bad rows, or go on without them with --skip-bad.\n';
}

function checkedFirst(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rows = wholeNumber(text);
  if (Number.isSafeInteger(rows) && rows >= 1) return rows;
  throw new InputInvalidError([`--first is ${JSON.stringify(text)}; give a whole number from 1.`], 'batch');
}
