import { showValue } from '../core/text';
import { type Delimiter, delimiters, parseCells, quoteRemedy } from './cells';
import { optionNames, RowFileError } from './row-problem';
import type { RecordProblem, TableRecord } from './row-record';
import { faultProblem, type RawRecord } from './split-records';

/**
 * The rows of CSV and the like, those of nothing but delimiters left out.
 * @throws RowFileError when the first one is no header, or the end of a row cannot be found.
 */
export async function* readTableText(
  records: AsyncIterable<RawRecord>,
  delimiter: Delimiter,
  listRemedy: string,
): AsyncGenerator<TableRecord, void, undefined> {
  let isHeader = true;
  for await (const record of records) {
    const place = { line: record.line, sheetRow: record.number };
    const read = readCells(record, delimiter);
    if (read.cells?.every((cell) => cell === '') === true) continue;
    if (isHeader) checkHeader(record, read.problem, delimiter, listRemedy);
    isHeader = false;
    yield { ...place, ...read };
  }
}

function readCells(record: RawRecord, delimiter: Delimiter): Pick<TableRecord, 'cells' | 'problem'> {
  if (record.fault !== undefined) return { problem: faultProblem(record, quoteRemedy(delimiter)) };
  const { cells, problem } = parseCells(record.text, delimiter);
  const lines = record.text.split('\n').length;
  if (problem !== undefined && lines > 1) {
    const where = `row ${record.number}, lines ${record.line} to ${record.line + lines - 1} of the file,`;
    throw new RowFileError(`The quotes in ${where} do not match, so the end of the row cannot be found. ${problem}`);
  }
  // Spreadsheets begin a row at a bare return: what follows would be taken for cells of this one.
  const hasBareReturn = record.text.includes('\r') && record.text.replace(/"(?:[^"]|"")*"/g, '').includes('\r');
  const malformed = hasBareReturn ? 'The row has \\r outside quotes; end lines with \\n or \\r\\n.' : problem;
  return malformed === undefined ? { cells } : { problem: { code: 'MALFORMED', message: malformed } };
}

/** Throws for what seems another delimiter: the one column `key;1:A.b` is an input key, and would be paid. */
function checkHeader(
  { fault, text, bytes }: RawRecord,
  problem: RecordProblem | undefined,
  delimiter: Delimiter,
  listRemedy: string,
): void {
  if (fault === 'TOO_LARGE') {
    throw new RowFileError(
      `The header has ${bytes} bytes, more than a row may have; end lines with \\n or \\r\\n, and close all quotes.`,
    );
  }
  if (text !== undefined && /\r(?!\n)/.test(text)) {
    throw new RowFileError('The lines end with \\r, as on an old Mac; end them with \\n or \\r\\n.');
  }
  const other = text === undefined ? undefined : otherDelimiter(text, delimiter);
  if (other !== undefined) {
    throw new RowFileError(
      `The header is one column, ${showValue(text)}, and its cells seem to have another delimiter, ${showValue(other)}; ${listRemedy}say so by ${optionNames.delimiter}.`,
    );
  }
  if (problem !== undefined) throw new RowFileError(`The header cannot be read. ${problem.message}`);
}

/** Of a header that is one column with the given delimiter; `undefined` when it seems to have no other. */
export function otherDelimiter(header: string, delimiter: Delimiter): Delimiter | undefined {
  const countCells = (one: Delimiter): number => parseCells(header, one).cells?.length ?? 0;
  if (countCells(delimiter) > 1) return undefined;
  const [other] = delimiters
    .filter((one) => one !== delimiter && countCells(one) > 1)
    .sort((one, two) => countCells(two) - countCells(one));
  return other;
}
