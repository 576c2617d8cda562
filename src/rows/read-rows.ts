import { showValue } from '../core/text';
import { declaredDelimiter, delimiterByFormat } from './cells';
import { readJsonDocument, readJsonLines, readObjects, readTextLines } from './json-rows';
import { readMedia, requireInputs } from './media-files';
import { pickColumns, readPickedOutputs } from './picked-outputs';
import { prepareRow, type RefusedRow, type SourceRow } from './prepare-row';
import type { PreparedRow } from './prepared-rows';
import { maxOriginalKeyLength } from './row-key';
import { isJsonDocument, type RowFile, readHead, requireRowFile, withHead } from './row-file';
import { checkRowOptions, type RowOptions } from './row-options';
import type { RowTemplate } from './row-template';
import { optionNames, RowFileError, type RowProblem } from './row-problem';
import type { ObjectRecord } from './row-record';
import { splitRecords } from './split-records';
import { readTable } from './table-rows';
import { otherDelimiter, readTableText } from './table-text';
import { readWorkbook } from './workbook';

interface ReadRow {
  /** The column or field of the key. @default key */
  readonly keyField?: string;
  /** What messages call the folder that relative paths start from. @default the folder of the row file */
  readonly folderName?: string;
  /** For a template: the columns that each input is made of. */
  readonly inputColumns?: RowTemplate['inputColumns'];
}

/** A row that was read: prepared, or everything that is wrong with it. */
export type RowOutcome = ReadRow &
  (
    | { readonly row: PreparedRow; readonly problems?: never; readonly refused?: never }
    | {
        readonly row?: never;
        readonly problems: readonly RowProblem[];
        /** For the checks against other rows and the files; null when nothing of the row is left. */
        readonly refused?: RefusedRow | null;
      }
  );

const defaultMaxRowBytes = 1024 * 1024;

/**
 * Reads rows one at a time, and no other file; `checkRows` compares them.
 * @throws RowFileError when the file cannot be read, is no row file or has no rows, its header cannot be used, or a
 * quote is never closed, which may come after good rows.
 */
export async function* readRows(file: RowFile, options: RowOptions = {}): AsyncGenerator<RowOutcome, void, undefined> {
  requireRowFile(file);
  checkRowOptions(options);
  let index = 0;
  for await (const source of sourceRows(file, options)) {
    const prepared = prepareRow(source, index, file.folder, options);
    const more = {
      keyField: source.said?.keyField ?? 'key',
      folderName: file.folderName,
      inputColumns: options.template?.inputColumns,
    };
    yield 'row' in prepared
      ? { row: prepared.row, ...more }
      : { problems: withKey(source), refused: prepared.refused, ...more };
    index += 1;
  }
}

const shownCells = 3;

function withKey({ said, own: { cells = [] } = {}, problems }: SourceRow): readonly RowProblem[] {
  const { key } = said ?? { key: '' };
  const text = typeof key === 'number' ? String(key) : key;
  if (typeof text !== 'string' || text.length > maxOriginalKeyLength) return problems.found;
  if (text.trim() !== '') return problems.found.map((problem) => ({ ...problem, key: text }));
  const begins = cells.filter((cell) => cell.trim() !== '').slice(0, shownCells);
  if (begins.length === 0) return problems.found;
  const rowBegins = showValue(begins.join(', '));
  return problems.found.map((problem) => ({ ...problem, rowBegins }));
}

function sourceRows(file: RowFile, options: RowOptions, isPicks = false): AsyncGenerator<SourceRow, void, undefined> {
  const { format, chunks, objects, media, outputs } = file;
  const { maxRowBytes: maxBytes = defaultMaxRowBytes, each } = options;
  checkOptionsOf(file, options);
  if (outputs !== undefined) {
    const { batch, picks } = outputs;
    const { delimiter, sheet } = options;
    const table = picks && sourceRows(picks, { ...pickColumns, delimiter, sheet }, true);
    return readObjects(readPickedOutputs(batch, table, options), options);
  }
  if (objects !== undefined) return readObjects(numbered(objects), options);
  if (media !== undefined) return readObjects(readMedia(media, options), options);
  if (chunks === undefined) throw new RowFileError('The row file has no content.');
  if (format === 'xlsx') {
    const form = { delimiter: delimiterByFormat.csv, hasBom: true };
    return readTable(readWorkbook(chunks, options.sheet, maxBytes), form, options);
  }
  return withHead(chunks, (head, rest) => {
    const text = readHead(head);
    const all = joined(text, rest);
    if (format === 'txt' && each !== undefined) {
      return readObjects(readTextLines(splitRecords(all, { maxBytes }), each), options);
    }
    if (format === 'jsonl') {
      const isDocument = options.rows !== undefined || isJsonDocument(text);
      const records = isDocument ? readJsonDocument(all, options.rows) : readJsonLines(splitRecords(all, { maxBytes }));
      return readObjects(records, options);
    }
    const declared = declaredDelimiter(text);
    const usual = delimiterByFormat[format === 'csv' ? 'csv' : 'tsv'];
    // Whose columns are known: a spreadsheet may have saved it with another one.
    const found = isPicks ? otherDelimiter(text.toString('utf8').split(/\r?\n/, 1)[0] ?? '', usual) : undefined;
    const delimiter = options.delimiter ?? declared?.delimiter ?? found ?? usual;
    const rules = { maxBytes, delimiter, firstLine: declared === undefined ? 1 : 2 };
    const table = joined(text.subarray(declared?.bytes ?? 0), rest);
    const form = { delimiter, hasBom: text.length < head.length };
    const remedy = format === 'txt' ? ` For a list of one text a line, say the input by ${optionNames.each}.` : '';
    return readTable(readTableText(splitRecords(table, rules), delimiter, remedy), form, options);
  });
}

/** Throws RowFileError for options that would be without effect. */
function checkOptionsOf({ format, outputs }: RowFile, options: RowOptions): void {
  requireInputs(options);
  const { each, template } = options;
  const isList = format === 'media' || format === 'outputs' || (format === 'txt' && each !== undefined);
  const table = outputs?.picks?.format ?? format;
  const isTable = (table === 'csv' || table === 'tsv' || table === 'txt') && !(isList && table === format);
  const uses = {
    each: [isList || format === 'txt', 'a folder, pictures, videos, sounds, outputs and a list of texts (.txt)'],
    columnInputs: [format === 'outputs', 'outputs of a batch'],
    captions: [format === 'media', 'a folder, pictures, videos and sounds'],
    sheet: [table === 'xlsx', 'workbooks'],
    rows: [format === 'jsonl', 'JSON'],
    delimiter: [isTable, 'CSV and other tables of text'],
    decimal: [isTable || template !== undefined || format === 'outputs', 'tables of text and templates'],
    template: [!isList, 'rows with columns or fields'],
    keyColumn: [!isList, 'rows with columns or fields'],
    ignoreColumns: [format !== 'outputs', 'rows with columns or fields'],
  } as const;
  for (const [name, [isUsed, where]] of Object.entries(uses) as [keyof typeof uses, readonly [boolean, string]][]) {
    if (!isUsed && options[name] !== undefined) {
      throw new RowFileError(`${optionNames[name]} is for ${where}; leave it out.`);
    }
  }
}

async function* numbered(objects: AsyncIterable<unknown>): AsyncGenerator<ObjectRecord, void, undefined> {
  let line = 0;
  for await (const value of objects) yield { line: (line += 1), value };
}

async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  yield* rest;
}
