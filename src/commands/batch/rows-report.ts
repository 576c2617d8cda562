import { type RowProblem, rowProblemText, type RowsReport } from '../../rows';
import { formatBytes } from '../../domain/format-bytes';
import { formatCount } from './batch-line';

/** So many bad rows are told to a person; a program gets them all. */
export const maxShownProblems = 20;

/** What the check of a row file found: counts, what is to upload, and the first problems. */
export function rowsReportText(source: string, report: RowsReport): string {
  const { rows, goodRows, badRows, derivedKeys, files } = report;
  const facts: readonly (readonly [string, string])[] = [
    ['rows', `${formatCount(rows)}: ${formatCount(goodRows)} good, ${formatCount(badRows)} bad`],
    ['to upload', uploadWords(files)],
    ...(files.remoteReferences > 0
      ? [['by URI', `${formatCount(files.remoteReferences)} inputs, fetched by the workers`] as const]
      : []),
    ...(derivedKeys > 0 ? [['keys', `${formatCount(derivedKeys)} derived from the rows’ content`] as const] : []),
    ...(badRows > 0 ? [['problems', problemWords(report)] as const] : []),
  ];
  return [source, ...facts.map(([name, words]) => `  ${name.padEnd(11)}${words}`), ...problemLines(report)].join('\n');
}

/** The report as a program gets it; its problems were told one by one. */
export function rowsReportFacts(source: string, report: RowsReport): object {
  const { rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files } = report;
  return { source, rows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files };
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
  const shown = firstProblems.slice(0, maxShownProblems).map((problem) => `  ${rowProblemText(problem)}`);
  const more = problemCount - shown.length;
  return [...shown, ...(more > 0 ? [`  and ${formatCount(more)} more problems; --json tells all`] : [])];
}
