import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isRecord } from '../core/json';
import { formatRowPlace, pickPlace } from '../core/batch/row-place';
import { errorCode, showValue } from '../core/text';
import { isUri } from '../core/uri';
import type { PreparedRow } from './prepared-rows';
import type { RowOutcome } from './read-rows';
import type { RefusedRow } from './prepare-row';
import { type EarlierKey, keptHash, type RowKey, RowKeys } from './row-key';
import { RowFileError, type RowProblem, type RowProblemCode, RowProblems } from './row-problem';

export interface RowsReport {
  /** Each with every value of `vary`. */
  readonly rows: number;
  /** Of the file. */
  readonly fileRows: number;
  readonly goodRows: number;
  readonly badRows: number;
  /** Good rows without a key of their own. */
  readonly derivedKeys: number;
  readonly problemCount: number;
  readonly problemsByCode: Readonly<Partial<Record<RowProblemCode, number>>>;
  readonly firstProblems: readonly RowProblem[];
  /** Of good rows. */
  readonly files: InputFileCount;
}

export interface RowSinks {
  readonly onRow?: (row: PreparedRow) => Promise<void> | void;
  readonly onProblem?: (problem: RowProblem) => void;
  /** Problems that the report keeps. @default 100 */
  readonly maxProblems?: number;
  /** Reads no further than this many good rows. @default all */
  readonly maxGoodRows?: number;
}

/**
 * Keys must be unique, and input files exist and be readable. Keeps a hash of each: some 14 MB for 100,000 rows.
 * @throws RowFileError for what are no outcomes; what reading the rows and `onRow` throw.
 */
export async function checkRows(outcomes: AsyncIterable<RowOutcome>, sinks: RowSinks = {}): Promise<RowsReport> {
  const { onRow, onProblem, maxProblems = 100, maxGoodRows = Infinity } = sinks;
  const keys = new RowKeys();
  const files = new InputFileStats();
  const firstProblems: RowProblem[] = [];
  const problemsByCode: Partial<Record<RowProblemCode, number>> = {};
  const counts = { rows: 0, fileRows: 0, goodRows: 0, badRows: 0, derivedKeys: 0, problemCount: 0 };
  let reported = new Set<string>();
  if (!isRecord(outcomes) || !(Symbol.asyncIterator in outcomes)) throw noOutcomes(outcomes);
  for await (const outcome of outcomes) {
    requireOutcome(outcome);
    const { row } = outcome;
    counts.rows += 1;
    if (outcome.isVariation !== true) {
      counts.fileRows += 1;
      reported = new Set();
    }
    const found = await findProblems(outcome, keys, files);
    for (const problem of found) {
      // What is wrong with a row is wrong with each of its variations.
      const name = `${problem.field} ${problem.message}`;
      if (reported.has(name)) continue;
      reported.add(name);
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
    for (const { file } of listInputFiles(row.input)) await files.add(file);
    await onRow?.(row);
    if (counts.goodRows >= maxGoodRows) break;
  }
  return { ...counts, problemsByCode, firstProblems, files: files.count() };
}

function requireOutcome(outcome: unknown): void {
  const isOutcome = isRecord(outcome) && (isRecord(outcome['row']) || Array.isArray(outcome['problems']));
  if (!isOutcome) throw noOutcomes(outcome);
}

function noOutcomes(value: unknown): RowFileError {
  const remedy = 'give readRows(rowsFrom(rows)), or readRows(rowFileAt(path))';
  return new RowFileError(`What is to be checked is no outcome of readRows (${showValue(value)}); ${remedy}.`);
}

async function findProblems(
  { row, refused, keyField = 'key', folderName, inputColumns, problems: own = [] }: RowOutcome,
  keys: RowKeys,
  files: InputFileStats,
): Promise<readonly RowProblem[]> {
  const checked =
    row === undefined
      ? refused
      : { ...row, key: { key: row.key, originalKey: row.originalKey }, inputs: row.input.inputs };
  if (checked == null) return own;
  const problems = new RowProblems(checked, own);
  const { key } = checked;
  const earlier = key === null ? undefined : keys.add(key, pickPlace(checked));
  if (key !== null && earlier !== undefined) {
    const at = key.originalKey === null ? undefined : { field: keyField, value: key.originalKey };
    problems.add('DUPLICATE', duplicateProblem(key, keyField, earlier), at);
  }
  const keysByFile = new Map<string, string[]>();
  for (const { key, file } of listInputFiles(checked)) keysByFile.set(file, [...(keysByFile.get(file) ?? []), key]);
  for (const [file, inputs] of keysByFile) {
    const columns = inputs.map((input) => inputColumns?.get(input) ?? [input]);
    if (file.trim() === '' || columns.flat().some((column) => problems.has(column))) continue;
    const problem = await files.check(file, folderName);
    if (problem === undefined) continue;
    const [column] = columns.find(({ length }) => length === 1) ?? [];
    const field = column ?? inputs[0] ?? '';
    const cell = column === undefined ? undefined : checked.cells?.[checked.table?.columns.indexOf(column) ?? -1];
    problems.add('FILE', `The file ${showValue(file)} of ${showValue(field)} ${problem}.`, {
      field,
      value: cell ?? file,
    });
  }
  const originalKey = key?.originalKey;
  if (originalKey == null) return problems.found;
  return problems.found.map((problem) => ({ key: originalKey, ...problem }));
}

function listInputFiles({ inputs }: Pick<RefusedRow, 'inputs'>): { key: string; file: string }[] {
  return Object.entries(inputs).flatMap(([key, value]) =>
    isRecord(value) && typeof value['file'] === 'string' ? [{ key, file: value['file'] }] : [],
  );
}

function duplicateProblem({ originalKey }: RowKey, keyField: string, earlier: EarlierKey): string {
  const place = formatRowPlace(earlier.place);
  if (originalKey === null) {
    return `The row has the content of ${place}; remove it, or give both keys of their own to run it twice.`;
  }
  const value = showValue(originalKey);
  const other = earlier.originalKey === originalKey ? '' : ` ${showValue(earlier.originalKey)}`;
  const what =
    keyField === 'key'
      ? `The key ${value} is that of ${place}`
      : `${showValue(keyField)} is ${value}, the key of ${place}`;
  const alike = other === '' ? '' : `,${other}: capital letters, spaces and forms of accents make no difference`;
  return `${what}${alike}; give every row a key of its own.`;
}

/** In bytes, or what is wrong with the file; `start` is where relative paths start. */
export async function inspectInputFile(file: string, start: string): Promise<number | string> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) return 'is not a regular file; give the path of a file';
    if (stats.size === 0) return 'is empty; give a file that has content';
    await access(file, constants.R_OK);
    return stats.size;
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? `does not exist; relative paths start ${start}`
      : `cannot be read (${code}); check its permissions`;
  }
}

export interface InputFileCount {
  /** Files of this machine, counted once for every row that has them. */
  readonly references: number;
  /** What would be uploaded if every row uploaded for itself. */
  readonly referencedBytes: number;
  readonly distinct: number;
  readonly distinctBytes: number;
  /** Inputs named by a URI, which are not checked. */
  readonly remoteReferences: number;
}

interface InspectedFile {
  readonly size: number | string;
  isCounted: boolean;
}

class InputFileStats {
  readonly #seen = new Map<string, InspectedFile>();
  readonly #total = { references: 0, referencedBytes: 0, distinct: 0, distinctBytes: 0, remoteReferences: 0 };

  async check(file: string, folderName?: string): Promise<string | undefined> {
    if (isUri(file)) return undefined;
    const { size } = await this.#inspect(file, folderName);
    return typeof size === 'string' ? size : undefined;
  }

  async add(file: string): Promise<void> {
    if (isUri(file)) {
      this.#total.remoteReferences += 1;
      return;
    }
    const seen = await this.#inspect(file);
    if (typeof seen.size === 'string') return;
    this.#total.references += 1;
    this.#total.referencedBytes += seen.size;
    if (seen.isCounted) return;
    seen.isCounted = true;
    this.#total.distinct += 1;
    this.#total.distinctBytes += seen.size;
  }

  count(): InputFileCount {
    return { ...this.#total };
  }

  async #inspect(file: string, folderName = 'the folder of the row file'): Promise<InspectedFile> {
    const name = keptHash(file);
    const known = this.#seen.get(name);
    if (known !== undefined) return known;
    const seen = { size: await inspectInputFile(file, `from ${folderName}`), isCounted: false };
    this.#seen.set(name, seen);
    return seen;
  }
}
