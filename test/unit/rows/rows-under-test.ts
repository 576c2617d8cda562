import { Readable } from 'node:stream';
import {
  type PreparedRow,
  readRows,
  RowFileError,
  type RowFile,
  type RowFormat,
  type RowOptions,
  type RowOutcome,
  type RowProblem,
} from '../../../src/rows';

/** Where the row files of these tests seem to be. */
const folder = '/home/ada/rows';

/** A row file of this content, read in chunks of this many bytes. */
function rowFileOf(content: string | Uint8Array, format: RowFormat, chunkBytes = 65_536): RowFile {
  const bytes = Buffer.from(content);
  const count = Math.ceil(bytes.length / chunkBytes);
  const chunks = Array.from({ length: count }, (_, n) => bytes.subarray(n * chunkBytes, (n + 1) * chunkBytes));
  return { format, folder, chunks: Readable.from(chunks) };
}

/** Every row of this content. */
export async function outcomesOf(
  content: string | Uint8Array,
  format: RowFormat,
  options: RowOptions = {},
  chunkBytes?: number,
): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for await (const outcome of readRows(rowFileOf(content, format, chunkBytes), options)) outcomes.push(outcome);
  return outcomes;
}

/** The rows of this content, none of which may be bad. */
export async function rowsOf(...args: Parameters<typeof outcomesOf>): Promise<PreparedRow[]> {
  return (await outcomesOf(...args)).map(({ row, problems = [] }) => {
    if (row === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
    return row;
  });
}

/** What is wrong with the rows of this content, in their order. */
export async function problemsOf(...args: Parameters<typeof outcomesOf>): Promise<RowProblem[]> {
  return (await outcomesOf(...args)).flatMap(({ problems = [] }) => problems);
}

/** Why no row of this content can be used, one reason after the other; nothing when the file as a whole can be. */
export async function fileProblemsOf(...args: Parameters<typeof outcomesOf>): Promise<readonly string[]> {
  try {
    await outcomesOf(...args);
  } catch (error) {
    if (error instanceof RowFileError) return error.problems;
    throw error;
  }
  return [];
}
