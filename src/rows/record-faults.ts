import type { RowProblems } from './row-problem';
import type { RawRecord } from './split-records';

/** Tells why a record could not be read. */
export function addFaults(record: Extract<RawRecord, { fault: string }>, problems: RowProblems): void {
  const { fault, line, lastLine, bytes } = record;
  const lines = lastLine > line ? ` (to line ${lastLine})` : '';
  switch (fault) {
    case 'TOO_LARGE':
      problems.add(
        'TOO_LARGE',
        `The row has ${bytes} bytes${lines}, more than a row may have; give long values as files.`,
      );
      return;
    case 'NOT_UTF8':
      problems.add('NOT_UTF8', `The row${lines} is not UTF-8; save the file as UTF-8.`);
      return;
    case 'QUOTE_NOT_CLOSED':
      problems.add(
        'MALFORMED',
        `A quote that opens here is never closed, so that the rest of the file${lines} was not read; close it.`,
      );
  }
}
