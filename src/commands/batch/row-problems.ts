import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { InputInvalidError } from '../../client/errors';
import { formatRowPlace } from '../../core/batch/row-place';
import { parseJson } from '../../core/json';
import { errorCode, formatCount, printableLine, showValue } from '../../core/text';
import {
  RowFileError,
  type RowProblem,
  rowProblemAdvice,
  rowProblemText,
  type RowSinks,
  type TableForm,
} from '../../rows';

interface ProblemGroup {
  /** As many as are shown one by one. */
  readonly first: RowProblem[];
  count: number;
}

/** From this many on, equal problems are one line. */
const minGroup = 3;
const maxLines = 20;
/** Of further kinds only the number is known. */
const maxGroups = 1_000;

/** Problems of one column with the same remedy are one line, so that they do not hide the others. */
export class ProblemGroups {
  readonly #groups = new Map<string, ProblemGroup>();
  #count = 0;

  add(problem: RowProblem): void {
    this.#count += 1;
    const name = groupName(problem);
    const group = this.#groups.get(name);
    if (group !== undefined) {
      group.count += 1;
      if (group.first.length < minGroup - 1) group.first.push(problem);
    } else if (this.#groups.size < maxGroups) this.#groups.set(name, { first: [problem], count: 1 });
  }

  /** In the order of the rows that had them first. */
  lines(): readonly string[] {
    const shown = [...this.#groups.values()].flatMap(toLines).sort((one, other) => one.line - other.line);
    const lines = shown.slice(0, maxLines);
    const texts = lines.map(({ text }) => printableLine(`  ${text}`));
    const more = this.#count - lines.reduce((sum, { count }) => sum + count, 0);
    if (more > 0) {
      texts.push(`  and ${formatCount(more)} more problems; --json prints all, --problems FILE keeps them as CSV`);
    } else if (lines.some(({ count }) => count > 1)) {
      texts.push('  each row by itself: --problems FILE keeps them as CSV, --json prints all');
    }
    return texts;
  }
}

function toLines({ first, count }: ProblemGroup): { line: number; count: number; text: string }[] {
  const [problem] = first;
  if (problem === undefined) return [];
  if (count < minGroup) return first.map((one) => ({ line: one.line, count: 1, text: rowProblemText(one) }));
  const { line, message } = problem;
  return [{ line, count, text: `${formatCount(count)} rows, first in ${formatRowPlace(problem)}: ${message}` }];
}

/** Values of one column may differ, and with them the numbers in the remedy; a file is named by its problem alone. */
function groupName(problem: RowProblem): string {
  const { code, field, message } = problem;
  const isOfCell = code === 'VALUE' || code === 'INPUT';
  const what = isOfCell ? rowProblemAdvice(problem).replace(/-?\d+(?:[.,]\d+)*/g, '0') : message;
  return JSON.stringify([code, field, what]);
}

export interface ProblemsPlace {
  readonly file: string;
  /** Of the row file; known once its first bytes were read. */
  readonly form: () => TableForm;
}

/**
 * Removes the problems of an earlier check, which are no longer true. Throws {@link InputInvalidError} for a place that
 * cannot be written.
 * @param inputs - files that the command reads: they are not replaced.
 */
export async function clearProblemsFile(file: string, inputs: readonly string[]): Promise<void> {
  const [found, ...read] = await Promise.all([file, ...inputs].map((one) => stat(one).catch(() => undefined)));
  const isInput = found !== undefined && read.some((one) => one?.ino === found.ino && one.dev === found.dev);
  if (isInput || found?.isFile() === false) {
    const what = isInput ? 'which the rows are read from' : 'which is no regular file';
    throw new InputInvalidError([`--problems is ${showValue(file)}, ${what}; give another file.`], 'batch');
  }
  await rm(file, { force: true }).catch((error: unknown) => {
    throw unwritable(file, error);
  });
}

/** The file gets its name once all rows are checked. What ends the check stands at its end. */
export async function withProblemsFile<Result>(
  place: ProblemsPlace | null,
  sinks: RowSinks,
  check: (sinks: RowSinks) => Promise<Result>,
): Promise<Result> {
  if (place === null) return await check(sinks);
  const draft = `${place.file}.part-${randomUUID()}`;
  const table = new ProblemTable(place, draft);
  const onProblem = (problem: RowProblem): void => {
    sinks.onProblem?.(problem);
    table.add(problem);
  };
  try {
    const result = await check({ ...sinks, onProblem }).catch(async (error: unknown) => {
      if (!(error instanceof RowFileError || error instanceof InputInvalidError)) throw error;
      for (const problem of error.problems) table.addCells([null, null, null, null, null, problem]);
      table.close();
      await rename(draft, place.file);
      throw error;
    });
    table.close();
    await rename(draft, place.file);
    return result;
  } catch (error) {
    table.close();
    await rm(draft, { force: true });
    throw error;
  }
}

function unwritable(file: string, error: unknown): InputInvalidError {
  const problem = `--problems is ${showValue(file)}, which cannot be written (${errorCode(error)}); give a file in a folder that can.`;
  return new InputInvalidError([problem], 'batch');
}

const bufferLength = 65_536;

/** As CSV. Written at once: problems are reported one by one and not awaited. */
class ProblemTable {
  readonly #place: ProblemsPlace;
  readonly #handle: number;
  #isOpen = true;
  #form: TableForm | undefined;
  #text = '';

  constructor(place: ProblemsPlace, draft: string) {
    this.#place = place;
    this.#handle = this.#try(() => openSync(draft, 'wx'));
  }

  add(problem: RowProblem): void {
    const { sheetRow, line, key, rowBegins, field, value } = problem;
    const begins = rowBegins === undefined ? '' : ` The row begins with ${rowBegins}.`;
    // A text as it stands in its cell; other and shortened values as they are shown.
    const text = value === null ? null : parseJson(value);
    this.addCells([
      sheetRow,
      line,
      key,
      field,
      typeof text === 'string' ? text : value,
      `${rowProblemAdvice(problem)}${begins}`,
    ]);
  }

  addCells(cells: readonly (string | number | null | undefined)[]): void {
    const { delimiter, lineEnd } = this.#begin();
    const form = { delimiter, record_delimiter: lineEnd };
    this.#text += stringify([[...cells]], { ...form, escape_formulas: true, quoted_match: '\r' });
    if (this.#text.length >= bufferLength) this.#write();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.#begin();
      this.#write();
    } finally {
      closeSync(this.#handle);
    }
  }

  /** Not before the first problem: the form of the row file is known once it is read. */
  #begin(): TableForm {
    if (this.#form !== undefined) return this.#form;
    this.#form = this.#place.form();
    const { delimiter, isDeclared, lineEnd } = this.#form;
    // Without the mark, Excel assumes another encoding.
    this.#text = `\uFEFF${isDeclared ? `sep=${delimiter}${lineEnd}` : ''}`;
    this.addCells(['row', 'line', 'key', 'field', 'value', 'problem']);
    return this.#form;
  }

  #write(): void {
    this.#try(() => {
      let rest = Buffer.from(this.#text);
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#handle, rest));
    });
    this.#text = '';
  }

  #try<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      throw unwritable(this.#place.file, error);
    }
  }
}
