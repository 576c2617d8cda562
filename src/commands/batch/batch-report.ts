import path from 'node:path';
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { Command } from 'commander';
import type { BatchView } from '../../client/batch/batch-view';
import { DecisionRefusedError, InputInvalidError } from '../../client/errors';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { type Repair, repairCommands, repairsOf } from '../../contract/batch/batch-repairs';
import { mostFrequent } from '../../core/batch/batch-pace';
import { type RowPlace, shownKey } from '../../core/batch/row-place';
import { formatBytes, formatCount, formatCountOf, printableLine } from '../../core/text';
import { formatMoney, type Money } from '../../money/money';
import { type CommandContext, pageFile, print, printJson, withLonghaul } from '../command-context';
import { type ExitCode, exitCodes } from '../exit-code';
import { fit, formatClock, wrap } from '../terminal';
import { batchIdArgument } from './batch-settings';

const keyWidth = 24;
const typeWidth = 18;
/** Where the width of the terminal is not known. */
const plainWidth = 160;

/** Before a message that does not fit beside a key, a line and a type. */
const indent = '      ';
const maxMessageLines = 4;
/** As wide as `  results  `. */
const label = '           ';

const endingWords: Readonly<Record<BatchResult['ending'], string>> = {
  completed: 'Completed',
  drained: 'Drained',
  stopped: 'Stopped',
};

export type Ending = Pick<BatchResult, 'ending' | 'rows' | 'success' | 'failed'>;

/** Undefined for a batch that was cut off, or is not over. */
export function endingWord(execution: WorkflowExecutionStatusName, result?: Ending): string | undefined {
  if (execution === 'COMPLETED') return result === undefined ? endingWords.completed : howItEnded(result);
  if (execution === 'CANCELLED') return endingWords.stopped;
  return execution === 'FAILED' ? 'Failed' : undefined;
}

/** @internal exported for tests */
export function batchReport(
  result: BatchResult,
  elapsedMs: number | null,
  started: Pick<BatchView, 'source' | 'files'>,
  columns = plainWidth,
): string {
  const took = elapsedMs === null ? '' : ` in ${formatClock(elapsedMs)}`;
  const { batchId, rows, jsonl, csv, html } = result;
  const head = `${headline(result)}  batch:${batchId}, ${formatCountOf(rows, 'row')}${took}`;
  const lines = [...figures(result), ...slowestTable(result), ...unsuccessfulTable(result, columns)];
  const files =
    csv === ''
      ? ['  results  none: no row was started']
      : [`  results  ${csv}`, `           ${jsonl}`, ...(html === undefined ? [] : [`  report   ${html}`])];
  // A path or a command that is cut is of no use.
  const whole = (texts: readonly string[]): string[] => texts.map((text) => fit(text, Infinity));
  const shown = [...lines, ''].map((line) => fit(line, columns));
  return [fit(head, columns), ...whole(whatNext(result, started, columns)), ...shown, ...whole(files)].join('\n');
}

export interface EndedBatch {
  readonly result: BatchResult;
  readonly view: BatchView;
}

/** Also sets the exit code. */
export function printReport(context: CommandContext, { result, view }: EndedBatch): void {
  const { startedAt, endedAt } = view;
  const elapsedMs = endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt);
  context.stdout.write(`${batchReport(result, elapsedMs, view, context.stdout.columns)}\n`);
  context.exitWith(batchExitCode(result));
}

function howItEnded({ ending, rows, success, failed }: Ending): string {
  if (ending !== 'completed' || success > 0 || rows === 0) return endingWords[ending];
  return failed > 0 ? 'Failed' : 'Canceled';
}

/** A drained batch may have had every row started, and another attempt left out. */
function headline(result: BatchResult): string {
  const { ending, rows, success, failed, canceled } = result;
  if (ending !== 'drained') return howItEnded(result);
  const isEachStarted = success + failed + canceled >= rows;
  return `${endingWords.drained}, ${isEachStarted ? 'without another attempt of rows that failed' : 'not every row was started'}`;
}

export function batchExitCode({ failed, canceled, notStarted, failedOutputs = 0 }: BatchResult): ExitCode {
  if (failed > 0) return exitCodes.failed;
  if (canceled > 0 || notStarted > 0) return exitCodes.canceled;
  return failedOutputs > 0 ? exitCodes.outputsFailed : exitCodes.success;
}

function figures(result: BatchResult): string[] {
  const { success, failed, canceled, notStarted, badRows, outputs, outputBytes, uploads } = result;
  const { failedOutputs = 0, costs, onRecord } = result;
  const ended = onRecord === undefined ? 0 : onRecord.success + onRecord.failed + onRecord.canceled;
  const overAllRuns = ended > 0 ? ', over all runs' : '';
  const byType = mostFrequent(result.failures).map(([type, count]) => `${formatCount(count)} ${type}`);
  const { goneRows, sums = [], withoutResult = [], knownRows = 0, unknownRows = 0 } = costs ?? {};
  const isPriced = sums.length > 0;
  const lost = withoutResult.length === 0 ? '' : `, of which ${formatSums(withoutResult)} without a result`;
  const unknown =
    goneRows === undefined || goneRows.unknownRows === 0 ? '' : `; ${formatCount(goneRows.unknownRows)} unknown`;
  const gone = goneRows?.sums ?? [];
  const goneRowsPaid = gone.length > 0 ? (goneRows?.rows ?? 0) : 0;
  const list: readonly (readonly [name: string, count: number, more: string])[] = [
    ['succeeded', success, `${formatCountOf(outputs, 'output')}, ${formatBytes(outputBytes)}`],
    ['failed', failed, byType.join(', ')],
    ['on record', ended, 'ended in an earlier run, and not run again'],
    // Of one that was stopped, what its record told stands in its costs.
    ['not in file', onRecord?.gone ?? goneRows?.rows ?? 0, 'on record, and not among these rows'],
    [
      'their cost',
      goneRowsPaid,
      `${plural(goneRowsPaid, 'row')}: ${formatSums(gone)}, not in "cost" or budget${unknown}`,
    ],
    ['cost', isPriced ? knownRows : 0, `${plural(knownRows, 'row')}: ${formatSums(sums)} over all runs${lost}`],
    ['cost unknown', isPriced ? unknownRows : 0, `${plural(unknownRows, 'row')}: no price or no cost time is known`],
    ['bad outputs', failedOutputs, 'failed at the service; the manifests list them'],
    ['canceled', canceled, ''],
    ['not started', notStarted, ''],
    ['bad rows', badRows, 'left out'],
    ['uploads', uploads.files, `${plural(uploads.files, 'file')}, ${formatBytes(uploads.bytes)}${overAllRuns}`],
    ['shared', uploads.shared, `${plural(uploads.shared, 'file')}, not uploaded again${overAllRuns}`],
  ];
  return list
    .filter(([, count], index) => index < 2 || count > 0)
    .map(([name, count, more]) => `  ${name.padEnd(12)}${formatCount(count).padStart(9)}  ${more}`.trimEnd());
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

function formatSums(sums: readonly Money[]): string {
  return sums.map(formatMoney).join(' and ');
}

function slowestTable({ slowest }: BatchResult): string[] {
  if (slowest.length === 0) return [];
  const lines = slowest.map((row) => rowLine(shownKey(row), shownNumber(row), formatClock(row.ms)));
  return ['', rowLine('SLOWEST', numberName(slowest), 'TOOK'), ...lines];
}

/** What stands for words that are those of the row above. */
const sameWords = 'as above';

function unsuccessfulTable({ unsuccessful, failed, canceled }: BatchResult, columns: number): string[] {
  if (unsuccessful.length === 0) return [];
  const more = failed + canceled - unsuccessful.length;
  return [
    '',
    rowLine('NOT SUCCEEDED', numberName(unsuccessful), `${'TYPE'.padEnd(typeWidth)}  WORDS`),
    ...unsuccessful.flatMap(({ type, message: said, ...row }, index) => {
      const before = unsuccessful[index - 1];
      const message = before?.type === type && before.message === said ? sameWords : said;
      const [key, number] = [shownKey(row), shownNumber(row)];
      const whole = rowLine(key, number, `${type.padEnd(typeWidth)}  ${message}`);
      if (whole.length <= columns) return [whole];
      const words = wrap(message, Math.max(1, columns - indent.length), maxMessageLines);
      return [rowLine(key, number, type), ...words.map((text) => `${indent}${text}`)];
    }),
    ...(more > 0 ? [`  and ${formatCount(more)} more; the result files have all`] : []),
  ];
}

/** The commands for rows that did not succeed; the one to run first comes first. */
function whatNext(result: BatchResult, started: Pick<BatchView, 'source' | 'files'>, columns: number): string[] {
  const { batchId, success, canceled, notStarted, failures } = result;
  const commands = repairCommands(batchId, started);
  const rowsByRepair = new Map<Repair, number>([
    [commands.fetch, success],
    [commands.ask, 0],
    [commands.start, canceled + notStarted],
  ]);
  for (const [type, count] of Object.entries(failures)) {
    for (const repair of repairsOf(type, commands)) rowsByRepair.set(repair, (rowsByRepair.get(repair) ?? 0) + count);
  }
  const lines = [...rowsByRepair]
    .filter(([, rows]) => rows > 0)
    .flatMap(([{ does, command }, rows]) => [
      command,
      ...wrap(`${formatCountOf(rows, 'row')}: ${does}`, Math.max(1, columns - label.length - 2), Infinity).map(
        (text) => `  ${text}`,
      ),
    ]);
  return lines.map((line, index) => `${index === 0 ? '  next     ' : label}${line}`);
}

/** The row of the sheet, or the line of a file that is none. */
function shownNumber({ line, sheetRow }: RowPlace): number {
  return sheetRow ?? line;
}

function numberName(rows: readonly RowPlace[]): string {
  return rows.some(({ sheetRow }) => sheetRow !== undefined) ? 'ROW' : 'LINE';
}

function rowLine(key: string, line: number | string, rest: string): string {
  return `  ${fit(key, keyWidth).padEnd(keyWidth)} ${String(line).padStart(7)}  ${rest}`;
}

export function addBatchReportCommand(program: Command, context: CommandContext): void {
  program
    .command('report')
    .summary('print the table of a batch that is over')
    .description('Prints the table of a batch that is over, for as long as Temporal’s namespace keeps it.')
    .addArgument(batchIdArgument())
    .option('--html <file>', 'instead write a page for a browser, from the archive alone')
    .option('--csv <file>', 'instead fetch results.csv, from the archive alone')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul batch report photos --html photos.html\n')
    .action(async (id: string, { json = false, html, csv }: { html?: string; csv?: string; json?: boolean }) => {
      if (html !== undefined && csv !== undefined) {
        throw new InputInvalidError(['--html and --csv exclude each other; give one at a time.'], 'batch');
      }
      if (csv !== undefined) await writeReportTable(context, id, csv, json);
      else if (html !== undefined) await writeReportPage(context, id, html, json);
      else await printBatchReport(context, id, json);
    });
}

async function printBatchReport(context: CommandContext, id: string, json: boolean): Promise<void> {
  await withLonghaul(context, {}, async (longhaul) => {
    const batch = longhaul.batch(id);
    const view = await batch.status();
    if (!view.isOver) {
      const words = `It still runs, so there is no result yet: "longhaul batch status ${id}" says how far it is, and with --follow prints the table at its end.`;
      throw new DecisionRefusedError(view.workflowId, words);
    }
    const result = await batch.result();
    if (!json) printReport(context, { result, view });
    else {
      printJson(context, result);
      context.exitWith(batchExitCode(result));
    }
  });
}

async function writeReportPage(context: CommandContext, batchId: string, html: string, json: boolean): Promise<void> {
  const { withArchive } = await import('../storage-access.js');
  const { openBatchResults } = await import('../../archive/batch-results.js');
  const { writeBatchPage } = await import('../../archive/batch-page.js');
  const page = await withArchive(context, async (archive) =>
    writeBatchPage(archive, await openBatchResults(archive, batchId), {
      batchId,
      ...(await pageFile(context, html)),
    }),
  );
  const { path: file, bytes, rows, withoutLink } = page;
  const lines = [`${file}  (${formatCountOf(rows, 'row')}, ${formatBytes(bytes)})`];
  if (withoutLink > 0) {
    lines.push(
      `  It names ${formatCountOf(withoutLink, 'file')} and does not lead there, because they are in a bucket or not in this archive.`,
      '  report.html beside results.csv leads to all.',
    );
  }
  print(context, json, page, `${lines.map(printableLine).join('\n')}\n`);
}

async function writeReportTable(context: CommandContext, batchId: string, csv: string, json: boolean): Promise<void> {
  const { withArchive } = await import('../storage-access.js');
  const { writeBatchTable } = await import('../../archive/batch-table.js');
  const file = path.resolve(context.cwd, csv);
  const table = await withArchive(context, async (archive) => await writeBatchTable(archive, batchId, file));
  print(context, json, table, `${printableLine(`${table.path}  (${formatBytes(table.bytes)})`)}\n`);
}
