import { exactNumber, readInputText } from '../domain/input-text';
import { parseCells } from './parse-cells';
import { addFaults } from './record-faults';
import { RowFileError, RowProblems } from './row-problem';
import { keyColumnOf, type RowOptions } from './row-options';
import type { SourceRow } from './source-row';
import type { RawRecord } from './split-records';
import { appColumn, readTableColumns, type TableColumns } from './table-columns';

/**
 * The rows of a CSV or TSV file. Its first line that is not empty is the header; a line of nothing but delimiters, as
 * spreadsheets leave them behind, is as empty as an empty one.
 *
 * @throws RowFileError when the header cannot be used.
 */
export async function* readTable(
  records: AsyncIterable<RawRecord>,
  delimiter: ',' | '\t',
  options: RowOptions,
): AsyncGenerator<SourceRow, void, undefined> {
  let columns: TableColumns | undefined;
  for await (const record of records) {
    const problems = new RowProblems(record.line);
    const cells = readCells(record, delimiter, problems);
    if (cells?.every((cell) => cell === '') === true) continue;
    if (columns === undefined) columns = readTableColumns(headerOf(cells, problems), options);
    else yield sourceRow(record.line, cells, columns, options, problems);
  }
  if (columns === undefined) throw new RowFileError(['The row file is empty; give it a header and rows.']);
}

function readCells(record: RawRecord, delimiter: ',' | '\t', problems: RowProblems): readonly string[] | undefined {
  if (record.fault !== undefined) {
    addFaults(record, problems);
    return undefined;
  }
  const { cells, problem } = parseCells(record.text, delimiter);
  if (problem !== undefined) problems.add('MALFORMED', problem);
  return cells;
}

function headerOf(cells: readonly string[] | undefined, problems: RowProblems): readonly string[] {
  if (cells !== undefined) return cells.map((cell) => cell.trim());
  throw new RowFileError(problems.found.map(({ message }) => `The header cannot be read. ${message}`));
}

function sourceRow(
  line: number,
  cells: readonly string[] | undefined,
  { names, sent, used }: TableColumns,
  options: RowOptions,
  problems: RowProblems,
): SourceRow {
  if (cells === undefined) return { line, problems };
  if (cells.length !== names.length) {
    const counts = `The row has ${cells.length} cells, and the header ${names.length} columns`;
    problems.add('COLUMN_COUNT', `${counts}; give each column a cell, and quote cells that hold a delimiter.`);
    return { line, problems };
  }
  const byName = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
  const { emptyCells = 'refuse', template, keepColumns = [] } = options;
  for (const name of sent) {
    if (emptyCells === 'refuse' && byName[name] === '') {
      problems.addField('VALUE', name, '', 'fill it in, or say that empty cells are omitted or are text');
    }
  }
  const valueOf = (column: string): string | undefined =>
    emptyCells === 'omit' && byName[column] === '' ? undefined : byName[column];
  const { key, ...fields } =
    template === undefined
      ? { key: undefined, ...fieldsOf(sent, valueOf, options, problems) }
      : template.fill(valueOf, problems);
  const app = appOf(names, sent, byName, problems);
  const said = {
    fields: { ...app, ...fields },
    key: key ?? byName[keyColumnOf(options)],
    content: Object.fromEntries(used.map((name) => [name, byName[name]])),
    columns: Object.fromEntries(keepColumns.map((name) => [name, byName[name] ?? ''])),
  };
  return { line, problems, said };
}

function fieldsOf(
  sent: ReadonlySet<string>,
  valueOf: (column: string) => string | undefined,
  { textColumns = [] }: RowOptions,
  problems: RowProblems,
): Record<string, unknown> {
  const inputs = [...sent].flatMap((name) => {
    const text = valueOf(name);
    if (text === undefined) return [];
    if (text === '@') problems.addField('VALUE', name, text, 'give the path of a file after the @');
    return [[name, textColumns.includes(name) ? text : readInputText(text)] as const];
  });
  return { inputs: Object.fromEntries(inputs) };
}

function appOf(
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
