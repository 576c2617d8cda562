import { exactNumber } from '../domain/input-values';
import { optionFor } from './option-for';

/** `#REF!`, `#N/A` and the like, also in other languages (`#BEZUG!`, `#NV`), and what was too wide for its cell. */
const spreadsheetError = /^#(?:[\p{Lu}/0]+[!?]|N\/A|NV|#+)$/u;

/** `="007"` and `=A1+1`: what a cell computes, in the place of what it shows. */
const formula = /^=(?:".*"|[A-Z]+[(\d].*)$/s;

/** What stands between groups of digits, beside the comma or the dot that is not the decimal one. */
const spaces = "’' \u00a0\u202f";

/** Groups of three digits, each behind one of these. */
function groups(separators: string): string {
  return `(?:[${separators}]\\d{3})+`;
}

/** Numbers as people write them and JSON does not. `007` and `.5` are none of them: they are text. */
const writtenNumber = new RegExp(
  `^(?:${[
    "(?:['’][-+−–]?|[+−–])\\d+(?:\\.\\d+)?", // '512, +512, and −5 with the signs of a typesetter
    '[-+−–]?\\d+,\\d+', // 0,5
    `[-+−–]?\\d{1,3}(?:${groups(`.${spaces}`)},|${groups(`,${spaces}`)}\\.)\\d+`, // 1.024,5 and 1,024.5
    '[-+−–]?\\d{1,3}(?:(?:,\\d{3})+|(?:[\u00a0\u202f]\\d{3})+)', // 1,024,000
  ].join('|')})$`,
);

/**
 * What a spreadsheet did to a cell whatever it is used for, as the rest of a sentence with the remedy; `undefined` when
 * nothing.
 */
export function brokenCell(column: string, text: string): string | undefined {
  const trimmed = text.trim();
  if (spreadsheetError.test(trimmed)) return orText('it is an error of the spreadsheet: mend it there', column);
  if (formula.test(trimmed)) return orText('it is a formula: give what it shows', column);
  if (trimmed === '' && text !== '') return orText('remove the spaces', column);
  return undefined;
}

/**
 * What keeps a cell from being the number or the file that it was surely meant to be, in the same way. Text is left
 * alone: a space at the end of a prompt does no harm.
 */
export function doubtfulCell(column: string, text: string): string | undefined {
  const trimmed = text.trim();
  if (writtenNumber.test(trimmed)) return orText('write a number as 0.5, 1024 or -5', column);
  const isMarked = trimmed.startsWith('@') || exactNumber(trimmed) !== undefined;
  return isMarked && trimmed !== text ? orText('remove the spaces', column) : undefined;
}

function orText(remedy: string, column: string): string {
  return `${remedy}, or say that the column is text ${optionFor('--text-column', column)}`;
}
