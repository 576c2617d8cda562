import { dirname } from 'node:path/posix';
import { parseCreateRecord } from '../formats/create-record';
import { isRequestId } from '../domain/create-outcome';
import type { Archive } from '../storage/archive/archive';

/**
 * The request id of the last create that a workflow made, by its create records. Throws ArchiveError.
 *
 * @param first - the archive's name of its first record.
 */
export async function findRecordedId(archive: Archive, first: string): Promise<string | undefined> {
  let last = { number: 0, requestId: undefined as string | undefined };
  for await (const name of archive.list(dirname(first))) {
    const number = Number(/\/(\d+)\.json$/.exec(name)?.[1] ?? 0);
    if (number <= last.number) continue;
    const { requestId } = parseCreateRecord(await archive.read(name));
    if (isRequestId(requestId)) last = { number, requestId };
  }
  return last.requestId;
}
