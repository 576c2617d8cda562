import path from 'node:path';
import type { RowsReference } from '../../contract/batch-input';
import { digestOfInput, preparedIndexPath, preparedRowsAt, PreparedRowsWriter, readPreparedPage } from '../../rows';
import { hashFile } from '../../storage/hash';
import type { Staging } from '../../storage/staging';
import { stageInputs } from './stage-inputs';

/**
 * Stages the input files of prepared rows, and the rows with them. A staged row names its files by their content, so its
 * digest changes when a file does. Holds one page.
 *
 * @param rows - prepared into a folder of their own, where this writes as well.
 * @param name - what the object's name begins with: the batch's id.
 */
export async function stageRows(staging: Staging, rows: RowsReference, name: string): Promise<RowsReference> {
  const file = path.join(path.dirname(rows.location), 'staged.rows.jsonl');
  const { digest, pages } = await writeStaged(staging, rows, file);
  // By their content, so that rows that a batch reads from are never replaced by others.
  const { sha256 } = await hashFile(file);
  const key = `rows/${name}-${sha256.slice(0, 12)}.rows.jsonl`;
  const location = await staging.keepAs(key, file);
  // Last, as in a folder: without an index the rows are not there yet.
  await staging.keepAs(preparedIndexPath(key), preparedIndexPath(file));
  return { location, digest, rows: rows.rows, pages };
}

async function writeStaged(
  staging: Staging,
  { location, pages }: RowsReference,
  file: string,
): ReturnType<PreparedRowsWriter['finish']> {
  const prepared = preparedRowsAt(location);
  const writer = await PreparedRowsWriter.create(file);
  try {
    for (let page = 0; page < pages; page += 1) {
      const rows = (await readPreparedPage(prepared, page)) ?? [];
      const staged = await stageInputs(
        staging,
        rows.map(({ input }) => input.inputs),
      );
      for (const [index, row] of rows.entries()) {
        const input = { ...row.input, inputs: staged[index] ?? {} };
        await writer.add({ ...row, input, digest: digestOfInput(input) });
      }
    }
  } catch (error) {
    await writer.discard();
    throw error;
  }
  return await writer.finish();
}
