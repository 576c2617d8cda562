import { CsvError, parse } from 'csv-parse/sync';
import { exactNumber } from '../core/input-values';
import { optionNames } from './row-problem';

export const delimiters = [',', ';', '|', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

export const delimiterByFormat: Readonly<Record<'csv' | 'tsv', Delimiter>> = { csv: ',', tsv: '\t' };

/** As a first line such as `sep=;` names it, and how many bytes that line has. */
export function declaredDelimiter(head: Buffer): { readonly delimiter: Delimiter; readonly bytes: number } | undefined {
  const [line, delimiter] = /^"?sep=([,;|\t])"?\r?\n/i.exec(head.toString('latin1')) ?? [];
  return line === undefined ? undefined : { delimiter: delimiter as Delimiter, bytes: line.length };
}

type ParsedCells =
  | { readonly cells: readonly string[]; readonly problem?: never }
  | { readonly cells?: never; readonly problem: string };

/** Quoted as RFC 4180 has it, whatever the delimiter. */
export function parseCells(text: string, delimiter: Delimiter): ParsedCells {
  if (text === '') return { cells: [] };
  try {
    // A lone carriage return must not become another record.
    const [cells] = parse(text, { delimiter, record_delimiter: '\n', relax_column_count: true });
    return { cells: cells ?? [] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { problem: `The quotes of the row do not match (${error.code}). ${quoteRemedy(delimiter)}` };
  }
}

export function quoteRemedy(delimiter: Delimiter): string {
  const plain = 'Put a cell that holds a quote into quotes, and double the quote.';
  return delimiter === '\t' ? `${plain} Google Sheets quotes nothing in TSV: download CSV there.` : plain;
}

/** With plain spaces, whatever a page or a spreadsheet put between the words. */
export function columnName(text: string): string {
  return trimUnseen(text).replace(/\p{Zs}/gu, ' ');
}

const unseen = /[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/;

/** Trims what cannot be seen. A regular expression's time would grow with the square of the length. */
export function trimUnseen(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && unseen.test(text.charAt(start))) start += 1;
  while (end > start && unseen.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** What stands before a number's fraction. */
export type DecimalSign = 'point' | 'comma';

export interface NumberNotation {
  readonly sign: DecimalSign;
  /** Whether a point may separate thousands, too, as in languages that the file may be of. */
  readonly isUnsure: boolean;
}

/** By default a point; not sure between semicolons and tabs, which come with decimal commas, too. */
export function numberNotation(decimal: DecimalSign | undefined, delimiter?: Delimiter): NumberNotation {
  return { sign: decimal ?? 'point', isUnsure: decimal === undefined && (delimiter === ';' || delimiter === '\t') };
}

const pointedThousands = /^-?[1-9]\d{0,2}(?:\.\d{3})+$/;
const withComma = /^-?\d+,\d+(?:[eE][+-]?\d+)?$/;
const withPoint = /^-?\d+\.\d+(?:[eE][+-]?\d+)?$/;

/** `undefined` for no number, one that a double does not hold, and one that may be another number. */
export function readCellNumber(text: string, { sign, isUnsure }: NumberNotation): number | undefined {
  if (isUnsure && pointedThousands.test(text)) return undefined;
  if (sign === 'point') return exactNumber(text);
  return text.includes('.') ? undefined : exactNumber(withComma.test(text) ? text.replace(',', '.') : text);
}

const writtenNumber = new RegExp(
  `^(?:${[
    "(?:['’][-+−–]?|[+−–])\\d+(?:\\.\\d+)?", // '512, +512, and −5 with the signs of a typesetter
    '[-+−–]?\\d+,\\d+', // 0,5
    "[-+−–]?\\d{1,3}(?:(?:[.’' \u00a0\u202f]\\d{3})+,|(?:[,’' \u00a0\u202f]\\d{3})+\\.)\\d+", // 1.024,5 and 1,024.5
    '[-+−–]?\\d{1,3}(?:(?:,\\d{3})+|(?:[\u00a0\u202f]\\d{3})+)', // 1,024,000
  ].join('|')})$`,
);

/** For a number that is written as people write it; `undefined` for any other text. */
export function numberRemedy(text: string): string | undefined {
  return writtenNumber.test(trimUnseen(text)) ? 'write a number as 0.5, 1024 or -5' : undefined;
}

function isInOtherNotation(text: string, { sign, isUnsure }: NumberNotation): boolean {
  const isPointed = pointedThousands.test(text);
  if (sign === 'point') return (isUnsure && isPointed) || writtenNumber.test(text);
  if (readCellNumber(text, { sign, isUnsure: false }) !== undefined) return false;
  return isPointed || withPoint.test(text) || writtenNumber.test(text);
}

export function expectedNumber(text: string, { sign, isUnsure }: NumberNotation): string {
  const examples = sign === 'comma' ? '0,5 or 1024' : '0.5 or 1024';
  const other = { sign: sign === 'comma' ? 'point' : 'comma', isUnsure: false } as const;
  const isOther = readCellNumber(text, other) !== undefined || (isUnsure && pointedThousands.test(text));
  const remedy = isOther ? `; say which sign stands before a fraction by ${optionNames.decimal}` : '';
  return `a number that a double holds, such as ${examples}${remedy}`;
}

const damages: readonly (readonly [RegExp, string])[] = [
  [/^#(?:[\p{Lu}/0]+[!?]|N\/A|NV|#+)$/u, 'an error of a spreadsheet'],
  [/^=(?:".*"|[A-Z]+[(\d].*)$/s, 'a formula'],
  // `4.00638E+12`: only the first digits are left.
  [/^-?\d(?:[.,]\d+)?E\+\d{2}$/, 'a long number that a spreadsheet shortened'],
];

export function cellDamage(text: string): string | undefined {
  const trimmed = trimUnseen(text);
  if (trimmed === '' && text !== '') return 'nothing but unseen characters';
  return damages.find(([pattern]) => pattern.test(trimmed))?.[1];
}

/** Why a cell is not the number or the file that it looks like; `undefined` for nothing. */
export function unintendedText(text: string, notation: NumberNotation): string | undefined {
  const trimmed = trimUnseen(text);
  if (/^['’]@/.test(trimmed)) return 'an apostrophe before the @, which results.csv and spreadsheets put there';
  if (isInOtherNotation(trimmed, notation)) return 'a number in another notation';
  const isMarked = trimmed.startsWith('@') || readCellNumber(trimmed, notation) !== undefined;
  return isMarked && trimmed !== text ? 'unseen characters around a number or a file' : undefined;
}
