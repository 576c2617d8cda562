import { open } from 'node:fs/promises';
import { batchFolder } from '../contract/archive-folder';
import { errorCode, showValue } from '../core/text';
import type { Archive } from '../storage/archive/archive';
import { writeLocalFile } from './destination';
import { ResultsError } from './errors';

/** In the header of every such table, whatever its delimiter, behind the columns of the row file. */
const ownColumns =
  /^(?:.*[,;|\t])?(?:result\.)*status([,;|\t])(?:result\.)*output\1(?:result\.)*message\1(?:result\.)*failure_type\1/m;
const mostHeadBytes = 64 * 1024;

/**
 * Copies `results.csv` as the last run left it. Throws ArchiveError or {@link ResultsError}: also for a foreign `file`.
 * @param file - absolute.
 */
export async function writeBatchTable(
  archive: Archive,
  batchId: string,
  file: string,
): Promise<{ readonly path: string; readonly bytes: number }> {
  await refuseOtherFile(file);
  const name = `${batchFolder(batchId)}/results.csv`;
  const table = await archive.open(name);
  if (table !== undefined) return await writeLocalFile(file, table.content);
  const words = `The archive has no results.csv of the batch "${batchId}" (${archive.locate(name)}): no run of it has ended. Check its id, and that LONGHAUL_ARCHIVE is the archive of its workers.`;
  throw new ResultsError('missing', words);
}

async function refuseOtherFile(file: string): Promise<void> {
  const head = Buffer.alloc(mostHeadBytes);
  let length: number;
  try {
    const handle = await open(file, 'r');
    try {
      ({ bytesRead: length } = await handle.read(head, 0, head.length));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw notReplaced(`${showValue(file)} cannot be read (${errorCode(error)})`);
  }
  if (length === 0 || ownColumns.test(head.toString('utf8', 0, length))) return;
  throw notReplaced(`${showValue(file)} is no results.csv`);
}

function notReplaced(why: string): ResultsError {
  return new ResultsError('unwritable', `${why}, and is not replaced; give another file.`);
}
