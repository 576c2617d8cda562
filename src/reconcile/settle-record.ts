import { CreateRecordFile } from '../activities/create-record';
import { createRecordName } from '../contract/workflow-ids';
import type { Archive } from '../storage/archive';

/** A person's answer about a create whose workflow is over: the task it made, or that it made none. */
export interface Settlement {
  readonly workflowId: string;
  readonly createNumber: number;
  /** Null: nothing was created. */
  readonly requestId: string | null;
}

/**
 * Writes the answer into the create record: the request id, or, when nothing was created, its withdrawal, so that the
 * next create of this workflow id may take its number.
 *
 * @returns what is wrong, in words; undefined when the record says so now. Throws ArchiveError.
 */
export async function settleRecord(archive: Archive, settlement: Settlement): Promise<string | undefined> {
  const { workflowId, createNumber, requestId } = settlement;
  const content = await archive.read(createRecordName(workflowId, createNumber));
  if (content === undefined) return `There is no record of create ${createNumber} of ${workflowId} in this archive.`;
  const record = new CreateRecordFile(archive, workflowId, createNumber);
  const known = (await record.read())?.requestId ?? null;
  if (known === requestId && known !== null) return undefined;
  if (known !== null) return `Create ${createNumber} of ${workflowId} made the task ${known}; that stands.`;
  await (requestId === null ? record.release() : record.settle(requestId));
  return undefined;
}
