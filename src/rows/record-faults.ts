import { RowFileError, type RowProblems } from './row-problem';
import type { RawRecord } from './split-records';

/**
 * Tells why a record could not be read.
 *
 * @throws RowFileError for a quote that is never closed: the rows behind it are not known, not even their number.
 */
export function addFaults(record: Extract<RawRecord, { fault: string }>, problems: RowProblems): void {
  const { fault, line, faultLine, lastLine, bytes } = record;
  const lines = lastLine > line ? ` (to line ${lastLine})` : '';
  switch (fault) {
    case 'TOO_LARGE':
      problems.add(
        'TOO_LARGE',
        `The row has ${bytes} bytes${lines}, more than a row may have; give long values as files.`,
      );
      return;
    case 'NOT_UTF8':
      problems.add('NOT_UTF8', `The row${lines} is not UTF-8; save the file as UTF-8 (in Excel: save as "CSV UTF-8").`);
      return;
    case 'QUOTE_NOT_CLOSED':
      throw new RowFileError([
        `A quote that opens on line ${faultLine} is never closed, so that the rest of the file (to line ${lastLine}) cannot be read; close it.`,
      ]);
  }
}
