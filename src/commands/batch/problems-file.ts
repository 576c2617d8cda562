import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { stringify } from 'csv-stringify/sync';
import { InputInvalidError } from '../../client/errors';
import { parseJson } from '../../domain/json';
import { errorCode, showValue } from '../../domain/text';
import { type RowProblem, rowProblemParts, type RowSinks } from '../../rows';

/** Where problems go as CSV. */
export interface ProblemsPlace {
  readonly file: string;
  readonly delimiter: string;
  /** Files that the command reads: they are not replaced. */
  readonly inputs: readonly string[];
}

/** Checks rows, and writes every problem into a file, which has its name once all rows are checked. */
export async function withProblemsFile<Result>(
  place: ProblemsPlace | null,
  sinks: RowSinks,
  check: (sinks: RowSinks) => Promise<Result>,
): Promise<Result> {
  if (place === null) return await check(sinks);
  await refuseOtherFiles(place);
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
    const result = await check({ ...sinks, onProblem });
    lines.close();
    await rename(draft, place.file);
    return result;
  } catch (error) {
    lines.close();
    await rm(draft, { force: true });
    throw error;
  }
}

async function refuseOtherFiles({ file, inputs }: ProblemsPlace): Promise<void> {
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
    const problem = `--problems is ${showValue(file)}, which cannot be written (${errorCode(error)}); give a file in a folder that can.`;
    throw new InputInvalidError([problem], 'batch');
  }
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
  #text = '';
  #isOpen = true;

  constructor(handle: number, place: ProblemsPlace) {
    this.#handle = handle;
    this.#place = place;
    // Excel takes a file without the mark for one of another encoding.
    this.#text = '\uFEFF';
    this.#add(['line', 'key', 'field', 'value', 'problem', 'remedy']);
  }

  add(problem: RowProblem): void {
    const { line, key, field, value } = problem;
    const { words, remedy } = rowProblemParts(problem);
    this.#add([line, key, field, value === null ? null : plainValue(value), words, remedy]);
  }

  /** Writes the rest, once. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.#write();
    } finally {
      closeSync(this.#handle);
    }
  }

  #add(cells: readonly (string | number | null | undefined)[]): void {
    const { delimiter } = this.#place;
    this.#text += stringify([[...cells]], { delimiter, escape_formulas: true, quoted_match: '\r' });
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
