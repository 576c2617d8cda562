import { type InputFromText, exactNumber, parseInputKey } from '../core/input-values';
import { isFields } from '../core/json';
import type { RowPlace } from '../core/batch/row-place';
import { formatCountOf } from '../core/text';
import {
  cellDamage,
  columnName,
  expectedNumber,
  type NumberNotation,
  numberNotation,
  readCellNumber,
  unintendedText,
} from './cells';
import type { PreparedRow } from './prepared-rows';
import { keyRemedy } from './row-key';
import { getKeyColumn, type RowOptions } from './row-options';
import { optionFor, type RowProblems } from './row-problem';
import { accountColumn, appColumn, isAccountColumn, type TableColumns } from './table-columns';

/** What a row says, whatever it was read from: not yet checked as the input of a task. */
export interface SaidRow {
  /** `webAppId`, `inputs` and what else a task's input has. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** `undefined` when it gives none. */
  readonly key: unknown;
  /** The column or field that the key is from. */
  readonly keyField: string;
  /** What its key is derived from when it gives none. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly columns: Readonly<Record<string, string>>;
}

/** A row as a reader gives it. Every reader makes it with `sayCells` or `sayObject`; `prepareRow` checks all alike. */
export interface SourceRow extends RowPlace {
  readonly problems: RowProblems;
  /** Of a table's row, with the cells that have a column. */
  readonly own?: Pick<PreparedRow, 'table' | 'cells'>;
  /** Missing when the row could not be read at all. */
  readonly said?: SaidRow;
}

/**
 * What the cells of a row say, one for each column of a table; `undefined` for cells that are no row, which is added to the
 * problems.
 */
export function sayCells(
  cells: readonly string[],
  { names, sent, used }: TableColumns,
  options: RowOptions & { readonly notation: NumberNotation },
  problems: RowProblems,
): SaidRow | undefined {
  const { emptyCells = 'refuse', template, keepColumns = [], notation } = options;
  const malformed = malformedCells(cells, names);
  if (malformed !== undefined) {
    problems.add(malformed.code, malformed.message);
    return undefined;
  }
  const byName = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  for (const name of used) {
    const problem = cellProblem(name, byName[name] ?? '', sent.has(name), options);
    if (problem !== undefined) problems.addField('VALUE', name, byName[name], problem);
  }
  const getCell = (column: string): string | undefined =>
    emptyCells === 'omit' && byName[column] === '' ? undefined : byName[column];
  const { key, ...made } = template?.fill(getCell, problems, notation) ?? {
    inputs: inputsOfCells(sent, getCell, options),
  };
  const fields: Record<string, unknown> = { ...made };
  if (isAccountColumn(options) && getCell(accountColumn) !== undefined) fields['account'] ??= getCell(accountColumn);
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

/** Why cells are no row of a table with these columns. Spreadsheets leave empty cells behind at the end of a row. */
function malformedCells(
  cells: readonly string[],
  names: readonly string[],
): { readonly code: 'MALFORMED' | 'COLUMN_COUNT'; readonly message: string } | undefined {
  if (cells.length < names.length || cells.slice(names.length).some((cell) => cell.trim() !== '')) {
    const counts = `The row has ${formatCountOf(cells.length, 'cell')}, and the header ${formatCountOf(names.length, 'column')}`;
    const message = `${counts}; give each column a cell, and quote cells that hold a delimiter.`;
    return { code: cells.some((cell) => cell.includes('\0')) ? 'MALFORMED' : 'COLUMN_COUNT', message };
  }
  return names.every((name, index) => columnName(cells[index] ?? '') === columnName(name))
    ? { code: 'MALFORMED', message: 'The row repeats the header; remove it.' }
    : undefined;
}

/** What keeps a cell from being used, as the rest of a sentence about it. */
function cellProblem(
  name: string,
  text: string,
  isSent: boolean,
  options: RowOptions & { readonly notation: NumberNotation },
): string | undefined {
  const { emptyCells = 'refuse', template, textColumns = [], notation } = options;
  if (text === '' && name === template?.keyColumn) return 'expected the key of the row, by which it is not paid twice';
  if (text === '' && isSent && emptyCells === 'refuse') {
    const other = template?.numberColumns.has(name) === true ? '' : ` or ${optionFor('emptyCells', 'text', options)}`;
    return `expected a value, or an option that says what an empty cell is ${optionFor('emptyCells', 'omit', options)}${other}`;
  }
  const isKey = name === (template?.keyColumn ?? getKeyColumn(options));
  // What a blank key or app is, they say themselves.
  if (textColumns.includes(name) || (!isSent && text.trim() === '')) return undefined;
  if (text.includes('\0') && (isKey || text.startsWith('@'))) return 'got zero bytes: the file is damaged';
  const isInput = !isKey && isSent && template === undefined;
  if (isInput && text === '@') return 'expected the path of a file after the @';
  const damage = cellDamage(text);
  const got = damage ?? (isInput ? unintendedText(text, notation) : undefined);
  if (got === undefined) return undefined;
  const expected = damage === undefined ? `${expectedNumber(notation)}, or @PATH for a file` : 'what the cell shows';
  return `got ${got}, expected ${expected}. To send it as it stands, name its column ${optionFor('textColumns', name, options)}`;
}

/** `@FILE` is a file, a number one, and everything else text. */
function inputsOfCells(
  sent: ReadonlySet<string>,
  getCell: (column: string) => string | undefined,
  { textColumns = [], notation }: RowOptions & { readonly notation: NumberNotation },
): Readonly<Record<string, InputFromText>> {
  const inputs: [string, InputFromText][] = [];
  for (const name of sent) {
    const text = getCell(name);
    if (text === undefined) continue;
    if (textColumns.includes(name)) inputs.push([name, text]);
    else if (text.startsWith('@')) inputs.push([name, { file: text.slice(1) }]);
    else inputs.push([name, readCellNumber(text, notation) ?? text]);
  }
  return Object.fromEntries(inputs);
}

/** What the fields of an object say, of a line of JSON or of a program. */
export function sayObject(row: Readonly<Record<string, unknown>>, options: RowOptions, problems: RowProblems): SaidRow {
  const keyField = getKeyColumn(options);
  const { template, keyColumn, keepColumns = [], ignoreColumns = [] } = options;
  if (keyColumn !== undefined && row[keyColumn] === undefined) {
    problems.addField('KEY', keyColumn, undefined, 'give every row its key');
  } else if (template?.hasKey !== true && keyField in row && row[keyField] === undefined) {
    problems.add('KEY', `"key" is there and undefined; ${keyRemedy}.`, { field: keyField, value: undefined });
  }
  const columns = Object.fromEntries(keepColumns.map((name) => [name, columnText(row, name, problems)]));
  if (template === undefined) {
    const aside = new Set([keyField, ...keepColumns, ...ignoreColumns]);
    // A program's rows may have the usual field, unset, beside the column that is the key.
    if (row['key'] == null) aside.add('key');
    const fields = withInputsInPlace(
      Object.entries(row).filter(([name]) => !aside.has(name)),
      problems,
    );
    return { fields, key: row[keyField], keyField, content: { ...fields, ...columns }, columns };
  }
  for (const name of template.columns) {
    if (row[name] == null)
      problems.addField('VALUE', name, row[name], 'the template asks for it: give it in every row');
  }
  const { key, ...fields } = template.fill((name) => row[name] ?? undefined, problems, numberNotation(options));
  const content = Object.fromEntries(template.columns.map((name) => [name, row[name]]));
  const own = key === undefined ? { key: row[keyField], keyField } : { key, keyField: template.keyColumn ?? 'key' };
  return { fields, ...own, content: { ...content, ...columns }, columns };
}

/** A field that is an input key is an input, as a column of a table is. */
function withInputsInPlace(
  entries: readonly (readonly [string, unknown])[],
  problems: RowProblems,
): Readonly<Record<string, unknown>> {
  const isInput = ([name]: readonly [string, unknown]): boolean => parseInputKey(name) !== undefined;
  const inputs = Object.fromEntries(entries.filter(isInput));
  const fields = Object.fromEntries(entries.filter((entry) => !isInput(entry)));
  const { inputs: own } = fields;
  // What is no object is returned unchanged: the check of the input reports it.
  if (Object.keys(inputs).length === 0 || (own !== undefined && !isFields(own))) return fields;
  for (const name of Object.keys(inputs)) {
    if (own !== undefined && name in own) {
      problems.addField('VALUE', name, inputs[name], 'the row’s "inputs" have it, too: give it once');
    }
  }
  return { ...fields, inputs: { ...inputs, ...own } };
}

function columnText(row: Readonly<Record<string, unknown>>, name: string, problems: RowProblems): string {
  const value = row[name];
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  problems.addField('VALUE', name, value, 'the names of archived files ask for it: give text, a number or a boolean');
  return '';
}
