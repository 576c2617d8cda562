import { showValue } from '../domain/text';
import { type Delimiter, delimiters, delimiterWord } from './delimiter';
import { parseCells } from './parse-cells';
import { RowFileError, type RowProblem } from './row-problem';
import type { RawRecord } from './split-records';

/** The first line of a table: its text, its cells, and what kept them from being read. */
export interface HeaderLine {
  readonly record: RawRecord;
  readonly cells: readonly string[] | undefined;
  readonly problems: readonly RowProblem[];
}

/**
 * The names of a table's columns. Columns without a name at the end, as spreadsheets leave them behind, are none.
 *
 * @throws RowFileError when there seems to be another delimiter: as one column, a header such as `key;1:A.b` is an input
 *   key, and every row would be paid for.
 */
export function readHeader({ record, cells, problems }: HeaderLine, delimiter: Delimiter): readonly string[] {
  const { fault, text } = record;
  if (fault === 'TOO_LARGE') {
    throw new RowFileError([
      `The header has ${record.bytes} bytes, more than a row may have; end lines with \\n or \\r\\n, and close all quotes.`,
    ]);
  }
  if (text !== undefined && /\r(?!\n)/.test(text)) {
    throw new RowFileError(['The lines end with \\r, as on an old Mac; end them with \\n or \\r\\n.']);
  }
  if (text !== undefined && (cells === undefined || cells.length === 1)) refuseOtherDelimiter(text, delimiter);
  if (cells === undefined) {
    throw new RowFileError(problems.map(({ message }) => `The header cannot be read. ${message}`));
  }
  const names = cells.map((cell) => cell.trim());
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

function refuseOtherDelimiter(text: string, delimiter: Delimiter): void {
  const [other] = delimiters
    .filter((one) => one !== delimiter)
    .map((one) => ({ word: delimiterWord(one), count: parseCells(text, one).cells?.length ?? 0 }))
    .filter(({ count }) => count > 1)
    .sort((one, two) => two.count - one.count);
  if (other === undefined) return;
  throw new RowFileError([
    `The header is one column, ${showValue(text)}: its cells seem to be separated by ${other.word}. Say so (--delimiter ${other.word}).`,
  ]);
}
