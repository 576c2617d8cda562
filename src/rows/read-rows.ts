import { showValue } from '../core/text';
import { declaredDelimiter, delimiterByFormat } from './cells';
import { readJsonLines } from './json-rows';
import { prepareRow, type RefusedRow, type SourceRow } from './prepare-row';
import type { PreparedRow } from './prepared-rows';
import { maxOriginalKeyLength } from './row-key';
import { type RowFile, readHead, requireRowFile, withHead } from './row-file';
import { checkRowOptions, type RowOptions } from './row-options';
import type { RowTemplate } from './row-template';
import { optionNames, RowFileError, type RowProblem } from './row-problem';
import { splitRecords } from './split-records';
import { readTable } from './table-rows';

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

function sourceRows(
  { format, chunks, originals }: RowFile,
  options: RowOptions,
): AsyncGenerator<SourceRow, void, undefined> {
  const { maxRowBytes: maxBytes = defaultMaxRowBytes } = options;
  return withHead(chunks, (head, rest) => {
    const text = readHead(head, format);
    if (format === 'jsonl') {
      if (options.delimiter !== undefined) {
        throw new RowFileError(`JSONL has no delimiter; leave out ${optionNames.delimiter}.`);
      }
      if (options.decimal !== undefined && options.template === undefined) {
        throw new RowFileError(`JSONL without a template has its numbers as JSON; leave out ${optionNames.decimal}.`);
      }
      return readJsonLines(splitRecords(joined(text, rest), { maxBytes }), options, originals);
    }
    const declared = declaredDelimiter(text);
    const delimiter = options.delimiter ?? declared?.delimiter ?? delimiterByFormat[format];
    const rules = { maxBytes, delimiter, firstLine: declared === undefined ? 1 : 2 };
    const table = joined(text.subarray(declared?.bytes ?? 0), rest);
    const form = { delimiter, hasBom: text.length < head.length };
    return readTable(splitRecords(table, rules), form, options);
  });
}

async function* joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  yield* rest;
}
