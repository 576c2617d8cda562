import path from 'node:path';
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { BatchResult } from '../../contract/batch/batch-messages';
import { type ExitCode, exitCodes } from '../exit-code';
import { fit, formatClock, wrap } from '../terminal';
import { type RowPlace, shownKey } from '../../core/batch/row-place';
import { formatMoney } from '../../money/money';
import { formatBytes, formatCount, formatCountOf, printableLine } from '../../core/text';
import {
  failureTypes,
  mayExistUnfollowed,
  mayNeedOtherInput,
  refusedInputs,
  unpaidRefusals,
} from '../../contract/failure-types';
import { mostFrequent } from '../../core/batch/batch-pace';
import { formatRowCount } from './batch-display';
import { type CommandContext, pageFile, printJson } from '../command-context';

const keyWidth = 24;
const typeWidth = 18;
/** Width of the table where the width of the terminal is not known. */
const plainWidth = 160;

/** Before a message that does not fit beside a key, a line and a type. */
const indent = '      ';
const maxMessageLines = 4;
/** As wide as `  results  `. */
const label = '           ';

/** The words for the end of a batch that every command uses. */
const endingWords: Readonly<Record<BatchResult['ending'], string>> = {
  completed: 'Completed',
  drained: 'Drained',
  stopped: 'Stopped',
};

/**
 * The word for a batch that is over, whatever its workflow last reported; undefined for one that was cut off, or is not over.
 */
export function endingWord(
  execution: WorkflowExecutionStatusName,
  ending: BatchResult['ending'] = 'completed',
): string | undefined {
  if (execution === 'COMPLETED') return endingWords[ending];
  if (execution === 'CANCELLED') return endingWords.stopped;
  return execution === 'FAILED' ? 'Failed' : undefined;
}

type Figure = readonly [name: string, count: number, more: string];

/** A batch's result as text: counts, slowest rows, failed rows with the service's messages, the result files. */
export function batchReport(result: BatchResult, elapsedMs: number | null, columns = plainWidth): string {
  const took = elapsedMs === null ? '' : ` in ${formatClock(elapsedMs)}`;
  const { batchId, rows, jsonl, csv, html } = result;
  const lines = [
    `${howItEnded(result)}  batch:${batchId}, ${formatRowCount(rows)}${took}`,
    ...figures(result),
    ...slowestTable(result),
    ...unsuccessfulTable(result, columns),
    '',
  ];
  const files =
    csv === ''
      ? ['  results  none: no row was started']
      : [`  results  ${csv}`, `           ${jsonl}`, ...(html === undefined ? [] : [`  report   ${html}`])];
  // A path or a command that is cut is of no use.
  const whole = [...whatNext(result, columns), ...files].map((line) => fit(line, Infinity));
  return [...lines.map((line) => fit(line, columns)), ...whole].join('\n');
}

/** One that was drained may have had every row started, and another attempt left out. */
function howItEnded({ ending, rows, success, failed, canceled }: BatchResult): string {
  if (ending !== 'drained') return endingWords[ending];
  const isEachStarted = success + failed + canceled >= rows;
  return `${endingWords.drained}, ${isEachStarted ? 'without another attempt of rows that failed' : 'not every row was started'}`;
}

/** What a batch's end means to a shell. */
export function batchExitCode({ failed, canceled, notStarted, failedOutputs = 0 }: BatchResult): ExitCode {
  if (failed > 0) return exitCodes.failed;
  if (canceled > 0 || notStarted > 0) return exitCodes.canceled;
  return failedOutputs > 0 ? exitCodes.outputsFailed : exitCodes.success;
}

function figures(result: BatchResult): string[] {
  const { success, failed, canceled, notStarted, badRows, outputs, outputBytes, uploads } = result;
  const { failedOutputs = 0, costs, onRecord } = result;
  const isRunAgain = onRecord !== undefined && onRecord.success + onRecord.failed + onRecord.canceled > 0;
  const overAllRuns = isRunAgain ? ', over all runs' : '';
  const byType = mostFrequent(result.failures).map(([type, count]) => `${formatCount(count)} ${type}`);
  const always: readonly Figure[] = [
    ['succeeded', success, `${formatCountOf(outputs, 'output')}, ${formatBytes(outputBytes)}`],
    ['failed', failed, byType.join(', ')],
  ];
  const mayBe: readonly Figure[] = [
    ...onRecordFigures(onRecord, costs),
    ...costFigures(costs),
    ['bad outputs', failedOutputs, 'failed at the service; the manifests list them'],
    ['canceled', canceled, ''],
    ['not started', notStarted, ''],
    ['bad rows', badRows, 'left out'],
    [
      'uploads',
      uploads.files,
      `${uploads.files === 1 ? 'file' : 'files'}, ${formatBytes(uploads.bytes)}${overAllRuns}`,
    ],
    ['shared', uploads.shared, `${uploads.shared === 1 ? 'file' : 'files'}, not uploaded again${overAllRuns}`],
  ];
  return [...always, ...mayBe.filter(([, count]) => count > 0)].map(([name, count, more]) =>
    `  ${name.padEnd(12)}${formatCount(count).padStart(9)}  ${more}`.trimEnd(),
  );
}

/** What was there before the run. */
function onRecordFigures(onRecord: BatchResult['onRecord'], costs: BatchResult['costs']): Figure[] {
  // Of one that was stopped, what its record told stands in its costs.
  const none = { success: 0, failed: 0, canceled: 0, gone: costs?.goneRows?.rows ?? 0 };
  const { success, failed, canceled, gone } = onRecord ?? none;
  const list: Figure[] = [
    ['on record', success + failed + canceled, 'ended in an earlier run, and not run again'],
    ['not in file', gone, 'on record, and not among these rows'],
  ];
  if (costs?.goneRows !== undefined && costs.goneRows.sums.length > 0) {
    const { rows, sums, unknownRows } = costs.goneRows;
    const unknown = unknownRows === 0 ? '' : `; ${formatCount(unknownRows)} unknown`;
    const words = `${rowsWord(rows)}: ${sums.map(formatMoney).join(' and ')}, not in "cost" or budget${unknown}`;
    list.push(['their cost', rows, words]);
  }
  return list;
}

/** The rows whose cost is known or not; nothing where no price is known at all. */
function costFigures(costs: BatchResult['costs']): Figure[] {
  if (costs === undefined || costs.sums.length === 0) return [];
  const { sums, withoutResult, knownRows, unknownRows } = costs;
  const lost =
    withoutResult.length === 0 ? '' : `, of which ${withoutResult.map(formatMoney).join(' and ')} without a result`;
  return [
    ['cost', knownRows, `${rowsWord(knownRows)}: ${sums.map(formatMoney).join(' and ')} over all runs${lost}`],
    ['cost unknown', unknownRows, `${rowsWord(unknownRows)}: no price or no cost time is known`],
  ];
}

function rowsWord(count: number): string {
  return count === 1 ? 'row' : 'rows';
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

/** What applies to rows that did not succeed, and what of it is paid anew. */
function whatNext(result: BatchResult, columns: number): string[] {
  const { batchId, failed, canceled, notStarted, failures } = result;
  const refused = countOf(failures, refusedInputs);
  const uncertain = countOf(failures, mayExistUnfollowed);
  const otherTasks = failures[failureTypes.InputChanged] ?? 0;
  const others = failed - refused - uncertain - otherTasks + canceled + notStarted;
  const retry = `longhaul batch retry ${batchId}`;
  const again: string[] = [];
  if (notStarted > 0) {
    const them = notStarted === 1 ? 'it' : 'them';
    again.push(`${formatRowCount(notStarted)} not started and not paid so far: retry starts and pays ${them}`);
  }
  if (failed - uncertain - otherTasks - countOf(failures, unpaidRefusals) + canceled > 0) {
    again.push('as they are; rows that the service ran are paid anew');
  }
  if (countOf(failures, mayNeedOtherInput) > 0) {
    again.push(
      'corrected rows: the command of the run with --allow-changed, without --retry-failed; they are paid anew',
    );
  }
  const correct = [
    `${formatRowCount(refused)} refused and not paid: correct the file, then the command of the run, without --retry-failed, which pays failed rows anew`,
    `where the cause was not in the row, such as a photo or an app that was corrected: ${retry} --unpaid, which runs no other failed row`,
  ];
  const ask = `${formatRowCount(uncertain)} of which the service may have the task, and nothing follows it: find that out first`;
  return [
    ...(uncertain > 0 ? ['  ask      longhaul reconcile', ...wrapped([ask], columns)] : []),
    ...(others > 0 ? [`  again    ${retry}`, ...wrapped(again, columns)] : []),
    ...(refused > 0 ? wrapped(correct, columns, '  correct  ') : []),
    ...(otherTasks > 0 ? wrapped([changedWords(otherTasks)], columns, '  changed  ') : []),
  ];
}

function changedWords(rows: number): string {
  const which = `${formatRowCount(rows)} not started and not paid: ${rows === 1 ? 'its key stands' : 'their keys stand'} for other content`;
  return `${which}; give ${rows === 1 ? 'it another key' : 'them other keys'}, or run the file with --allow-changed, which pays ${rows === 1 ? 'it' : 'them'} anew`;
}

function countOf(failures: BatchResult['failures'], types: readonly string[]): number {
  return types.reduce((sum, type) => sum + (failures[type] ?? 0), 0);
}

/** Sentences beside a label, of which the first line may have another. */
function wrapped(sentences: readonly string[], columns: number, first = label): string[] {
  return sentences
    .flatMap((text) => wrap(text, Math.max(1, columns - label.length), Infinity))
    .map((text, index) => `${index === 0 ? first : label}${text}`);
}

/** What tells rows apart in a table: the row of the sheet, or the line of a file that is none. */
function shownNumber({ line, sheetRow }: RowPlace): number {
  return sheetRow ?? line;
}

function numberName(rows: readonly RowPlace[]): string {
  return rows.some(({ sheetRow }) => sheetRow !== undefined) ? 'ROW' : 'LINE';
}

function rowLine(key: string, line: number | string, rest: string): string {
  return `  ${fit(key, keyWidth).padEnd(keyWidth)} ${String(line).padStart(7)}  ${rest}`;
}

/** `longhaul batch report ID --html FILE`: the page of a batch, from what the archive has of it. */
export async function writeReportPage(
  context: CommandContext,
  batchId: string,
  { html, json }: { readonly html: string; readonly json: boolean },
): Promise<void> {
  // Loaded on demand: the storage would slow the start of every other command.
  const { withArchive } = await import('../storage-access.js');
  const { openBatchResults } = await import('../../archive/batch-results.js');
  const { writeBatchPage } = await import('../../archive/batch-page.js');
  const page = await withArchive(context, async (archive) =>
    writeBatchPage(archive, await openBatchResults(archive, batchId), {
      batchId,
      ...(await pageFile(context, html)),
    }),
  );
  if (json) {
    printJson(context, page);
    return;
  }
  const { path: file, bytes, rows, withoutLink } = page;
  const lines = [`${file}  (${formatRowCount(rows)}, ${formatBytes(bytes)})`];
  if (withoutLink > 0) {
    lines.push(
      `  It names ${formatCountOf(withoutLink, 'file')} and does not lead there, because they are in a bucket or not in this archive.`,
      '  report.html beside results.csv leads to all.',
    );
  }
  context.stdout.write(`${lines.map(printableLine).join('\n')}\n`);
}

/** `longhaul batch report ID --csv FILE`: the table of all rows, with the columns of the row file. */
export async function writeReportTable(
  context: CommandContext,
  batchId: string,
  { csv, json }: { readonly csv: string; readonly json: boolean },
): Promise<void> {
  const { withArchive } = await import('../storage-access.js');
  const { writeBatchTable } = await import('../../archive/batch-table.js');
  const file = path.resolve(context.cwd, csv);
  const table = await withArchive(context, async (archive) => await writeBatchTable(archive, batchId, file));
  if (json) printJson(context, table);
  else context.stdout.write(`${printableLine(`${table.path}  (${formatBytes(table.bytes)})`)}\n`);
}
