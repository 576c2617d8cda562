import { type InputFromText, exactNumber } from '../domain/input-values';
import type { RowPlace } from '../domain/batch/row-place';
import { type NumberNotation, numberNotation, readCellNumber, tableDecimal } from './cell-number';
import { formatCountOf } from '../domain/text';
import type { RowTable } from './prepared-rows';
import { brokenCell, columnName, unintendedCell, parseCells, type Delimiter, unquotedRemedy } from './table-cells';
import { addFaults, type RawRecord } from './split-records';
import { optionFor } from './option-names';
import { RowFileError, RowProblems } from './row-problem';
import { getKeyColumn, type RowOptions, type SourceRow } from './row-options';
import {
  accountColumn,
  appColumn,
  isAccountColumn,
  readHeader,
  readTableColumns,
  type TableColumns,
} from './table-columns';

const damaged = ': the file is damaged; save it anew';

type TableOptions = RowOptions & { readonly notation: NumberNotation };

/**
 * The rows of a CSV or TSV file. Its first line that is not empty is the header; a line of nothing but delimiters, as
 * spreadsheets leave them behind, is as empty as an empty one.
 *
 * @throws RowFileError when the header cannot be used, no row follows it, or the end of a row cannot be found.
 */
export async function* readTable(
  records: AsyncIterable<RawRecord>,
  { delimiter, hasBom }: Pick<RowTable, 'delimiter' | 'hasBom'>,
  options: RowOptions,
): AsyncGenerator<SourceRow, void, undefined> {
  const notation = numberNotation(options, delimiter);
  let columns: TableColumns | undefined;
  let table: RowTable | undefined;
  let isEmpty = true;
  for await (const record of records) {
    const place = { line: record.line, sheetRow: record.number };
    const problems = new RowProblems(place);
    const cells = readCells(record, delimiter, problems);
    if (cells?.every((cell) => cell === '') === true) continue;
    if (columns === undefined) {
      const names = readHeader({ record, cells, problems: problems.found }, delimiter, options);
      columns = readTableColumns(names, options);
      const decimal = tableDecimal(notation);
      const inputColumns = options.template && Object.fromEntries(options.template.inputColumns);
      const more = { ...(decimal !== 'point' && { decimal }), ...(inputColumns && { inputColumns }) };
      table = { columns: names, delimiter, hasBom, ...more };
    } else {
      isEmpty = false;
      const row = sourceRow(place, cells, columns, { ...options, notation }, problems);
      const own = { ...(table && { table }), cells: (cells ?? []).slice(0, columns.names.length) };
      yield { ...row, cells: own.cells, ...(row.said && { said: { ...row.said, own } }) };
    }
  }
  if (columns === undefined) throw new RowFileError(['The row file is empty; give it a header and rows.']);
  if (isEmpty) throw new RowFileError(['There are no rows under the header.']);
}

function readCells(record: RawRecord, delimiter: Delimiter, problems: RowProblems): readonly string[] | undefined {
  if (record.fault !== undefined) {
    addFaults(record, problems, unquotedRemedy(delimiter));
    return undefined;
  }
  const { cells, problem } = parseCells(record.text, delimiter);
  const lines = record.text.split('\n').length;
  if (problem !== undefined && lines > 1) {
    const where = `row ${record.number}, lines ${record.line} to ${record.line + lines - 1} of the file,`;
    throw new RowFileError([`The quotes in ${where} do not match, so the end of the row cannot be found. ${problem}`]);
  }
  const malformed = hasBareReturn(record.text) ? bareReturn : problem;
  if (malformed === undefined) return cells;
  problems.add('MALFORMED', malformed);
  return undefined;
}

const bareReturn = 'The row has a line end of an old Mac (\\r) outside quotes; end lines with \\n or \\r\\n.';

/** Spreadsheets begin a row there: what follows would be taken for cells of this one. */
function hasBareReturn(text: string): boolean {
  return text.includes('\r') && text.replace(/"(?:[^"]|"")*"/g, '').includes('\r');
}

function sourceRow(
  place: RowPlace,
  cells: readonly string[] | undefined,
  { names, sent, used }: TableColumns,
  options: TableOptions,
  problems: RowProblems,
): SourceRow {
  if (cells === undefined) return { ...place, problems };
  if (cells.length < names.length && cells.some((cell) => cell.includes('\0'))) {
    problems.add('MALFORMED', `The row has zero bytes${damaged}.`);
    return { ...place, problems };
  }
  // Spreadsheets leave empty cells behind at the end of a row.
  if (cells.length < names.length || cells.slice(names.length).some((cell) => cell.trim() !== '')) {
    const counts = `The row has ${formatCountOf(cells.length, 'cell')}, and the header ${formatCountOf(names.length, 'column')}`;
    problems.add('COLUMN_COUNT', `${counts}; give each column a cell, and quote cells that hold a delimiter.`);
    return { ...place, problems };
  }
  if (names.every((name, index) => columnName(cells[index] ?? '') === columnName(name))) {
    problems.add('MALFORMED', 'The row repeats the header; remove it.');
    return { ...place, problems };
  }
  const byName = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  const { emptyCells = 'refuse', template, keepColumns = [] } = options;
  for (const name of used) {
    const problem = cellProblem(name, byName[name] ?? '', sent.has(name), options);
    if (problem !== undefined) problems.addField('VALUE', name, byName[name], problem);
  }
  const getCell = (column: string): string | undefined =>
    emptyCells === 'omit' && byName[column] === '' ? undefined : byName[column];
  const { key, ...fields } =
    template === undefined
      ? { key: undefined, ...readInputCells(sent, getCell, options) }
      : template.fill(getCell, problems, options.notation);
  const app = readAppCell(names, sent, byName, problems);
  const account = isAccountColumn(options) ? getCell(accountColumn) : undefined;
  const said = {
    fields: { ...app, ...(account !== undefined && { account }), ...fields },
    key: key ?? byName[getKeyColumn(options)],
    keyField: key === undefined ? getKeyColumn(options) : (template?.keyColumn ?? 'key'),
    content: Object.fromEntries(used.map((name) => [name, byName[name]])),
    columns: Object.fromEntries(keepColumns.map((name) => [name, byName[name] ?? ''])),
  };
  return { ...place, problems, said };
}

/** What keeps a cell from being used, as the rest of a sentence about it. */
function cellProblem(name: string, text: string, isSent: boolean, options: TableOptions): string | undefined {
  const { emptyCells = 'refuse', template, textColumns = [] } = options;
  if (text === '' && name === template?.keyColumn) {
    return 'fill it in: by its key a row is known when the file is run again, and not paid twice';
  }
  if (text === '' && isSent && emptyCells === 'refuse') {
    const omit = `fill it in, or say that an empty cell leaves its input out ${optionFor('emptyCells', 'omit', options)}`;
    return template?.numberColumns.has(name) === true
      ? omit
      : `${omit} or is empty text ${optionFor('emptyCells', 'text', options)}`;
  }
  const isKey = name === (template?.keyColumn ?? getKeyColumn(options));
  // What a blank key or app is, they say themselves.
  if (textColumns.includes(name) || (!isSent && text.trim() === '')) return undefined;
  if (text.includes('\0') && (isKey || text.startsWith('@'))) return `it has zero bytes${damaged}`;
  if (!isKey && isSent && template === undefined) {
    if (text === '@') return 'give the path of a file after the @';
    return brokenCell(name, text, options) ?? unintendedCell(name, text, options);
  }
  return brokenCell(name, text, options);
}

function readInputCells(
  sent: ReadonlySet<string>,
  getCell: (column: string) => string | undefined,
  { textColumns = [], notation }: TableOptions,
): Record<string, unknown> {
  const inputs = [...sent].flatMap((name) => {
    const text = getCell(name);
    if (text === undefined) return [];
    return [[name, textColumns.includes(name) ? text : readInputCell(text, notation)] as const];
  });
  return { inputs: Object.fromEntries(inputs) };
}

/** `@FILE` is a file, a number one, and everything else text. */
function readInputCell(text: string, notation: NumberNotation): InputFromText {
  if (text.startsWith('@')) return { file: text.slice(1) };
  return readCellNumber(text, notation) ?? text;
}

function readAppCell(
  names: readonly string[],
  sent: ReadonlySet<string>,
  byName: Readonly<Record<string, string>>,
  problems: RowProblems,
): Record<string, unknown> {
  if (!names.includes(appColumn) || sent.has(appColumn)) return {};
  const text = byName[appColumn] ?? '';
  const app = exactNumber(text);
  if (app === undefined) problems.addField('VALUE', appColumn, text, 'give the app’s number');
  return { [appColumn]: app };
}
