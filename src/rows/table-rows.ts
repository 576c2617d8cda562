import { firstProblems } from '../contract/input-bounds';
import { type InputFromText, exactNumber, parseInputKey } from '../core/input-values';
import { pickPlace } from '../core/batch/row-place';
import { formatCountOf, showValue } from '../core/text';
import {
  cellDamage,
  columnName,
  expectedNumber,
  type NumberNotation,
  numberNotation,
  readCellNumber,
  trimUnseen,
  unintendedText,
} from './cells';
import type { SaidRow, SourceRow } from './prepare-row';
import type { RowTable } from './prepared-rows';
import { appColumn } from './row-fields';
import { getKeyColumn, type RowOptions } from './row-options';
import { optionNames, RowFileError, RowProblems } from './row-problem';
import type { TableRecord } from './row-record';
import type { RowTemplate } from './row-template';

/** In a table with a template it is a column like any other. */
const accountColumn = 'account';

interface TableColumns {
  readonly names: readonly string[];
  /** Input keys, or what the template asks for. */
  readonly sent: ReadonlySet<string>;
  readonly used: readonly string[];
}

type CellOptions = RowOptions & Pick<TableRecord, 'cellProblems'> & { readonly notation: NumberNotation };

/**
 * The first row is the header.
 * @throws RowFileError when the header cannot be used, or no row follows it.
 */
export async function* readTable(
  records: AsyncIterable<TableRecord>,
  { delimiter, hasBom }: Pick<RowTable, 'delimiter' | 'hasBom'>,
  options: RowOptions,
  listRemedy = '',
): AsyncGenerator<SourceRow, void, undefined> {
  const notation = numberNotation(options.decimal, delimiter);
  let header: readonly string[] | undefined;
  let columns: TableColumns | undefined;
  let table: RowTable | undefined;
  for await (const record of records) {
    const { cells = [], cellProblems } = record;
    if (header === undefined) {
      const unreadable = record.problem?.message ?? [...(cellProblems?.values() ?? [])][0];
      if (unreadable !== undefined) throw new RowFileError(`The header cannot be read. ${unreadable}`);
      header = cells;
      continue;
    }
    columns ??= readTableColumns(header, cells, options, listRemedy);
    table ??= {
      columns: columns.names,
      delimiter,
      hasBom,
      // Where a point is not sure, a spreadsheet would take 12.345 for twelve thousand.
      decimal: notation.sign === 'comma' || (notation.isUnsure && delimiter === ';') ? 'comma' : undefined,
      inputColumns: options.template && Object.fromEntries(options.template.inputColumns),
    };
    const problems = new RowProblems(record);
    if (record.problem !== undefined) problems.add(record.problem.code, record.problem.message);
    const said = record.cells && sayCells(cells, columns, { ...options, notation, cellProblems }, problems);
    yield { ...pickPlace(record), problems, own: { table, cells: cells.slice(0, columns.names.length) }, said };
  }
  if (header === undefined) throw new RowFileError('The row file is empty; give it a header and rows.');
  if (columns !== undefined) return;
  readTableColumns(header, [], options, listRemedy);
  throw new RowFileError('There are no rows under the header.');
}

/** As the options name them, without unnamed columns at the end, as spreadsheets leave them behind. */
function columnNames(cells: readonly string[], options: RowOptions): readonly string[] {
  const { template, keyColumn = '', keepColumns = [], textColumns = [], ignoreColumns = [] } = options;
  const asked = [...(template?.columns ?? []), keyColumn, ...keepColumns, ...textColumns, ...ignoreColumns];
  const askedNames = new Map(asked.map((name) => [columnName(name), name]));
  const names = cells.map(columnName).map((name) => askedNames.get(name) ?? name);
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

/** @throws RowFileError with every problem: an unknown column would be paid for and not sent. */
function readTableColumns(
  header: readonly string[],
  next: readonly string[],
  options: RowOptions,
  listRemedy: string,
): TableColumns {
  const names = columnNames(header, options);
  const { template, keepColumns = [], ignoreColumns = [] } = options;
  const own = [getKeyColumn(options), appColumn, ...(isAccountColumn(options) ? [accountColumn] : [])];
  const others = new Set([...own, ...keepColumns]);
  const isSent = (name: string): boolean =>
    template === undefined ? parseInputKey(name) !== undefined : template.columns.includes(name);
  const problems = [...nameProblems(names), ...missingColumns(names, options)];
  const isHeader = names.some((name) => isSent(name) || others.has(name) || parseInputKey(name) !== undefined);
  if (!isHeader && template?.columns.length !== 0) {
    const [title, ...others] = header.filter((cell) => cell.trim() !== '');
    const isNextWider = next.filter((cell) => cell.trim() !== '').length > 1;
    if (title !== undefined && others.length === 0 && (isNextWider || columnNames(next, options).some(isSent))) {
      throw new RowFileError(`The first row is a title, ${showValue(title)}, and no header; remove it.`);
    }
    problems.unshift(noHeaderProblem(names, options, listRemedy));
  } else {
    const isOwn = (name: string): boolean => isSent(name) || others.has(name) || ignoreColumns.includes(name);
    // With a template, other columns are a person's own, unless spelled like a key.
    const mayBeOwn = (name: string): boolean =>
      template !== undefined && parseInputKey(name) === undefined && !own.some(isSpelledLike(name));
    const unknown = names.filter((name) => name !== '' && !isOwn(name) && !mayBeOwn(name));
    if (unknown.length > 0) problems.push(unknownColumnsProblem(unknown, own, template));
  }
  if (problems.length > 0) throw new RowFileError(firstProblems(problems));
  const sent = new Set(names.filter((name) => isSent(name) && !ignoreColumns.includes(name)));
  return { names, sent, used: names.filter((name) => sent.has(name) || others.has(name)) };
}

function listNames(names: readonly string[]): string {
  const list = names.slice(0, maxListedColumns).map((name) => showValue(name));
  if (names.length > list.length) list.push(`and ${names.length - list.length} more`);
  return list.join(', ');
}

function noHeaderProblem(names: readonly string[], { template }: RowOptions, listRemedy: string): string {
  const found = `The first row names no column that is expected (${listNames(names)})`;
  if (template !== undefined) return `${found}; remove what stands above the header.`;
  const header = `say what your columns are for by ${optionNames.template}, or remove what stands above the header`;
  return `${found}; ${names.length === 1 ? listRemedy : ''}${header}.`;
}

function unknownColumnsProblem(unknown: readonly string[], own: readonly string[], template?: RowTemplate): string {
  const isOne = unknown.length === 1;
  const are = isOne ? `The column ${listNames(unknown)} is` : `The columns ${listNames(unknown)} are`;
  const known = template === undefined ? 'an input such as "1:LoadImage.image"' : 'a column of the template';
  const use = template === undefined ? `, say what it is for by ${optionNames.template}` : '';
  return `${are} not known; rename ${isOne ? 'it' : 'each'} to ${own.join(', ')} or ${known}${use}, or ignore it by ${optionNames.ignoreColumns}.`;
}

function isSpelledLike(name: string): (other: string) => boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return (other) => plain(other) === plain(name);
}

function isAccountColumn(options: RowOptions): boolean {
  const { template, ignoreColumns = [] } = options;
  return template === undefined && getKeyColumn(options) !== accountColumn && !ignoreColumns.includes(accountColumn);
}

function nameProblems(names: readonly string[]): string[] {
  const last = new Map(names.map((name, index) => [name, index]));
  const duplicates = new Set(names.filter((name, index) => name !== '' && last.get(name) !== index));
  const problems = [...duplicates].map((name) => `The column ${showValue(name)} is there twice; rename or remove one.`);
  for (const [index, name] of names.entries()) {
    if (name === '') problems.push(`Column ${index + 1} has no name; name it or remove it.`);
    else if (/\p{Cc}/u.test(name)) {
      const remedy = 'end lines with \\n or \\r\\n, and close all quotes';
      problems.push(`The column ${showValue(name)} has control characters in its name; ${remedy}.`);
    }
  }
  return problems;
}

const maxListedColumns = 50;

function missingColumns(names: readonly string[], options: RowOptions): string[] {
  const { template, keyColumn, keepColumns = [], textColumns = [], ignoreColumns = [], vary = {} } = options;
  const wanted = new Set([...(template?.columns ?? []), ...keepColumns, ...ignoreColumns]);
  for (const name of textColumns) {
    const isInput = template !== undefined && parseInputKey(name) !== undefined;
    if (!isInput && !Object.hasOwn(vary, name)) wanted.add(name);
  }
  if (keyColumn !== undefined) wanted.add(keyColumn);
  return [...wanted]
    .filter((name) => !names.includes(name))
    .map((name) => {
      const missing = `There is no column ${showValue(name)}, which the options or the template name`;
      return `${missing}; the columns are ${listNames(names)}.`;
    });
}

/** In the languages of most spreadsheets, at the beginning of the last row. */
const totalLabel =
  /^(?:(?:grand |sub)?totals?|sum|(?:gesamt|zwischen)?summe|gesamt|somme|suma|totale|totaal|toplam|итого|всего|合计|总计|合計|総計|합계)\s*:?$/iu;

/** `undefined` for cells that are no row, which is added to the problems. */
function sayCells(
  cells: readonly string[],
  { names, sent, used }: TableColumns,
  options: CellOptions,
  problems: RowProblems,
): SaidRow | undefined {
  const { emptyCells = 'refuse', template, keepColumns = [], notation, cellProblems } = options;
  if (!areRow(cells, names, problems)) return undefined;
  const byName = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  const [label = ''] = cells.filter((cell) => cell.trim() !== '');
  if (totalLabel.test(trimUnseen(label)) && [...sent].some((name) => byName[name]?.trim() === '')) {
    problems.add('MALFORMED', `The row is a total (${showValue(label)}), and no row to run; remove it.`);
    return undefined;
  }
  for (const name of used) {
    const problem =
      cellProblems?.get(names.indexOf(name)) ?? cellProblem(name, byName[name] ?? '', sent.has(name), options);
    if (problem !== undefined) problems.addField('VALUE', name, byName[name], problem);
  }
  const getCell = (column: string): string | undefined =>
    emptyCells === 'omit' && byName[column] === '' ? undefined : byName[column];
  const { key, ...made } = template?.fill(getCell, problems, notation) ?? {
    inputs: inputsOfCells(sent, getCell, options),
  };
  const fields: Record<string, unknown> = { ...made };
  if (isAccountColumn(options) && getCell(accountColumn) !== undefined)
    fields[accountColumn] ??= getCell(accountColumn);
  if (names.includes(appColumn) && !sent.has(appColumn)) {
    const app = exactNumber(byName[appColumn] ?? '');
    if (app === undefined) problems.addField('VALUE', appColumn, byName[appColumn], 'give the app’s number');
    if (!(appColumn in fields)) fields[appColumn] = app;
  }
  return {
    fields,
    key: key ?? byName[getKeyColumn(options)],
    keyField: key === undefined ? getKeyColumn(options) : (template?.keyColumn ?? 'key'),
    content: Object.fromEntries(used.map((name) => [name, byName[name]])),
    columns: Object.fromEntries(keepColumns.map((name) => [name, byName[name] ?? ''])),
  };
}

/** Spreadsheets leave empty cells behind at the end of a row. */
function areRow(cells: readonly string[], names: readonly string[], problems: RowProblems): boolean {
  if (cells.length < names.length || cells.slice(names.length).some((cell) => cell.trim() !== '')) {
    const code = cells.some((cell) => cell.includes('\0')) ? 'MALFORMED' : 'COLUMN_COUNT';
    const counts = `The row has ${formatCountOf(cells.length, 'cell')}, and the header ${formatCountOf(names.length, 'column')}`;
    problems.add(code, `${counts}; give each column a cell, and quote cells that hold a delimiter.`);
    return false;
  }
  if (names.some((name, index) => columnName(cells[index] ?? '') !== columnName(name))) return true;
  problems.add('MALFORMED', 'The row repeats the header; remove it.');
  return false;
}

function cellProblem(name: string, text: string, isSent: boolean, options: CellOptions): string | undefined {
  const { emptyCells = 'refuse', template, textColumns = [], notation } = options;
  if (text === '' && name === template?.keyColumn) return 'expected the key of the row, by which it is not paid twice';
  if (text === '' && isSent && emptyCells === 'refuse') {
    const choices = template?.noTextColumns.has(name) === true ? 'omit' : 'omit or text';
    return `expected a value, or to be told what an empty cell is by ${optionNames.emptyCells}: ${choices}`;
  }
  const isKey = name === (template?.keyColumn ?? getKeyColumn(options));
  // A blank key or app is reported elsewhere.
  if (textColumns.includes(name) || (!isSent && text.trim() === '')) return undefined;
  if (text.includes('\0') && (isKey || text.startsWith('@'))) return 'got zero bytes: the file is damaged';
  const isInput = !isKey && isSent && template === undefined;
  if (isInput && text === '@') return 'expected the path of a file after the @';
  const damage = cellDamage(text);
  const got = damage ?? (isInput ? unintendedText(text, notation) : undefined);
  if (got === undefined) return undefined;
  const expected =
    damage === undefined ? `@PATH for a file, or ${expectedNumber(trimUnseen(text), notation)}` : 'what the cell shows';
  const isNumber = name === appColumn || template?.numberColumns.has(name) === true;
  if (isNumber) return `got ${got}, expected ${expected}`;
  return `got ${got}, expected ${expected}. To send it as it stands, name its column by ${optionNames.textColumns}`;
}

function inputsOfCells(
  sent: ReadonlySet<string>,
  getCell: (column: string) => string | undefined,
  { textColumns = [], notation }: CellOptions,
): Readonly<Record<string, InputFromText>> {
  const inputOf = (name: string, text: string): InputFromText => {
    if (textColumns.includes(name)) return text;
    return text.startsWith('@') ? { file: text.slice(1) } : (readCellNumber(text, notation) ?? text);
  };
  const inputs = [...sent].flatMap((name): (readonly [string, InputFromText])[] => {
    const text = getCell(name);
    return text === undefined ? [] : [[name, inputOf(name, text)]];
  });
  return Object.fromEntries(inputs);
}
