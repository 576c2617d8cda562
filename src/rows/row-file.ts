import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { parseInputKey } from '../core/input-values';
import { isFields, isRecord } from '../core/json';
import { errorCode, errorMessage, showValue } from '../core/text';
import { declaredDelimiter, type Delimiter, delimiterByFormat } from './cells';
import { RowFileError } from './row-problem';
import { otherDelimiter } from './table-rows';

export type RowFormat = 'jsonl' | 'csv' | 'tsv';

/** Can be read once. */
export interface RowFile {
  readonly format: RowFormat;
  /** Absolute: what relative paths of input files start from. */
  readonly folder: string;
  /** In messages. @default the folder of the row file */
  readonly folderName?: string;
  /** As they stand in the file; its first bytes are checked when its rows are read. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Of `rowsFrom`: the rows, by the line that stands for each, until they are read. */
  readonly originals?: Map<number, unknown>;
}

const formats: Readonly<Record<string, RowFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
};

/**
 * Opens the file when the first chunk is asked for. By default its extension says the format.
 * @throws RowFileError when that says nothing, and, while it is read, when it cannot be.
 */
export function rowFileAt(file: string, format?: RowFormat): RowFile {
  const known = format ?? formats[path.extname(file).toLowerCase()];
  if (known === undefined) {
    throw new RowFileError(
      `The row file ${JSON.stringify(file)} has none of the extensions ${Object.keys(formats).join(', ')}; rename it, or say its format: jsonl, csv or tsv.`,
    );
  }
  return { format: known, folder: path.dirname(path.resolve(file)), chunks: readChunks(file) };
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** Throws RowFileError for what is no row file, as programs may give it. */
export function requireRowFile(file: unknown): void {
  const { format, folder, chunks } = isRecord(file) ? file : {};
  const isFormat = Object.values(formats).some((known) => known === format);
  if (typeof folder === 'string' && isFormat && isIterable(chunks)) return;
  const remedy = 'give rowFileAt(path), or rowsFrom(rows) for rows that are in memory';
  throw new RowFileError(`What is to be read is no row file (${showValue(file)}); ${remedy}.`);
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const name = `The row file ${JSON.stringify(file)}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const before = await handle.stat({ bigint: true });
    if (before.isDirectory()) throw new RowFileError(`${name} is a folder; give the path of a file.`);
    yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
    const after = await handle.stat({ bigint: true });
    // Half of one version and half of another would be rows of neither. A pipe has no versions.
    if (before.isFile() && (before.size !== after.size || before.mtimeNs !== after.mtimeNs)) {
      throw new RowFileError(`${name} changed while it was read; wait until it is saved, then try again.`);
    }
  } catch (error) {
    if (error instanceof RowFileError) throw error;
    const code = errorCode(error);
    throw new RowFileError(`${name} cannot be read (${code}); check its path.`, { cause: error });
  } finally {
    await handle?.close();
  }
}

const utf8Mark = Buffer.from('\uFEFF');

const headLength = 64;
const controlsWithin = 16;

/** When the reading ends, for whatever reason, so does that of the chunks. */
export async function* withHead<Row>(
  chunks: AsyncIterable<Uint8Array>,
  read: (head: Buffer, rest: AsyncIterable<Uint8Array>) => AsyncIterable<Row>,
): AsyncGenerator<Row, void, undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    let head: Buffer = Buffer.alloc(0);
    while (head.length < headLength) {
      const next = await iterator.next();
      if (next.done === true) break;
      head = Buffer.concat([head, next.value]);
    }
    yield* read(head, { [Symbol.asyncIterator]: () => iterator });
  } finally {
    await iterator.return?.();
  }
}

/** Without the UTF-8 mark. @throws RowFileError for no UTF-8, and JSON over several lines. */
export function readHead(head: Buffer, format: RowFormat): Buffer {
  const marks = head.subarray(0, 2).toString('hex');
  const hasControls = head.subarray(0, controlsWithin).some((byte) => byte < 9 || (byte > 13 && byte < 32));
  if (hasControls || marks === 'fffe' || marks === 'feff') {
    throw new RowFileError(
      'The row file is not text in UTF-8; save it as UTF-8 (a workbook as "CSV UTF-8"), and unpack a packed file.',
    );
  }
  // Not all of `head`: the result must not depend on how the bytes come.
  const text = head.toString('utf8', 0, headLength).trimStart();
  if (format === 'jsonl' && (text.startsWith('[') || /^\{\s*\r?\n/.test(text))) {
    throw new RowFileError('The row file is JSON over several lines; write one object a line, such as with jq -c.');
  }
  return head.indexOf(utf8Mark) === 0 ? head.subarray(utf8Mark.length) : head;
}

/** For a table that a person opens beside the row file. */
export interface TableForm {
  readonly delimiter: Delimiter;
  readonly isDeclared: boolean;
  readonly lineEnd: '\n' | '\r\n';
}

const maxHeadBytes = 65_536;

/** Notes the form while the rows are read: a pipe cannot be read twice. */
export class TableFormReader {
  readonly file: RowFile;
  readonly #said: Delimiter | undefined;
  #head: Buffer = Buffer.alloc(0);

  constructor(file: RowFile, said?: Delimiter) {
    this.file = { ...file, chunks: this.#noted(file.chunks) };
    this.#said = said;
  }

  get form(): TableForm {
    const { format } = this.file;
    const byFormat = delimiterByFormat[format === 'jsonl' ? 'csv' : format];
    if (format === 'jsonl') return { delimiter: byFormat, isDeclared: false, lineEnd: '\n' };
    const table = this.#head.subarray(this.#head.indexOf(utf8Mark) === 0 ? utf8Mark.length : 0);
    const declared = declaredDelimiter(table);
    const [line = ''] = table.toString('utf8').split('\n', 1);
    return {
      delimiter: this.#said ?? declared?.delimiter ?? otherDelimiter(line, byFormat) ?? byFormat,
      isDeclared: declared !== undefined,
      lineEnd: line.endsWith('\r') ? '\r\n' : '\n',
    };
  }

  async *#noted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      if (this.#head.length < maxHeadBytes && !this.#head.includes('\n')) {
        this.#head = Buffer.concat([this.#head, chunk.subarray(0, maxHeadBytes)]);
      }
      yield chunk;
    }
  }
}

/**
 * Rows of a program, each as a line of JSONL, read as they are asked for; a problem's line is that of the row, from 1.
 * A row with what JSON does not hold, such as a Map, is a bad one, unless that is in a field that is ignored. Relative
 * paths start from `folder`, by default the working directory.
 * @throws RowFileError for what has no rows; `readRows` does when there is not one.
 */
export function rowsFrom(rows: Iterable<object> | AsyncIterable<object>, folder = '.'): RowFile {
  if (!isIterable(rows)) {
    throw new RowFileError(`The rows are ${showValue(rows)}; give objects in an array, or another iterable of them.`);
  }
  const folderName = `${JSON.stringify(path.resolve(folder))}, the second argument of rowsFrom (by default the working directory)`;
  const originals = new Map<number, unknown>();
  return { format: 'jsonl', folder: path.resolve(folder), folderName, chunks: writeLines(rows, originals), originals };
}

/** Each line is as long as the beginning by which a file is read. */
async function* writeLines(
  rows: Iterable<object> | AsyncIterable<object>,
  originals: Map<number, unknown>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let line = 0;
  for await (const row of rows) {
    line += 1;
    originals.set(line, copyRow(row));
    yield Buffer.from(`${'null'.padEnd(headLength)}\n`);
  }
}

/** A program may fill the same object for its next row. A class may say what its row is. */
function copyRow(given: unknown): unknown {
  try {
    const row = hasToJson(given) ? given.toJSON() : given;
    if (!isFields(row)) return row;
    // An undefined key or input stays: without it the row would be another one, paid for once more.
    const isNeeded = (name: string): boolean =>
      name === 'key' || name === 'inputs' || parseInputKey(name) !== undefined;
    const fields = Object.entries(row).filter(([name, value]) => value !== undefined || isNeeded(name));
    return copyFields(fields, [row]);
  } catch (error) {
    const reason = error instanceof RangeError ? 'is nested too deeply' : errorMessage(error);
    return `[cannot be read: ${reason}]`;
  }
}

function copyFields(fields: readonly (readonly [string, unknown])[], above: readonly object[]): object {
  return Object.fromEntries(fields.map(([name, value]) => [name, copyValue(value, above)]));
}

function copyValue(value: unknown, above: readonly object[]): unknown {
  if (typeof value !== 'object' || value === null || above.includes(value)) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => copyValue(one, [...above, value]));
  return isPlain(value) ? copyFields(Object.entries(value), [...above, value]) : value;
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function';
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return isFields(value) && (prototype === null || Object.getPrototypeOf(prototype) === null);
}
