import type { ReadCreateRecordInput, ReadCreateRecordResult } from '../contract/activities';
import { CreateRecordFile } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { ownWorkflowId } from './own-workflow';

/** Reads what a create whose worker gave no answer left in the archive. It changes nothing. */
export async function readCreateRecord(
  { archive }: ActivityDependencies,
  { createNumber }: ReadCreateRecordInput,
): Promise<ReadCreateRecordResult> {
  const record = await new CreateRecordFile(archive, ownWorkflowId(), createNumber).read();
  return { recorded: record !== undefined, requestId: null, callbackAsked: false, ...record };
}
