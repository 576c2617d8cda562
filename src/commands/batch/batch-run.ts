import path from 'node:path';
import type { Command } from 'commander';
import { InputInvalidError } from '../../client/errors';
import { loadPrices } from '../../config/prices';
import { type BatchInput, defaultConcurrency } from '../../contract/batch/batch-input';
import { type BatchCommand, keptCommand } from '../../contract/batch/batch-command';
import { formatOutputSource } from '../../contract/batch/batch-repairs';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { showValue } from '../../core/text';
import { checkRows, type FormerBatch, RowFileError, type RowsReport, TableFormReader } from '../../rows';
import {
  type CommandContext,
  type ConnectionOptions,
  type Output,
  untilStarted,
  warnOfMissingWorkers,
  withLonghaul,
} from '../command-context';
import { exitCodes } from '../exit-code';
import { readCount } from '../shared-options';
import { type BatchSettings, readBatchSettings } from './batch-settings';
import {
  checkRowOptions,
  readBatchRows,
  readRowFileOptions,
  type RowFileOptions,
  type RowFileToRead,
  tooManyTasks,
} from './row-file-options';
import { type FileEstimate, formatEstimate, readKnownFigures, toEstimate } from './file-estimate';
import {
  createEventEmitter,
  followBatchToTheEnd,
  reportStart,
  startOrFollow,
  tellDetached,
  type EmitEvent,
} from './follow-batch';
import { type RememberedOptions, toBatchCommand, withRemembered } from './remembered-command';
import { findPlaceProblem, prepareForWorkers } from '../staging';
import { RecordLookup } from './record-lookup';
import { addRunOptions } from './run-options';
import { clearProblemsFile, type ProblemsPlace, withProblemsFile } from './row-problems';
import { rowsReportFacts, rowsReportText } from './rows-report';
import { type CheckedRows, countApp, isWhole, RowsCheck } from './rows-check';

export interface BatchRunOptions extends ConnectionOptions, RowFileOptions, RememberedOptions {
  readonly first?: string;
  readonly skipBad?: true;
  readonly problems?: string;
  readonly detach?: true;
  readonly json?: true;
}

const help = `
Every row becomes a task, and every row is checked before anything is paid.
Columns are input keys (1:LoadImage.image), or what a --template asks for; in
cells @FILE is a file, relative to the row file. Of a folder, a pattern or a
.txt, --each says which input each picture or each line is. Files are opened
by the worker: they and the row file must lie under its LONGHAUL_INPUT_ROOTS,
unless LONGHAUL_STAGING says where they are uploaded for it.

--vary makes a task of each row and each value; several make a grid:
  values are read as those of cells; "a, b" in quotes is one text
  the key of a task is that of its row and the values: further values rename
  none, and two values that would give one key are refused
  random*4 draws four seeds, the same ones in every run of the batch

--dry-run ends with exit code 2 where the run would refuse the file: for bad
rows, for rows on record that changed, and for new keys while keys on record
are missing, as far as the record can be read (LONGHAUL_ARCHIVE).

Run again, the command follows the batch that runs, or goes on where the last
one ended: rows that are done are never paid twice. Its options are on record:
"batch run FILE" takes them from there, where it does not give them itself.
Ctrl-C detaches; the batch goes on.

Example:
  $ longhaul batch run photos.csv --app 1 -i 2:ImageScale.width=512 --dry-run
  $ longhaul batch run photos/ --app 1 --each 1:LoadImage.image
  $ longhaul batch run a.txt --app 2 --each 6:T.text --vary 3:K.seed=random*4
  $ longhaul batch run --from drafts --app 9 -i 1:LoadImage.image=output
`;

export function addBatchRunCommand(batch: Command, context: CommandContext): void {
  const command = batch
    .command('run')
    .summary('run every row of a file as a task')
    .description('Runs every row of a file, or every picture of a folder, as a task, and prints a table at the end.')
    .argument('[file...]', 'the row file (CSV, .xlsx, JSON, .txt …), or a folder, files or a pattern of pictures');
  addRunOptions(command)
    .addHelpText('after', help)
    .action((files: string[], options: BatchRunOptions) => runBatch(context, files, options));
}

export async function runBatch(
  context: CommandContext,
  files: readonly string[],
  given: BatchRunOptions,
): Promise<void> {
  const options = await withRemembered(context, addRunOptions, files, given);
  const settings = readBatchSettings(files, options, context.cwd);
  const { from } = settings;
  if (from === undefined) {
    await runRows(context, files, options, settings);
    return;
  }
  const { withArchive } = await import('../storage-access.js');
  const { openArchivedBatch } = await import('../../archive/archived-batch.js');
  const { ResultsError } = await import('../../archive/errors.js');
  await withArchive(context, async (archive) => {
    const former = await openArchivedBatch(archive, from).catch((error: unknown) => {
      throw error instanceof ResultsError ? new InputInvalidError([`--from: ${error.message}`], 'batch') : error;
    });
    if (!former.hasEnded) {
      const words = `No run of the batch "${from}" has ended: its rows are those on record, without columns.`;
      context.stderr.write(`${words}\n`);
    }
    await runRows(context, files, options, settings, former);
  });
}

async function runRows(
  context: CommandContext,
  files: readonly string[],
  options: BatchRunOptions,
  settings: BatchSettings,
  former?: FormerBatch,
): Promise<void> {
  const { dryRun = false, skipBad = false, json: isJson = false } = options;
  const first = options.first === undefined ? undefined : readCount('--first', options.first);
  const { id, concurrency = defaultConcurrency } = settings.input;
  const emit = createEventEmitter(context.stdout, isJson);
  const onNotice = (message: string): void => {
    emit('warning', { message });
    context.stderr.write(`${message}\n`);
  };
  const { toRead, problems } = await openRows(context, files, options, id, onNotice, former);
  const { folder } = toRead.file;
  // A run finds out by itself what is on record.
  const lookup = dryRun ? await RecordLookup.open(context, settings.input) : null;
  const check = new RowsCheck(settings, first, emit, { prices: loadPrices(context.env), lookup });
  const reportChecked = async (report: RowsReport, output: Output): Promise<CheckedRows> => {
    const known = dryRun && report.goodRows > 0 && (await readKnownFigures(context.env, check.rowsByApp.keys()));
    const checked = await check.checked(report, known ? toEstimate(check.rowsToRun, known, concurrency) : null);
    emit('checked', rowsReportFacts(checked));
    // On standard output a program reads only events.
    if (!dryRun || !isJson) output.write(`${rowsReportText(checked)}\n`);
    if (check.budgetProblem !== undefined) throw new InputInvalidError([check.budgetProblem], 'batch');
    return checked;
  };
  if (dryRun) {
    const report = await withProblemsFile(problems, check.sinks, (sinks) => checkRows(readBatchRows(toRead), sinks));
    const { isRefused } = await reportChecked(report, context.stdout);
    const tooMany = options.yes ? undefined : tooManyTasks(report);
    const isBad = (report.badRows > 0 && !skipBad) || report.goodRows === 0;
    if (isBad || isRefused || tooMany !== undefined) context.exitWith(exitCodes.badInput);
    // The file may be checked on a machine that does not run it.
    for (const message of [tooMany, await findPlaceProblem(context, folder)]) {
      if (message === undefined) continue;
      emit('warning', { message });
      context.stderr.write(`warning: a run would refuse this: ${message}\n`);
    }
    return;
  }
  context.stderr.write(`Checking ${settings.input.source ?? ''} …\n`);
  const { report, rows } = await withProblemsFile(problems, check.sinks, (sinks) =>
    prepareForWorkers(context, folder, readBatchRows(toRead, options.yes ?? false), { ...sinks, name: id, skipBad }),
  );
  await reportChecked(report, context.stderr);
  if (rows === null) {
    refuseRows(context, report);
    return;
  }
  const command = keptCommand(toBatchCommand(addRunOptions, files, options, context.cwd));
  const input = preparedInput({ settings, options, former, command }, rows, report, first);
  if (options.prepare) {
    emit('prepared', { input });
    if (!isJson) context.stdout.write(`${JSON.stringify(input)}\n`);
    return;
  }
  if (options.unread !== undefined) throw options.unread;
  const ran = first === undefined ? null : check.keys;
  await startAndFollow(context, files, options, { input, emit, ran, former });
}

function preparedInput(
  {
    settings: { input },
    options,
    former,
    command,
  }: {
    readonly settings: BatchSettings;
    readonly options: BatchRunOptions;
    readonly former: FormerBatch | undefined;
    readonly command: BatchCommand | undefined;
  },
  rows: BatchInput['rows'],
  report: RowsReport,
  first: number | undefined,
): BatchInput {
  const isPicked = options.picks !== undefined;
  const source = former === undefined ? input.source : formatOutputSource(former.id, rows.rows, isPicked);
  // With `--first` it is not known which rows the file no longer has.
  const allowNew = isWhole(first, report) ? input.allowNew : true;
  return { ...input, source, command, allowNew, rows, badRows: report.badRows };
}

function refuseRows({ stderr, exitWith }: Pick<CommandContext, 'stderr' | 'exitWith'>, { goodRows }: RowsReport): void {
  stderr.write(
    goodRows === 0
      ? 'Nothing was started: there is no row that can become a task.\n'
      : 'Nothing was started. Correct the bad rows, or leave them out with --skip-bad.\n',
  );
  exitWith(exitCodes.badInput);
}

/** `ran`: the keys of the rows that run, where `--first` leaves a rest of the file. */
async function startAndFollow(
  context: CommandContext,
  files: readonly string[],
  options: BatchRunOptions,
  run: {
    readonly input: BatchInput;
    readonly emit: EmitEvent;
    readonly ran: ReadonlySet<string> | null;
    readonly former: FormerBatch | undefined;
  },
): Promise<void> {
  const { input, emit, ran, former } = run;
  const isJson = options.json ?? false;
  const onResult = async (result: BatchResult): Promise<void> => {
    if (ran === null) return;
    const read = (): Promise<RowFileToRead> =>
      readRowFileOptions(files, options, context.cwd, input.id, undefined, former);
    const lookup = await RecordLookup.open(context, input);
    const concurrency = input.concurrency ?? defaultConcurrency;
    const estimate = await estimateRest(read, result, { concurrency, lookup, ran });
    emit('estimate', estimate);
    const words = estimate === noRest ? noRest.unknown : formatEstimate(estimate);
    if (!isJson) context.stdout.write(`\nThe rest of the file: ${words}\n`);
  };
  await withLonghaul(context, options, async (longhaul) => {
    const { started: batch, isInterrupted } = await untilStarted(context, () => startOrFollow(longhaul, input, emit));
    reportStart(context, batch, input, emit);
    if (options.detach === true) {
      if (!isJson) context.stdout.write(`${batch.workflowId}\n`);
      await warnOfMissingWorkers(context, [options.taskQueue]);
    } else if (isInterrupted) tellDetached(context, batch, emit);
    else await followBatchToTheEnd(context, batch, { emit, isJson, onResult });
  });
}

/** `ran`: the keys of the rows that have just run. The file may be gone by now. */
async function estimateRest(
  read: () => Promise<RowFileToRead>,
  { apps = [] }: BatchResult,
  rest: { readonly concurrency: number; readonly lookup: RecordLookup; readonly ran: ReadonlySet<string> },
): Promise<FileEstimate> {
  const { concurrency, lookup, ran } = rest;
  const rowsByApp = new Map<number, number>();
  try {
    for await (const { row } of readBatchRows(await read())) {
      if (row !== undefined && !ran.has(row.key) && (await lookup.add(row))) countApp(rowsByApp, row);
    }
  } catch (error) {
    if (!(error instanceof RowFileError)) throw error;
    return { unknown: error.message };
  }
  return rowsByApp.size === 0 ? noRest : toEstimate(rowsByApp, apps, concurrency);
}

const noRest = { unknown: 'no row is left to run' };

async function openRows(
  { cwd, stderr }: CommandContext,
  rowFiles: readonly string[],
  options: BatchRunOptions,
  batchId: string,
  onNotice: (message: string) => void,
  former: FormerBatch | undefined,
): Promise<{ readonly toRead: RowFileToRead; readonly problems: ProblemsPlace | null }> {
  const inputs = [...rowFiles, ...[options.template, options.picks].filter((one) => one !== undefined)].map((one) =>
    path.resolve(cwd, one),
  );
  const problems = options.problems === undefined ? null : path.resolve(cwd, options.problems);
  if (problems !== null) await clearProblemsFile(problems, inputs);
  const { file, options: rowOptions } = await readRowFileOptions(rowFiles, options, cwd, batchId, onNotice, former);
  if (Object.values(rowOptions.vary ?? {}).some((values) => 'random' in values)) {
    const by = `the batch’s id ${showValue(batchId)}, the key of each row and the input`;
    stderr.write(`Seeds are drawn by ${by}: every run, on every machine, has the same.\n`);
  }
  const reader = new TableFormReader(file, rowOptions.delimiter);
  const toRead = { file: reader.file, options: rowOptions };
  await checkRowOptions(toRead, options);
  return { toRead, problems: problems === null ? null : { file: problems, form: () => reader.form } };
}
