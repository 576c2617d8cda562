import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { InputInvalidError } from '../../client/errors';
import { parseJson } from '../../domain/json';
import { errorCode, showValue } from '../../domain/text';
import { RowFileError, type RowProblem, rowProblemAdvice, type RowSinks, type TableForm } from '../../rows';

/** Where problems go as a table in the form of the row file. */
export interface ProblemsPlace {
  readonly file: string;
  /** Of the row file, once its first bytes were read. */
  readonly form: () => TableForm;
}

/**
 * Makes the place of the problems file ready before the rows are read: what stands there of an earlier check is removed, since
 * it is no longer true, however this one ends.
 *
 * Throws {@link InputInvalidError} for a place that cannot be written.
 *
 * @param inputs - files that the command reads: they are not replaced.
 */
export async function clearProblemsFile(file: string, inputs: readonly string[]): Promise<void> {
  await refuseOtherFiles(file, inputs);
  await rm(file, { force: true }).catch((error: unknown) => {
    throw unwritable(file, error);
  });
}

/**
 * Checks rows, and writes every problem into a file, which has its name once all rows are checked. What ends the check, such
 * as a header that cannot be used, stands at the end of it.
 */
export async function withProblemsFile<Result>(
  place: ProblemsPlace | null,
  sinks: RowSinks,
  check: (sinks: RowSinks) => Promise<Result>,
): Promise<Result> {
  if (place === null) return await check(sinks);
  const draft = `${place.file}.part-${randomUUID()}`;
  const lines = new ProblemLines(
    inPlace(place, () => openSync(draft, 'wx')),
    place,
  );
  try {
    const onProblem = (problem: RowProblem): void => {
      sinks.onProblem?.(problem);
      lines.add(problem);
    };
    const result = await check({ ...sinks, onProblem }).catch(async (error: unknown) => {
      if (!(error instanceof RowFileError || error instanceof InputInvalidError)) throw error;
      for (const problem of error.problems) lines.addOfFile(problem);
      lines.close();
      await rename(draft, place.file);
      throw error;
    });
    lines.close();
    await rename(draft, place.file);
    return result;
  } catch (error) {
    lines.close();
    await rm(draft, { force: true });
    throw error;
  }
}

async function refuseOtherFiles(file: string, inputs: readonly string[]): Promise<void> {
  const found = await statOf(file);
  if (found === undefined) return;
  const read = await Promise.all(inputs.map(statOf));
  const isInput = read.some((one) => one?.ino === found.ino && one.dev === found.dev);
  if (isInput || !found.isFile()) {
    const what = isInput ? 'which the rows are read from' : 'which is no regular file';
    throw new InputInvalidError([`--problems is ${showValue(file)}, ${what}; give another file.`], 'batch');
  }
}

async function statOf(file: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  return await stat(file).catch(() => undefined);
}

function inPlace<Result>({ file }: ProblemsPlace, act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string, error: unknown): InputInvalidError {
  const problem = `--problems is ${showValue(file)}, which cannot be written (${errorCode(error)}); give a file in a folder that can.`;
  return new InputInvalidError([problem], 'batch');
}

/** A text as it stands in its cell; other values, and what is shortened, as they are shown. */
function plainValue(shown: string): string {
  const text = parseJson(shown);
  return typeof text === 'string' ? text : shown;
}

const bufferLength = 65_536;

/** Problems as lines of CSV. Problems are reported one by one and not awaited, so they are written at once. */
class ProblemLines {
  readonly #handle: number;
  readonly #place: ProblemsPlace;
  #form: TableForm | undefined;
  #text = '';
  #isOpen = true;

  constructor(handle: number, place: ProblemsPlace) {
    this.#handle = handle;
    this.#place = place;
  }

  add(problem: RowProblem): void {
    const { sheetRow, line, key, rowBegins, field, value } = problem;
    const begins = rowBegins === undefined ? '' : ` The row begins with ${rowBegins}.`;
    this.#add([
      sheetRow,
      line,
      key,
      field,
      value === null ? null : plainValue(value),
      `${rowProblemAdvice(problem)}${begins}`,
    ]);
  }

  /** A problem of no row. */
  addOfFile(message: string): void {
    this.#add([null, null, null, null, null, message]);
  }

  /** Writes the rest, once. */
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

  /** Writes, once, what stands before the first problem; the form of the row file is not known before it is read. */
  #begin(): TableForm {
    if (this.#form !== undefined) return this.#form;
    const form = this.#place.form();
    this.#form = form;
    const { delimiter, isDeclared, lineEnd } = form;
    // Excel takes a file without the mark for one of another encoding.
    this.#text = `\uFEFF${isDeclared ? `sep=${delimiter}${lineEnd}` : ''}`;
    this.#add(['row', 'line', 'key', 'field', 'value', 'problem']);
    return form;
  }

  #add(cells: readonly (string | number | null | undefined)[]): void {
    const { delimiter, lineEnd } = this.#begin();
    const form = { delimiter, record_delimiter: lineEnd };
    this.#text += stringify([[...cells]], { ...form, escape_formulas: true, quoted_match: '\r' });
    if (this.#text.length >= bufferLength) this.#write();
  }

  #write(): void {
    inPlace(this.#place, () => {
      let rest = Buffer.from(this.#text);
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#handle, rest));
    });
    this.#text = '';
  }
}
