import { showValue } from '../domain/text';
import { type InputFileCount, InputFileCensus } from './input-file-census';
import type { PreparedRow } from './prepared-row';
import type { RowOutcome } from './read-rows';
import { RowKeys } from './row-keys';
import { type RowProblem, type RowProblemCode, RowProblems } from './row-problem';

/** What became of the rows of a file. */
export interface RowsReport {
  readonly rows: number;
  readonly goodRows: number;
  readonly badRows: number;
  /** Rows without a key of their own, good ones. */
  readonly derivedKeys: number;
  readonly problemCount: number;
  readonly problemsByCode: Readonly<Partial<Record<RowProblemCode, number>>>;
  /** The first of them, in the order of the rows. */
  readonly firstProblems: readonly RowProblem[];
  /** Those of good rows. */
  readonly files: InputFileCount;
}

/** What happens with rows while they are checked. */
export interface RowSinks {
  /** Every good row, in order. */
  readonly onRow?: (row: PreparedRow) => Promise<void> | void;
  /** Every problem, in order. */
  readonly onProblem?: (problem: RowProblem) => void;
  /** How many problems the report keeps. @default 100 */
  readonly maxProblems?: number;
  /** Reads no further than this many good rows. @default all */
  readonly maxGoodRows?: number;
}

/**
 * Checks every row against the others and the files it names: keys are there once, input files exist and can be read.
 * Nothing is kept of a row but a hash of its key and of each new file, so that 100,000 rows take some 14 MB,
 * and as many files 20.
 *
 * @throws what reading the rows throws (RowFileError), and what `onRow` does.
 */
export async function checkRows(outcomes: AsyncIterable<RowOutcome>, sinks: RowSinks = {}): Promise<RowsReport> {
  const { onRow, onProblem, maxProblems = 100, maxGoodRows = Infinity } = sinks;
  const keys = new RowKeys();
  const files = new InputFileCensus();
  const firstProblems: RowProblem[] = [];
  const problemsByCode: Partial<Record<RowProblemCode, number>> = {};
  const counts = { rows: 0, goodRows: 0, badRows: 0, derivedKeys: 0, problemCount: 0 };
  for await (const { row, problems } of outcomes) {
    counts.rows += 1;
    const found = row === undefined ? problems : await problemsOf(row, keys, files);
    for (const problem of found) {
      counts.problemCount += 1;
      problemsByCode[problem.code] = (problemsByCode[problem.code] ?? 0) + 1;
      if (firstProblems.length < maxProblems) firstProblems.push(problem);
      onProblem?.(problem);
    }
    if (row === undefined || found.length > 0) {
      counts.badRows += 1;
      continue;
    }
    counts.goodRows += 1;
    if (row.originalKey === null) counts.derivedKeys += 1;
    for (const { file } of inputFilesOf(row)) await files.add(file);
    await onRow?.(row);
    if (counts.goodRows >= maxGoodRows) break;
  }
  return { ...counts, problemsByCode, firstProblems, files: files.count() };
}

async function problemsOf(row: PreparedRow, keys: RowKeys, files: InputFileCensus): Promise<readonly RowProblem[]> {
  const problems = new RowProblems(row.line);
  const earlier = keys.add(row.key, row.line);
  if (earlier !== undefined) {
    const { originalKey: value } = row;
    problems.add('DUPLICATE', duplicateProblem(row, earlier), value === null ? undefined : { field: 'key', value });
  }
  for (const { key, file } of inputFilesOf(row)) {
    const problem = await files.check(file);
    if (problem === undefined) continue;
    problems.add('FILE', `The file ${showValue(file)} of ${showValue(key)} ${problem}.`, { field: key, value: file });
  }
  return problems.found;
}

function inputFilesOf({ input }: PreparedRow): { key: string; file: string }[] {
  return Object.entries(input.inputs).flatMap(([key, value]) =>
    typeof value === 'object' ? [{ key, file: value.file }] : [],
  );
}

function duplicateProblem({ originalKey }: PreparedRow, earlier: number): string {
  return originalKey === null
    ? `The row has the content of line ${earlier}; remove it, or give both keys of their own to run it twice.`
    : `The key ${showValue(originalKey)} is that of line ${earlier} (capital letters make no difference); give every row a key of its own.`;
}
