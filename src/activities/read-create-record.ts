import type { ReadCreateRecordInput, ReadCreateRecordResult } from '../contract/activities';
import { readArchiveIdentity } from '../storage/archive-identity';
import { CreateRecordFile } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';

/** Reads what a create whose worker gave no answer left in the archive. It changes nothing. */
export async function readCreateRecord(
  { archive }: ActivityDependencies,
  { createNumber, ...digests }: ReadCreateRecordInput,
): Promise<ReadCreateRecordResult> {
  const record = await new CreateRecordFile(archive, ownWorkflowId(), createNumber, digests).read();
  // Not as it was known: an archive that was exchanged meanwhile proves nothing.
  const archiveId = await readArchiveIdentity(archive);
  return { recorded: record !== undefined, archiveId, requestId: null, callbackAsked: false, ...record };
}
