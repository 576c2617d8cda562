import type { BatchResult } from '../../contract/batch-messages';
import { type ExitCode, exitCodes } from '../exit-code';
import { fit, formatClock } from '../terminal';
import { formatBytes } from '../../domain/text';
import { mostFrequent } from '../../domain/batch-pace';
import { formatCount } from './batch-display';

const endings: Readonly<Record<BatchResult['ending'], string>> = {
  completed: 'Completed',
  drained: 'Drained, not every row was started',
  stopped: 'Stopped',
};
const keyWidth = 24;
const typeWidth = 18;
/** Width of the table where the width of the terminal is not known. */
const plainWidth = 160;

type Figure = readonly [name: string, count: number, more: string];

/** A batch's result as text: counts, slowest rows, failed rows with the service's messages, the result files. */
export function batchReport(result: BatchResult, elapsedMs: number | null, columns = plainWidth): string {
  const took = elapsedMs === null ? '' : ` in ${formatClock(elapsedMs)}`;
  const { ending, batchId, rows, jsonl, csv } = result;
  const lines = [
    `${endings[ending]}  batch:${batchId}, ${formatRows(rows)}${took}`,
    ...figures(result),
    ...slowestTable(result),
    ...unsuccessfulTable(result),
    '',
  ];
  const files = csv === '' ? ['  results  none: no row was started'] : [`  results  ${csv}`, `           ${jsonl}`];
  // A path that is cut is of no use.
  return [...lines.map((line) => fit(line, columns)), ...files.map((line) => fit(line, Infinity))].join('\n');
}

/** What a batch's end means to a shell. */
export function batchExitCode({ failed, canceled, notStarted, failedOutputs = 0 }: BatchResult): ExitCode {
  if (failed > 0) return exitCodes.failed;
  if (canceled > 0 || notStarted > 0) return exitCodes.canceled;
  return failedOutputs > 0 ? exitCodes.outputsFailed : exitCodes.success;
}

function formatRows(rows: number): string {
  return rows === 1 ? '1 row' : `${formatCount(rows)} rows`;
}

function figures(result: BatchResult): string[] {
  const { success, failed, canceled, notStarted, badRows, outputs, outputBytes, uploads } = result;
  const { failedOutputs = 0 } = result;
  const always: readonly Figure[] = [
    ['succeeded', success, `${formatCount(outputs)} outputs, ${formatBytes(outputBytes)}`],
    ['failed', failed, failuresByType(result)],
  ];
  const mayBe: readonly Figure[] = [
    ['bad outputs', failedOutputs, 'failed at the service; the manifests list them'],
    ['canceled', canceled, ''],
    ['not started', notStarted, ''],
    ['bad rows', badRows, 'left out'],
    ['uploads', uploads.files, `files, ${formatBytes(uploads.bytes)}`],
    ['shared', uploads.shared, 'files, not uploaded again'],
  ];
  return [...always, ...mayBe.filter(([, count]) => count > 0)].map(([name, count, more]) =>
    `  ${name.padEnd(12)}${formatCount(count).padStart(9)}  ${more}`.trimEnd(),
  );
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

function unsuccessfulTable({ unsuccessful, failed, canceled }: BatchResult): string[] {
  if (unsuccessful.length === 0) return [];
  const more = failed + canceled - unsuccessful.length;
  return [
    '',
    rowLine('NOT SUCCEEDED', 'LINE', `${'TYPE'.padEnd(typeWidth)}  WORDS`),
    ...unsuccessful.map(({ key, line, type, message }) => rowLine(key, line, `${type.padEnd(typeWidth)}  ${message}`)),
    ...(more > 0 ? [`  and ${formatCount(more)} more; the result files have all`] : []),
  ];
}

function rowLine(key: string, line: number | string, rest: string): string {
  return `  ${fit(key, keyWidth).padEnd(keyWidth)} ${String(line).padStart(7)}  ${rest}`;
}
