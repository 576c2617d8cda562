import { exactNumber } from '../domain/input-values';
import { optionFor, type OptionNames } from './option-names';

/** What stands before the fraction of a number. */
export type DecimalSign = 'point' | 'comma';

/** How numbers are written in a row file. */
export interface NumberNotation {
  readonly sign: DecimalSign;
  /** Where a point may also separate thousands, because the file seems to be of a language that does so. */
  readonly isUnsure: boolean;
  /** As in the options of rows. */
  readonly optionNames?: OptionNames;
}

/**
 * What is said, or else a point; semicolons between cells are written by spreadsheets whose decimal sign is a comma, so
 * that there a point is not sure.
 */
export function numberNotation(
  { decimal: said, optionNames }: { readonly decimal?: DecimalSign; readonly optionNames?: OptionNames },
  delimiter: string | null = null,
): NumberNotation {
  const isUnsure = said === undefined && delimiter === ';';
  return { sign: said ?? 'point', isUnsure, ...(optionNames !== undefined && { optionNames }) };
}

/**
 * How numbers are written into a table that goes with the file. Where a point is not sure, a spreadsheet would take 12.345
 * for twelve thousand.
 */
export function tableDecimal({ sign, isUnsure }: NumberNotation): DecimalSign {
  return isUnsure ? 'comma' : sign;
}

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

/** `1.024` and `1.024.000`; 0.125 is no thousand. */
const pointedThousands = /^-?[1-9]\d{0,2}(?:\.\d{3})+$/;
/** `2,5`, `-0,125` and `1,5e3`. */
const withComma = /^-?\d+,\d+(?:[eE][+-]?\d+)?$/;
const withPoint = /^-?\d+\.\d+(?:[eE][+-]?\d+)?$/;
/** `1,024` reads as a thousand where nothing tells otherwise. */
const commaThousands = /^-?[1-9]\d{0,2}(?:,\d{3})+$/;

/**
 * The number that a cell is; `undefined` when it is none, when a double does not hold it, and when it may be another one:
 * `1.024` where a point may separate thousands.
 */
export function readCellNumber(text: string, { sign, isUnsure }: NumberNotation): number | undefined {
  if (isUnsure && pointedThousands.test(text)) return undefined;
  if (sign === 'point') return exactNumber(text);
  return text.includes('.') ? undefined : exactNumber(withComma.test(text) ? text.replace(',', '.') : text);
}

/**
 * How a number is to be written that is written as the notation does not have it; `undefined` for any other text. Expects
 * text without what cannot be seen around it.
 */
export function writtenNumberRemedy(text: string, notation: NumberNotation): string | undefined {
  return notation.sign === 'comma' ? remedyWithComma(text, notation) : remedyWithPoint(text, notation);
}

function remedyWithComma(text: string, notation: NumberNotation): string | undefined {
  if (readCellNumber(text, { sign: 'comma', isUnsure: false }) !== undefined) return undefined;
  const comma = optionFor('decimal', 'comma', notation);
  if (pointedThousands.test(text)) {
    return `write ${text.replaceAll('.', '')} if its points separate thousands, with a comma if not: the decimal sign is a comma ${comma}`;
  }
  if (withPoint.test(text)) return `write ${text.replace('.', ',')}: the decimal sign is a comma ${comma}`;
  return writtenNumber.test(text) ? 'write a number as 0,5, 1024 or -5' : undefined;
}

function remedyWithPoint(text: string, notation: NumberNotation): string | undefined {
  const { isUnsure } = notation;
  const comma = optionFor('decimal', 'comma', notation);
  if (isUnsure && pointedThousands.test(text)) {
    const isOne = exactNumber(text) !== undefined;
    return isOne
      ? `it may be ${text.replaceAll('.', '')} or ${text.replace('.', ',')}: say that its point is the decimal sign ${optionFor('decimal', 'point', notation)}, or that a comma is ${comma} and write what it is`
      : 'write a number as 0.5, 1024 or -5';
  }
  if (!writtenNumber.test(text)) return undefined;
  const mayBeDecimal = withComma.test(text) && (isUnsure || !commaThousands.test(text));
  return `write a number as 0.5, 1024 or -5${mayBeDecimal ? `, or say that the decimal sign is a comma ${comma}` : ''}`;
}

/** Whether a text is a number as people write it and JSON does not. */
export function isWrittenNumber(text: string): boolean {
  return writtenNumber.test(text);
}

/** Whether a text is a number as JSON writes it, though perhaps one that no double holds. */
export function looksLikeNumber(text: string): boolean {
  return /^-?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}
