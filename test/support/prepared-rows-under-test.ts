import { inputDigest, type NewTaskInput } from '../../src/contract/task-input';
import type { RowsReference } from '../../src/contract/batch/batch-input';
import { type PreparedRow, PreparedRowsWriter } from '../../src/rows';

/** What a test says of a row; the rest follows from it. */
export interface TestRow {
  readonly key: string;
  readonly originalKey?: string;
  readonly input?: Partial<NewTaskInput>;
  readonly columns?: Record<string, string>;
}

/** Rows as `longhaul batch run` prepares them: the first stands on line 1. */
export function preparedRows(rows: readonly TestRow[]): PreparedRow[] {
  return rows.map(({ key, originalKey = null, input, columns = {} }, index) => {
    const whole: NewTaskInput = { webAppId: 5, inputs: {}, ...input };
    const digest = inputDigest(whole);
    return { index, line: index + 1, key, originalKey, input: whole, digest, columns };
  });
}

/** Writes them where a worker may read them. */
export async function writePreparedRows(
  folder: string,
  name: string,
  rows: readonly PreparedRow[],
  pageRows = 200,
): Promise<RowsReference> {
  const writer = await PreparedRowsWriter.create(folder, { rows: pageRows });
  for (const row of rows) await writer.add(row);
  return await writer.finish(() => `${name}.rows.jsonl`);
}
