import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { parseInputKey } from '../core/input-values';
import { isFields, isRecord } from '../core/json';
import { errorCode, errorMessage, showValue } from '../core/text';
import { declaredDelimiter, type Delimiter } from './cells';
import { decodeText, requireEncoding } from './decode-text';
import type { FormerBatch } from './picked-outputs';
import { findMedia, type MediaPlaces } from './media-files';
import { optionNames, RowFileError } from './row-problem';
import { otherDelimiter } from './table-text';

/** `jsonl` may be a JSON document, too; `txt` is a list of texts, or a table as Excel writes it. */
export type RowFormat = 'jsonl' | 'csv' | 'tsv' | 'txt' | 'xlsx' | 'media' | 'outputs';

/** Can be read once. */
export interface RowFile {
  readonly format: RowFormat;
  /** Absolute: what relative paths of input files start from. */
  readonly folder: string;
  /** In messages. @default the folder of the row file */
  readonly folderName?: string;
  /** As they stand in the file, text in UTF-8; its first bytes are checked when its rows are read. */
  readonly chunks?: AsyncIterable<Uint8Array>;
  /** Of `rowsFrom`. */
  readonly objects?: AsyncIterable<unknown>;
  /** Pictures, videos and sounds. */
  readonly media?: MediaPlaces;
  /** Of `outputsOf`. */
  readonly outputs?: { readonly batch: FormerBatch; readonly picks?: RowFile | undefined };
}

type TableFormat = Exclude<RowFormat, 'media' | 'outputs'>;

export interface RowFileForm {
  /** By default what the ending says. */
  readonly format?: TableFormat | undefined;
  /** Of text, as the Encoding Standard names it. @default UTF-8, or UTF-16 where it is recognised */
  readonly encoding?: string | undefined;
  /** Of a folder: with the folders in it. */
  readonly recursive?: boolean | undefined;
  /** What the keys of several paths start from. @default the working directory */
  readonly folder?: string | undefined;
  /** Is told where UTF-16 was recognised. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

const formats: Readonly<Record<string, TableFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
  '.txt': 'txt',
  '.xlsx': 'xlsx',
};

/**
 * A row file, or pictures, videos and sounds: a folder, a file, a pattern such as `photos/*.jpg`, or several of these,
 * whose paths then start from the working directory. Opened when the first row is asked for.
 * @throws RowFileError when no format is known, and, while it is read, when it cannot be.
 */
export function rowFileAt(paths: string | readonly string[], form: RowFileForm = {}): RowFile {
  const { format, encoding, recursive = false } = form;
  if (encoding !== undefined) requireEncoding(encoding);
  const [file, ...others] = typeof paths === 'string' ? [paths] : paths;
  if (file === undefined) throw new RowFileError('There is no row file; give its path.');
  const media = format === undefined ? findMedia([file, ...others], form.folder) : undefined;
  if (media !== undefined) {
    return { format: 'media', folder: media.folder, media: { ...media, isRecursive: recursive, encoding } };
  }
  if (others.length > 0) {
    throw new RowFileError('There are several row files; give one, or pictures, videos, sounds and folders of them.');
  }
  if (recursive) throw new RowFileError(`${JSON.stringify(file)} is no folder; leave out recursive (--recursive).`);
  const known = format ?? formats[path.extname(file).toLowerCase()];
  if (known === undefined) {
    const list = Object.keys(formats).join(', ');
    throw new RowFileError(
      `The row file ${JSON.stringify(file)} has none of the extensions ${list}; rename it, or say its format (--format). Save other workbooks as .xlsx or CSV.`,
    );
  }
  const chunks = readChunks(file);
  const folder = path.dirname(path.resolve(file));
  if (known === 'xlsx') return { format: known, folder, chunks };
  return { format: known, folder, chunks: decodeText(chunks, { name: path.basename(file), ...form }) };
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** Throws RowFileError for what is no row file, as programs may give it. */
export function requireRowFile(file: unknown): void {
  const { format, folder, chunks, objects, media, outputs } = isRecord(file) ? file : {};
  const isFormat =
    format === 'media' || format === 'outputs' || Object.values(formats).some((known) => known === format);
  if (typeof folder === 'string' && isFormat && (isIterable(chunks ?? objects) || isRecord(media ?? outputs))) return;
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

/** Without the UTF-8 mark. @throws RowFileError for no UTF-8. */
export function readHead(head: Buffer): Buffer {
  const marks = head.subarray(0, 2).toString('hex');
  const hasControls = head.subarray(0, controlsWithin).some((byte) => byte < 9 || (byte > 13 && byte < 32));
  if (hasControls || marks === 'fffe' || marks === 'feff') {
    throw new RowFileError(
      `The row file is not text in UTF-8; say its ${optionNames.encoding}, give a workbook the ending .xlsx, and unpack a packed file.`,
    );
  }
  return head.indexOf(utf8Mark) === 0 ? head.subarray(utf8Mark.length) : head;
}

/** Whether JSON is an array, or an object over several lines. */
export function isJsonDocument(head: Buffer): boolean {
  // Not all of `head`: the result must not depend on how the bytes come.
  const text = head.toString('utf8', 0, headLength).trimStart();
  return text.startsWith('[') || /^\{\s*\r?\n/.test(text);
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
    this.file = { ...file, chunks: file.chunks && this.#noted(file.chunks) };
    this.#said = said;
  }

  get form(): TableForm {
    const { format } = this.file;
    const byFormat = format === 'tsv' || format === 'txt' ? '\t' : ',';
    if (format === 'jsonl' || format === 'xlsx' || format === 'media' || format === 'outputs') {
      return { delimiter: byFormat, isDeclared: false, lineEnd: '\n' };
    }
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
 * Rows of a program, read as they are asked for; a problem's line is that of the row, from 1.
 * A row with what JSON does not hold, such as a Map, is a bad one, unless that is in a field that is ignored. Relative
 * paths start from `folder`, by default the working directory.
 * @throws RowFileError for what has no rows; `readRows` does when there is not one.
 */
export function rowsFrom(rows: Iterable<object> | AsyncIterable<object>, folder = '.'): RowFile {
  if (!isIterable(rows)) {
    throw new RowFileError(`The rows are ${showValue(rows)}; give objects in an array, or another iterable of them.`);
  }
  const folderName = `${JSON.stringify(path.resolve(folder))}, the second argument of rowsFrom (by default the working directory)`;
  return { format: 'jsonl', folder: path.resolve(folder), folderName, objects: copyRows(rows) };
}

/**
 * The archived outputs of a former batch, each a row: all of rows that succeeded, or those that `picks` keeps, a table
 * with the columns `key`, `output` and `pick` as the report saves it. Relative paths start from `folder`.
 * @throws RowFileError for picks that are no table.
 */
export function outputsOf(batch: FormerBatch, picks?: RowFile, folder = '.'): RowFile {
  if (picks !== undefined && !['csv', 'tsv', 'txt', 'xlsx'].includes(picks.format)) {
    throw new RowFileError(`The picks are ${picks.format}, and no table; give picks.csv as the report saves it.`);
  }
  return { format: 'outputs', folder: path.resolve(folder), outputs: { batch, picks } };
}

async function* copyRows(rows: Iterable<object> | AsyncIterable<object>): AsyncGenerator<unknown, void, undefined> {
  for await (const row of rows) yield copyRow(row);
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
