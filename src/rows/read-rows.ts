import { prepareRow } from './prepare-row';
import type { PreparedRow } from './prepared-row';
import { readJsonLines } from './read-json-lines';
import { readTable } from './read-table';
import type { RowFile } from './row-file';
import type { RowOptions } from './row-options';
import type { RowProblem } from './row-problem';
import type { SourceRow } from './source-row';
import { splitRecords } from './split-records';

/** A row that was read: prepared, or everything that is wrong with it. */
export type RowOutcome =
  | { readonly row: PreparedRow; readonly problems?: never }
  | { readonly row?: never; readonly problems: readonly RowProblem[] };

const defaultMaxRowBytes = 1024 * 1024;

/**
 * Reads the rows of a file, one at a time: what is held does not depend on how many there are. Looks at no other file
 * and at no other row; that is `checkRows`.
 *
 * @throws RowFileError when the file cannot be read or its header cannot be used.
 */
export async function* readRows(file: RowFile, options: RowOptions = {}): AsyncGenerator<RowOutcome, void, undefined> {
  let index = 0;
  for await (const source of sourceRows(file, options)) {
    const row = prepareRow(source, index, file.folder, options);
    yield row === undefined ? { problems: source.problems.found } : { row };
    index += 1;
  }
}

function sourceRows({ format, chunks }: RowFile, options: RowOptions): AsyncGenerator<SourceRow, void, undefined> {
  const { maxRowBytes: maxBytes = defaultMaxRowBytes } = options;
  if (format === 'jsonl') return readJsonLines(splitRecords(chunks, { maxBytes }), options);
  const delimiter = format === 'csv' ? ',' : '\t';
  return readTable(splitRecords(chunks, { maxBytes, delimiter }), delimiter, options);
}
