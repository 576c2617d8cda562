import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../domain/json';
import { errorCode, showValue } from '../domain/text';
import { formatOption, type OptionNames } from './option-names';
import { RowFileError } from './row-problem';

/** As in the options of rows. */
interface WordOptions {
  readonly optionNames?: OptionNames;
}

/** How a row file is written. */
export type RowFormat = 'jsonl' | 'csv' | 'tsv';

/** A row file that is ready to be read, once. */
export interface RowFile {
  readonly format: RowFormat;
  /** Absolute: what relative paths of input files start from. */
  readonly folder: string;
  /** What messages call that folder. @default the folder of the row file */
  readonly folderName?: string;
  /** As they stand in the file; its first bytes are checked when its rows are read. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Of `rowsFrom`: by line, what cannot be a line of it, until it is read. */
  readonly originals?: Map<number, unknown>;
}

const workbookExtensions = ['.xlsx', '.xlsm', '.xls', '.ods', '.numbers'];
const packedExtensions = ['.gz', '.zip', '.bz2', '.xz', '.zst', '.7z', '.tgz'];
const formats: Readonly<Record<string, RowFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
};

/**
 * A row file on this machine. Nothing is opened before the first chunk is asked for; a file that cannot be read throws
 * {@link RowFileError} then.
 *
 * @param format by default what the file's extension says
 * @param options whose options the messages name
 * @throws RowFileError when it says nothing.
 */
export function rowFileAt(file: string, format?: RowFormat, options: WordOptions = {}): RowFile {
  const extension = path.extname(file).toLowerCase();
  const known = format ?? formats[extension];
  if (known !== undefined) {
    return { format: known, folder: path.dirname(path.resolve(file)), chunks: readChunks(file) };
  }
  const problem = workbookExtensions.includes(extension)
    ? 'is a workbook; save it as "CSV UTF-8"'
    : packedExtensions.includes(extension)
      ? 'is packed; unpack it first'
      : `has none of the extensions ${Object.keys(formats).join(', ')}; rename it or say its format ${formatOption(['jsonl', 'csv', 'tsv'], options)}`;
  throw new RowFileError([`The row file ${JSON.stringify(file)} ${problem}.`]);
}

/** Whether a value can be read one after another. */
export function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}

/** Throws RowFileError for what comes from a program and is no row file. */
export function requireRowFile(file: unknown): void {
  if (isRecord(file) && typeof file['folder'] === 'string' && isFormat(file['format']) && isIterable(file['chunks'])) {
    return;
  }
  const remedy = 'give rowFileAt(path), or rowsFrom(rows) for rows that are in memory';
  throw new RowFileError([`What is to be read is no row file (${showValue(file)}); ${remedy}.`]);
}

function isFormat(format: unknown): boolean {
  return Object.values(formats).some((known) => known === format);
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  const name = `The row file ${JSON.stringify(file)}`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const before = await handle.stat({ bigint: true });
    if (before.isDirectory()) throw new RowFileError([`${name} is a folder; give the path of a file.`]);
    yield* handle.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>;
    const after = await handle.stat({ bigint: true });
    // Half of one version and half of another would be rows that are in neither. A pipe has no versions.
    if (before.isFile() && (before.size !== after.size || before.mtimeNs !== after.mtimeNs)) {
      throw new RowFileError([`${name} changed while it was read; wait until it is saved, then try again.`]);
    }
  } catch (error) {
    if (error instanceof RowFileError) throw error;
    const code = errorCode(error);
    throw new RowFileError([`${name} cannot be read (${code}); check its path.`], { cause: error });
  } finally {
    await handle?.close();
  }
}

/** The mark that some programs put before UTF-8. */
export const utf8Mark = Buffer.from('\uFEFF');

/** Bytes that identify the format of a file. */
const headLength = 64;
/** Text of one byte a character has no zero among its first bytes, whatever language it is in. */
const zerosWithin = 16;

const excelRemedy = 'save it as UTF-8 (in Excel: save as "CSV UTF-8")';

/**
 * Reads a file by what it begins with; when the reading ends, for whatever reason, so does that of the chunks.
 *
 * @param read - gets at least the first 64 bytes, all of a file that is shorter, and the chunks that follow.
 */
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

/**
 * What a row file begins with, without the mark that some programs put before UTF-8.
 *
 * @throws RowFileError for what is no text in UTF-8, and for JSON that is not one object a line.
 */
export function readHead(head: Buffer, format: RowFormat, options: WordOptions): Buffer {
  const problem =
    encodingProblem(head) ?? (format === 'jsonl' ? jsonProblem(head, options) : tableProblem(head, options));
  if (problem !== undefined) throw new RowFileError([`The row file is ${problem}.`]);
  return head.indexOf(utf8Mark) === 0 ? head.subarray(utf8Mark.length) : head;
}

const packed = 'packed; unpack it first';
const picture = 'a picture or a document, and no table; give the file of the rows';

/** What files begin with that are given for a table by mistake, in hex. */
const signatures: readonly (readonly [bytes: string, problem: string])[] = [
  ...['1f8b', '504b05', '504b07', '425a68', 'fd377a58', '28b52ffd', '377abcaf', '52617221'].map(
    (bytes) => [bytes, packed] as const,
  ),
  ...['25504446', '89504e47', 'ffd8ff', '47494638', '49492a00'].map((bytes) => [bytes, picture] as const),
];

const markup = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|\?xml|table|head|meta)\b/i;

function encodingProblem(head: Buffer): string | undefined {
  const hex = head.subarray(0, 4).toString('hex');
  if (hex === '504b0304' || hex === 'd0cf11e0') return 'an Excel workbook or the like; save it as "CSV UTF-8"';
  const signature = signatures.find(([bytes]) => head.toString('hex').startsWith(bytes));
  if (signature !== undefined) return signature[1];
  if (markup.test(head.toString('latin1'))) {
    return 'a web page or XML, as some programs export a table; open it in a spreadsheet and save it as "CSV UTF-8"';
  }
  if (hex === 'fffe0000' || hex === '0000feff') return `in UTF-32; ${excelRemedy}`;
  if (hex.startsWith('fffe') || hex.startsWith('feff')) return `in UTF-16; ${excelRemedy}`;
  if (head.subarray(0, zerosWithin).includes(0))
    return `not in UTF-8 but, it seems, in UTF-16 or UTF-32; ${excelRemedy}`;
  return undefined;
}

function jsonProblem(head: Buffer, options: WordOptions): string | undefined {
  // No more than what there is in any case: what a file is must not depend on how its bytes come.
  const text = head.toString('utf8', 0, headLength).trimStart();
  if (text.startsWith('[')) return "one JSON array; write one object a line, e.g. jq -c '.[]' rows.json > rows.jsonl";
  if (/^\{[ \t]*\r?\n/.test(text)) {
    return 'JSON over several lines; write one object a line, e.g. jq -c . rows.json > rows.jsonl';
  }
  const [line = ''] = text.replace(/^\uFEFF/, '').split('\n', 1);
  return /^[^[{]*[,;\t]/.test(line)
    ? `a table, it seems, and no JSONL; say so ${formatOption(['csv', 'tsv'], options)}`
    : undefined;
}

function tableProblem(head: Buffer, options: WordOptions): string | undefined {
  const text = head.toString('utf8', 0, headLength).replace(/^\uFEFF/, '');
  return /^\s*\{\s*"/.test(text)
    ? `JSON, it seems, and no table; say so ${formatOption(['jsonl'], options)}`
    : undefined;
}
