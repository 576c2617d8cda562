import type { BatchResult } from '../../contract/batch-messages';
import { type ExitCode, exitCodes } from '../exit-code';
import { fit, formatClock, wrap } from '../terminal';
import { formatMoney } from '../../domain/money';
import { formatBytes, formatCount, formatCountOf } from '../../domain/text';
import { refusedInputs } from '../../contract/failure-types';
import { mostFrequent } from '../../domain/batch-pace';
import { formatRowCount } from './batch-display';

const endings: Readonly<Record<BatchResult['ending'], string>> = {
  completed: 'Completed',
  drained: 'Drained, not every row was started',
  stopped: 'Stopped',
};
const keyWidth = 24;
const typeWidth = 18;
/** Width of the table where the width of the terminal is not known. */
const plainWidth = 160;

/** Before a message that does not fit beside a key, a line and a type. */
const indent = '      ';
const maxMessageLines = 4;
/** As wide as `  results  `. */
const label = '           ';

type Figure = readonly [name: string, count: number, more: string];

/** A batch's result as text: counts, slowest rows, failed rows with the service's messages, the result files. */
export function batchReport(result: BatchResult, elapsedMs: number | null, columns = plainWidth): string {
  const took = elapsedMs === null ? '' : ` in ${formatClock(elapsedMs)}`;
  const { ending, batchId, rows, jsonl, csv, html } = result;
  const lines = [
    `${endings[ending]}  batch:${batchId}, ${formatRowCount(rows)}${took}`,
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

/** What a batch's end means to a shell. */
export function batchExitCode({ failed, canceled, notStarted, failedOutputs = 0 }: BatchResult): ExitCode {
  if (failed > 0) return exitCodes.failed;
  if (canceled > 0 || notStarted > 0) return exitCodes.canceled;
  return failedOutputs > 0 ? exitCodes.outputsFailed : exitCodes.success;
}

function figures(result: BatchResult): string[] {
  const { success, failed, canceled, notStarted, badRows, outputs, outputBytes, uploads } = result;
  const { failedOutputs = 0, costs } = result;
  const always: readonly Figure[] = [
    ['succeeded', success, `${formatCountOf(outputs, 'output')}, ${formatBytes(outputBytes)}`],
    ['failed', failed, failuresByType(result)],
  ];
  const mayBe: readonly Figure[] = [
    ...costFigures(costs),
    ['bad outputs', failedOutputs, 'failed at the service; the manifests list them'],
    ['canceled', canceled, ''],
    ['not started', notStarted, ''],
    ['bad rows', badRows, 'left out'],
    ['uploads', uploads.files, `${uploads.files === 1 ? 'file' : 'files'}, ${formatBytes(uploads.bytes)}`],
    ['shared', uploads.shared, `${uploads.shared === 1 ? 'file' : 'files'}, not uploaded again`],
  ];
  return [...always, ...mayBe.filter(([, count]) => count > 0)].map(([name, count, more]) =>
    `  ${name.padEnd(12)}${formatCount(count).padStart(9)}  ${more}`.trimEnd(),
  );
}

/** The rows whose cost is known or not; nothing where no price is known at all. */
function costFigures(costs: BatchResult['costs']): Figure[] {
  if (costs === undefined || costs.sums.length === 0) return [];
  const { sums, withoutResult, knownRows, unknownRows } = costs;
  const lost =
    withoutResult.length === 0 ? '' : `, of which ${withoutResult.map(formatMoney).join(' and ')} without a result`;
  return [
    ['cost', knownRows, `${sums.map(formatMoney).join(' and ')}${lost}`],
    ['cost unknown', unknownRows, 'no price or no cost time is known'],
  ];
}

/** By type, most frequent first. */
function failuresByType({ failures }: BatchResult): string {
  const types = mostFrequent(failures);
  return types.map(([type, count]) => `${formatCount(count)} ${type}`).join(', ');
}

function slowestTable({ slowest }: BatchResult): string[] {
  if (slowest.length === 0) return [];
  const lines = slowest.map(({ key, line, ms }) => rowLine(key, line, formatClock(ms)));
  return ['', rowLine('SLOWEST', 'LINE', 'TOOK'), ...lines];
}

function unsuccessfulTable({ unsuccessful, failed, canceled }: BatchResult, columns: number): string[] {
  if (unsuccessful.length === 0) return [];
  const more = failed + canceled - unsuccessful.length;
  return [
    '',
    rowLine('NOT SUCCEEDED', 'LINE', `${'TYPE'.padEnd(typeWidth)}  WORDS`),
    ...unsuccessful.flatMap(({ key, line, type, message }) => {
      const whole = rowLine(key, line, `${type.padEnd(typeWidth)}  ${message}`);
      if (whole.length <= columns) return [whole];
      const words = wrap(message, Math.max(1, columns - indent.length), maxMessageLines);
      return [rowLine(key, line, type), ...words.map((text) => `${indent}${text}`)];
    }),
    ...(more > 0 ? [`  and ${formatCount(more)} more; the result files have all`] : []),
  ];
}

/** What applies to rows that did not succeed. */
function whatNext({ batchId, failed, canceled, notStarted, failures }: BatchResult, columns: number): string[] {
  const refused = refusedInputs.reduce((sum, type) => sum + (failures[type] ?? 0), 0);
  const others = failed - refused + canceled + notStarted;
  const correct = `${formatRowCount(refused)} refused and not paid: correct the file, then the same command with --retry-failed`;
  const [first = '', ...more] = wrap(correct, Math.max(1, columns - label.length), maxMessageLines);
  return [
    ...(others > 0 ? [`  again    longhaul batch retry ${batchId}`] : []),
    ...(refused > 0 ? [`  correct  ${first}`, ...more.map((text) => `${label}${text}`)] : []),
  ];
}

function rowLine(key: string, line: number | string, rest: string): string {
  return `  ${fit(key, keyWidth).padEnd(keyWidth)} ${String(line).padStart(7)}  ${rest}`;
}
