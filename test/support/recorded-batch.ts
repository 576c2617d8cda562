import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { layoutText, recordText } from '../../src/archive/batch-record';
import type { RowRecord } from '../../src/contract/batch/batch-rows';
import { type PreparedRow, readRows, rowFileAt } from '../../src/rows';

/** The good rows of a file, as tasks of app 1. */
export async function goodRowsOf(rowFile: string): Promise<PreparedRow[]> {
  const rows: PreparedRow[] = [];
  for await (const { row } of readRows(rowFileAt(rowFile), { common: { webAppId: 1 } })) if (row) rows.push(row);
  return rows;
}

/** Has a batch on record in the archive of this folder: a text is a page that is damaged. */
export function keepRecord(
  archive: string,
  id: string,
  pages: Readonly<Record<string, readonly RowRecord[] | string>>,
): void {
  const digest = 'd'.repeat(64);
  const put = (name: string, text: string): void => {
    const path = join(archive, 'batches', id, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  put('batch.json', layoutText({ id, digest, rows: 3, pages: 1 }));
  for (const [page, records] of Object.entries(pages)) {
    put(`results/${digest.slice(0, 12)}/${page}.jsonl`, typeof records === 'string' ? records : recordText(records));
  }
}
