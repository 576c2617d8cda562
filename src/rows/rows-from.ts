import path from 'node:path';
import { parseInputKey } from '../core/input-values';
import { isFields } from '../core/json';
import { errorMessage, showValue } from '../core/text';
import { isIterable, type RowFile } from './row-file';
import { RowFileError } from './row-problem';

/**
 * Rows that a program has, in place of a row file: each is what a line of JSONL would be. Read as they are asked for, so that
 * they may come from a cursor of a database; the line in a problem's place is that of the row, from 1.
 *
 * A row with what JSON does not hold, such as a Map or a Date, is a bad one, unless that is in a field that is ignored.
 *
 * @param folder what relative paths of input files start from; by default the working directory.
 *
 * @throws RowFileError for what has no rows; `readRows` does when there is not one.
 */
export function rowsFrom(rows: Iterable<object> | AsyncIterable<object>, folder = '.'): RowFile {
  if (!isIterable(rows)) {
    throw new RowFileError([`The rows are ${showValue(rows)}; give objects in an array, or another iterable of them.`]);
  }
  const folderName = `${JSON.stringify(path.resolve(folder))}, the second argument of rowsFrom (by default the working directory)`;
  const originals = new Map<number, unknown>();
  return { format: 'jsonl', folder: path.resolve(folder), folderName, chunks: writeLines(rows, originals), originals };
}

async function* writeLines(
  rows: Iterable<object> | AsyncIterable<object>,
  originals: Map<number, unknown>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let line = 0;
  for await (const row of rows) {
    line += 1;
    const { copy, isJson } = copyRow(row);
    if (!isJson) originals.set(line, copy);
    yield Buffer.from(`${isJson ? JSON.stringify(copy) : 'null'}\n`);
  }
}

/** A copy, because a program may fill the same object for its next row. What JSON does not hold stands in it as it is. */
function copyRow(row: unknown): { readonly copy: unknown; readonly isJson: boolean } {
  try {
    const copier = new RowCopier();
    const copy = copier.row(row);
    return { copy, isJson: copier.isJson && isFields(copy) };
  } catch (error) {
    const reason = error instanceof RangeError ? 'is nested too deeply' : errorMessage(error);
    // A text is no row, so that the reader reports it in its place.
    return { copy: `[cannot be read: ${reason}]`, isJson: false };
  }
}

class RowCopier {
  isJson = true;

  /** A row may be an object of a class that says what its row is, as those of databases do. */
  row(given: unknown): unknown {
    const row = hasToJson(given) ? given.toJSON() : given;
    if (!isFields(row)) return row;
    // A key or an input that is undefined stays: without it the row would be another one, paid for once more.
    const isNeeded = (name: string): boolean =>
      name === 'key' || name === 'inputs' || parseInputKey(name) !== undefined;
    const fields = Object.entries(row).filter(([name, value]) => value !== undefined || isNeeded(name));
    return this.#fields(fields, [row]);
  }

  #fields(fields: readonly (readonly [string, unknown])[], above: readonly object[]): object {
    return Object.fromEntries(fields.map(([name, value]) => [name, this.#value(value, above)]));
  }

  #value(value: unknown, above: readonly object[]): unknown {
    if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) {
      return value;
    }
    if (typeof value === 'object' && !above.includes(value)) {
      if (Array.isArray(value)) return value.map((one: unknown) => this.#value(one, [...above, value]));
      if (isPlain(value)) return this.#fields(Object.entries(value), [...above, value]);
    }
    this.isJson = false;
    return value;
  }
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}

/** Whether an object is of no class. Its prototype may be that of another realm. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return isFields(value) && (prototype === null || Object.getPrototypeOf(prototype) === null);
}
