import { CreateRecordFile } from '../activities/create-record';
import { createRecordName } from '../contract/workflow-ids';
import type { ServiceFacts } from '../domain/reconcile';
import type { Archive } from '../storage/archive';

/** A person's answer about a create whose workflow is over: the task it made, or that it made none. */
export interface Settlement {
  readonly workflowId: string;
  readonly createNumber: number;
  /** Null: nothing was created. */
  readonly requestId: string | null;
}

/** What the service says of a request id. */
export type AskAboutTask = (requestId: string) => Promise<ServiceFacts>;

/**
 * Writes the answer into the create record: the request id, or, when nothing was created, its withdrawal, so that the
 * next create of this workflow id may take its number. An id that the record has already stands, unless the service
 * does not know it; and none is written that the service does not know.
 *
 * @returns what is wrong, in words; undefined when the record says so now. Throws ArchiveError.
 */
export async function settleRecord(
  archive: Archive,
  { workflowId, createNumber, requestId }: Settlement,
  ask: AskAboutTask,
): Promise<string | undefined> {
  const content = await archive.read(createRecordName(workflowId, createNumber));
  if (content === undefined) return `There is no record of create ${createNumber} of ${workflowId} in this archive.`;
  const record = new CreateRecordFile(archive, workflowId, createNumber);
  const created = await record.find();
  const known = created?.outcome === 'accepted' ? created.requestId : undefined;
  if (known === requestId) return undefined;
  if (known !== undefined && (await ask(known)).says !== 'unknown') {
    return `Create ${createNumber} of ${workflowId} made the task ${known}; that stands.`;
  }
  const problem = requestId === null ? undefined : problemWith(requestId, await ask(requestId));
  if (problem !== undefined) return problem;
  await (requestId === null ? record.release() : record.addRequestId(requestId, known));
  return undefined;
}

function problemWith(requestId: string, facts: ServiceFacts): string | undefined {
  if (facts.says === 'unknown') return `The service does not know the task ${requestId}; check the id, and --account.`;
  if (facts.says !== 'nothing') return undefined;
  return `The service did not say whether it knows the task ${requestId} (${facts.words}); try again.`;
}
