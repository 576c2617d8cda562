import { dirname } from 'node:path/posix';
import { parseCreateRecord } from '../formats/create-record';
import { createRecordName } from '../contract/workflow-ids';
import { isRequestId } from '../domain/create-outcome';
import type { Archive } from '../storage/archive/archive';

/** What the record of a create says. */
export type RecordedCreate = ReturnType<typeof parseCreateRecord>;

/** The record of the last create of a workflow that has a request id; undefined when there is none. Throws ArchiveError. */
export async function findLastCreate(
  archive: Archive,
  workflowId: string,
): Promise<(RecordedCreate & { readonly requestId: string }) | undefined> {
  let last = { number: 0, record: undefined as (RecordedCreate & { readonly requestId: string }) | undefined };
  for await (const { name } of archive.list(dirname(createRecordName(workflowId, 1)))) {
    const number = Number(/\/(\d+)\.json$/.exec(name)?.[1] ?? 0);
    if (number <= last.number) continue;
    const record = parseCreateRecord(await archive.read(name));
    const { requestId } = record;
    if (isRequestId(requestId)) last = { number, record: { ...record, requestId } };
  }
  return last.record;
}
