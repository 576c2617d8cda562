import { CsvError, parse } from 'csv-parse/sync';
import type { Delimiter } from './delimiter';

/** The cells of one record of a table, or what is wrong with it. */
export type ParsedCells =
  | { readonly cells: readonly string[]; readonly problem?: never }
  | { readonly cells?: never; readonly problem: string };

/** Reads the cells of one record: quoted as RFC 4180 has it, whatever the delimiter. */
export function parseCells(text: string, delimiter: Delimiter): ParsedCells {
  if (text === '') return { cells: [] };
  try {
    // The record is one, and known to be: a lone carriage return must not become another.
    const [cells] = parse(text, { delimiter, record_delimiter: '\n', relax_column_count: true });
    return { cells: cells ?? [] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { problem: problemOf(error) };
  }
}

function problemOf(error: CsvError): string {
  switch (error.code) {
    case 'INVALID_OPENING_QUOTE':
      return 'A quote stands inside a cell; put the whole cell in quotes, and double those inside it.';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'Text follows the closing quote of a cell; double the quotes that belong to its text.';
    default:
      return `The row cannot be read (${error.code}); check its quotes.`;
  }
}
