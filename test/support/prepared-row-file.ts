import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowsReference } from '../../src/contract/batch/batch-input';
import { prepareRows, readRows, rowFileAt } from '../../src/rows';
import { fastTuning } from './task-environment';

/** Rows as a person has them in a file, one a line, prepared for a batch of this id; tests shorten their durations. */
export async function preparedRowFile(folder: string, id: string, rows: readonly object[]): Promise<RowsReference> {
  const file = join(folder, `${id}.jsonl`);
  writeFileSync(file, rows.map((row) => `${JSON.stringify({ ...row, tuning: fastTuning })}\n`).join(''));
  const prepared = await prepareRows(readRows(rowFileAt(file), {}), { folder, name: id });
  if (prepared.rows === null) throw new Error('no row is good');
  return prepared.rows;
}
