import { batchWorkflowId } from '../../contract/workflow-ids';
import { formatBytes, printableLine, showValue } from '../../domain/text';
import { type RowProblem, rowProblemText, type RowsReport } from '../../rows';
import { fit } from '../format';
import { formatCount } from './batch-line';
import { type ShownRow, shownRowLines } from './shown-row';
import type { TextLikeFile } from './text-like-files';

/** So many bad rows are told to a person; a program gets them all. */
export const maxShownProblems = 20;

/** What the check of a row file found, and what would come of it. */
export interface CheckedRows {
  /** The row file as it was named. */
  readonly source: string;
  readonly batchId: string;
  /** Where in the archive the outputs go. */
  readonly outputs: string;
  readonly report: RowsReport;
  /** The file was read up to this many good rows; null: all of it. */
  readonly first: number | null;
  /** The first good row; null when there is none. */
  readonly firstRow: ShownRow | null;
  readonly textLikeFiles: readonly TextLikeFile[];
}

/** What the check of a row file found: counts, what is to upload, what the first row sends, and the first problems. */
export function rowsReportText(checked: CheckedRows): string {
  const { source, batchId, outputs, report, first, firstRow } = checked;
  const { rows, goodRows, badRows, derivedKeys, files } = report;
  const counts = `${formatCount(rows)}: ${formatCount(goodRows)} good, ${formatCount(badRows)} bad`;
  const isCut = first !== null && goodRows >= first;
  const facts: readonly (readonly [string, string])[] = [
    ['batch', batchWorkflowId(batchId)],
    ['outputs', `${outputs}, in the archive`],
    ['rows', isCut ? `${counts}; --first ${first} looked no further` : counts],
    ['to upload', uploadWords(files)],
    ...(files.remoteReferences > 0
      ? [['by URI', `${formatCount(files.remoteReferences)} inputs, fetched by the workers`] as const]
      : []),
    ...(derivedKeys > 0 ? [['keys', `${formatCount(derivedKeys)} derived from the rows’ content`] as const] : []),
    ...(firstRow === null ? [] : shownRowLines(firstRow).map((line, n) => [n === 0 ? 'first row' : '', line] as const)),
    ...checked.textLikeFiles.map((text) => ['look at', textLikeFileWords(text)] as const),
    ...(badRows > 0 ? [['problems', problemWords(report)] as const] : []),
  ];
  const lines = [source, ...facts.map(([name, words]) => `  ${name.padEnd(11)}${words}`), ...problemLines(report)];
  return lines.map((line) => fit(line, Infinity)).join('\n');
}

/** A note, no refusal: it may be meant so. */
function textLikeFileWords({ key, rows, example, asFile }: TextLikeFile): string {
  const where = `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}`;
  return `${showValue(key)} is text that looks like a file in ${where}, e.g. ${example}; ${asFile} would upload it`;
}

/** The report as a program gets it; its problems were told one by one. */
export function rowsReportFacts(checked: CheckedRows): object {
  const { source, batchId, outputs, report, first, firstRow, textLikeFiles } = checked;
  const { rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files } = report;
  const counts = { rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files };
  return { source, batchId, outputs, ...counts, first, firstRow, textLikeFiles };
}

/** A problem as a program gets it. */
export function problemFacts({ line, code, field, value, message }: RowProblem): object {
  return { line, code, field, value, message };
}

function uploadWords({ references, referencedBytes, distinct, distinctBytes }: RowsReport['files']): string {
  if (references === 0) return 'nothing';
  const files = `${formatCount(distinct)} ${distinct === 1 ? 'file' : 'files'}, ${formatBytes(distinctBytes)}`;
  return references === distinct
    ? files
    : `${files}; named ${formatCount(references)} times, ${formatBytes(referencedBytes)} in all`;
}

function problemWords({ problemsByCode }: RowsReport): string {
  return Object.entries(problemsByCode)
    .map(([code, count]) => `${formatCount(count)} ${code}`)
    .join(', ');
}

function problemLines({ firstProblems, problemCount }: RowsReport): string[] {
  const shown = firstProblems
    .slice(0, maxShownProblems)
    .map((problem) => printableLine(`  ${rowProblemText(problem)}`));
  const more = problemCount - shown.length;
  return [...shown, ...(more > 0 ? [`  and ${formatCount(more)} more problems; --json tells all`] : [])];
}
