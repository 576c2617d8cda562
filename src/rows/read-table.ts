import { numberNotation, parseCells, quoteRemedy } from './cells';
import type { RowTable } from './prepared-rows';
import type { RowOptions } from './row-options';
import { RowFileError, RowProblems } from './row-problem';
import { sayCells, type SourceRow } from './source-row';
import { addFaults, type RawRecord } from './split-records';
import { readHeader, readTableColumns, type TableColumns } from './table-columns';

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
      columns = readTableColumns(readHeader(record, cells, problems.found, delimiter, options), options);
      table = {
        columns: columns.names,
        delimiter,
        hasBom,
        // Where a point is not sure, a spreadsheet would take 12.345 for twelve thousand.
        decimal: notation.sign === 'comma' || notation.isUnsure ? 'comma' : undefined,
        inputColumns: options.template && Object.fromEntries(options.template.inputColumns),
      };
      continue;
    }
    isEmpty = false;
    const said = cells && sayCells(cells, columns, { ...options, notation }, problems);
    yield { ...place, problems, own: { table, cells: (cells ?? []).slice(0, columns.names.length) }, said };
  }
  if (columns === undefined) throw new RowFileError(['The row file is empty; give it a header and rows.']);
  if (isEmpty) throw new RowFileError(['There are no rows under the header.']);
}

function readCells(
  record: RawRecord,
  delimiter: RowTable['delimiter'],
  problems: RowProblems,
): readonly string[] | undefined {
  if (record.fault !== undefined) {
    addFaults(record, problems, quoteRemedy(delimiter));
    return undefined;
  }
  const { cells, problem } = parseCells(record.text, delimiter);
  const lines = record.text.split('\n').length;
  if (problem !== undefined && lines > 1) {
    const where = `row ${record.number}, lines ${record.line} to ${record.line + lines - 1} of the file,`;
    throw new RowFileError([`The quotes in ${where} do not match, so the end of the row cannot be found. ${problem}`]);
  }
  // Spreadsheets begin a row at a bare return: what follows would be taken for cells of this one.
  const hasBareReturn = record.text.includes('\r') && record.text.replace(/"(?:[^"]|"")*"/g, '').includes('\r');
  const malformed = hasBareReturn ? 'The row has \\r outside quotes; end lines with \\n or \\r\\n.' : problem;
  if (malformed === undefined) return cells;
  problems.add('MALFORMED', malformed);
  return undefined;
}
