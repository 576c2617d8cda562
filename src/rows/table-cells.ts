import { CsvError, parse } from 'csv-parse/sync';
import { isWrittenNumber, type NumberNotation, readCellNumber, writtenNumberRemedy } from './cell-number';
import type { RowFormat } from './row-file';
import { type OptionNames, optionFor } from './option-names';

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
    return { problem: `${describeCsvError(error)}${unquotedRemedy(delimiter)}` };
  }
}

/** What to do besides, where the quotes of a table are wrong because its writer quotes no cell. */
export function unquotedRemedy(delimiter: Delimiter): string {
  return delimiter === '\t' ? ' Google Sheets quotes nothing in TSV: download CSV there.' : '';
}

function describeCsvError(error: CsvError): string {
  switch (error.code) {
    case 'INVALID_OPENING_QUOTE':
      return 'A quote stands inside a cell; put the whole cell in quotes, and double those inside it.';
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'Text follows the closing quote of a cell; double the quotes that belong to its text.';
    default:
      return `The row cannot be read (${error.code}); check its quotes.`;
  }
}

/** `#REF!`, `#N/A` and the like, also in other languages (`#BEZUG!`, `#NV`), and what was too wide for its cell. */
const spreadsheetError = /^#(?:[\p{Lu}/0]+[!?]|N\/A|NV|#+)$/u;

/** `="007"` and `=A1+1`: what a cell computes, in the place of what it shows. */
const formula = /^=(?:".*"|[A-Z]+[(\d].*)$/s;

/** The name of a column with plain spaces, whatever a page or a spreadsheet put between its words. */
export function columnName(text: string): string {
  return trimUnseen(text).replace(/\p{Zs}/gu, ' ');
}

/** A space, or a character that shows nothing, as text that was copied from a page brings along. */
const unseen = /[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/;

/** A text without what cannot be seen around it. Not by one expression: its time would grow with the square. */
export function trimUnseen(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && unseen.test(text.charAt(start))) start += 1;
  while (end > start && unseen.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * How a number is to be written that is written as people write it, where JSON's notation holds; `undefined` for any
 * other text.
 */
export function numberRemedy(text: string): string | undefined {
  return isWrittenNumber(trimUnseen(text)) ? 'write a number as 0.5, 1024 or -5' : undefined;
}

interface WordOptions {
  readonly optionNames?: OptionNames;
}

/** `4.00638E+12`: a number of more digits than a spreadsheet shows, of which the file has the first ones alone. */
const shortenedNumber = /^-?\d(?:[.,]\d+)?E\+\d{2}$/;

/** The damage that a spreadsheet did to any cell, as the rest of a sentence with the remedy; `undefined` for none. */
export function brokenCell(column: string, text: string, options: WordOptions): string | undefined {
  const trimmed = trimUnseen(text);
  if (spreadsheetError.test(trimmed))
    return orText('it is an error of the spreadsheet: correct it there', column, options);
  if (formula.test(trimmed)) return orText('it is a formula: give what it shows', column, options);
  if (shortenedNumber.test(trimmed)) {
    const remedy = 'format its column as text there and enter it anew';
    return orText(`the spreadsheet has shortened a long number: ${remedy}`, column, options);
  }
  if (trimmed === '' && text !== '') return orText(withoutUnseen(text), column, options);
  return undefined;
}

/**
 * What keeps a cell from being the number or the file that it looks like, in the same way. Text is left
 * alone: a space at the end of a prompt does no harm.
 */
export function unintendedCell(
  column: string,
  text: string,
  options: WordOptions & { readonly notation: NumberNotation },
): string | undefined {
  const { notation } = options;
  const trimmed = trimUnseen(text);
  if (/^['’]@/.test(trimmed))
    return orText('remove the apostrophe before the @, which results.csv and spreadsheets put there', column, options);
  const remedy = writtenNumberRemedy(trimmed, notation);
  if (remedy !== undefined) return orText(remedy, column, options);
  const isMarked = trimmed.startsWith('@') || readCellNumber(trimmed, notation) !== undefined;
  return isMarked && trimmed !== text ? orText(withoutUnseen(text), column, options) : undefined;
}

function withoutUnseen(text: string): string {
  return trimUnseen(text) === text.trim() ? 'remove the spaces' : 'remove the unseen characters';
}

function orText(remedy: string, column: string, options: WordOptions): string {
  return `${remedy}, or say that the column is text ${optionFor('textColumns', column, options)}`;
}

/** What stands between the cells of a table. */
export type Delimiter = ',' | ';' | '|' | '\t';

/** All that are known. */
export const delimiters: readonly Delimiter[] = [',', ';', '|', '\t'];

/** The default delimiters. */
export const delimiterByFormat: Readonly<Record<Exclude<RowFormat, 'jsonl'>, Delimiter>> = { csv: ',', tsv: '\t' };

/** A delimiter as the command line takes it. */
export function delimiterWord(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`;
}

/** What the first line of a table says of its delimiter, and how many bytes that line has. */
export interface DeclaredDelimiter {
  readonly delimiter: Delimiter;
  readonly bytes: number;
}

/** Reads a first line such as `sep=;`, as Excel writes it. */
export function declaredDelimiter(head: Buffer): DeclaredDelimiter | undefined {
  const [line, delimiter] = /^"?sep=([,;|\t])"?\r?\n/i.exec(head.toString('latin1')) ?? [];
  return line === undefined ? undefined : { delimiter: delimiter as Delimiter, bytes: line.length };
}
