import { CreateRecordFile, findCreate } from '../activities/create-record';
import { type CreateRecord, parseCreateRecord } from '../archive/create-record';
import { createName, createRecordName } from '../contract/workflow-ids';
import { findRival, isCreatedBefore, type UncertainCreate } from '../core/adoption';
import type { ServiceFacts } from '../core/reconcile';
import { formatMoment } from '../core/time';
import type { Archive } from '../storage/archive/archive';

/** A person's answer about a create whose workflow is over; a null request id: it created nothing. */
export interface Settlement {
  readonly workflowId: string;
  readonly createNumber: number;
  readonly requestId: string | null;
  /** Also a task that another create made or may have made. @default false */
  readonly force?: boolean;
}

/** `account` is that of the create record, null where it has none. */
export type AskAboutTask = (requestId: string, account: string | null) => Promise<ServiceFacts>;

/**
 * Writes the answer into the create record: the request id, or a withdrawal that frees the number for the next create.
 * Keeps an id that the service knows, and writes none that it does not know. `others`: workflows that Temporal lists
 * with the task. Returns what is wrong; undefined when the record has the answer. Throws ArchiveError.
 */
export async function settleRecord(
  archive: Archive,
  settlement: Settlement,
  others: readonly string[],
  ask: AskAboutTask,
): Promise<string | undefined> {
  const { workflowId, createNumber, requestId, force = false } = settlement;
  const content = await archive.read(createRecordName(workflowId, createNumber));
  if (content === undefined) return `There is no record of create ${createNumber} of ${workflowId} in this archive.`;
  const recorded = parseCreateRecord(content);
  const { account = null } = recorded;
  const record = new CreateRecordFile(archive, workflowId, createNumber);
  const created = await record.find();
  const known = created?.outcome === 'accepted' ? created.requestId : undefined;
  if (known === requestId) return undefined;
  if (known !== undefined && (await ask(known, account)).says !== 'unknown') {
    return `Create ${createNumber} of ${workflowId} made the task ${known}; that stands.`;
  }
  if (requestId === null) {
    await record.release();
    return undefined;
  }
  const facts = await ask(requestId, account);
  if (facts.says === 'unknown') return `The service does not know the task ${requestId}; check the id, and --account.`;
  if (facts.says === 'nothing') {
    return `The service did not say whether it knows the task ${requestId} (${facts.words}); try again.`;
  }
  const create = { workflowId, createNumber, requestId };
  const problem = force ? undefined : await problemWithCreate(archive, create, recorded, { facts, others });
  if (problem === undefined) await record.addRequestId(requestId, known);
  return problem;
}

/** Older records are not read; the margin covers clocks of workers and archive that differ. */
const keptMarginMs = 3_600_000;

/**
 * Why the named task is, or may be, another create's; undefined when nothing speaks against it. Adopting workflows
 * among `others` have no record of it. Throws ArchiveError. @internal exported for tests
 */
export async function problemWithCreate(
  archive: Archive,
  { workflowId, createNumber, requestId }: Omit<Settlement, 'requestId'> & { readonly requestId: string },
  recorded: Partial<CreateRecord>,
  { facts, others }: { readonly facts: ServiceFacts; readonly others: readonly string[] },
): Promise<string | undefined> {
  const anyway = 'check the id; with --force it is taken all the same.';
  for (const other of [workflowId, ...others]) {
    const except = other === workflowId ? createNumber : undefined;
    const creator = await findCreate(archive, other, { requestId, except });
    if (creator !== undefined) {
      return `The task ${requestId} was created by ${creator}, by its create record; ${anyway}`;
    }
  }
  const sentAtMs = Date.parse(recorded.sentAt ?? '');
  if (facts.says !== 'task' || Number.isNaN(sentAtMs)) return undefined;
  const { createdAtMs } = facts;
  const own = createName(workflowId, createNumber);
  const created = createdAtMs === null ? 'at an unknown time' : `at ${formatMoment(createdAtMs)}`;
  const when = `The service created the task ${requestId} ${created}, and ${own} was sent at ${formatMoment(sentAtMs)}`;
  if (createdAtMs !== null && isCreatedBefore(createdAtMs, sentAtMs)) return `${when}; ${anyway}`;
  const rival = findRival(createdAtMs, sentAtMs, await findUncertain(archive, recorded, { own, sentAtMs }));
  if (rival === undefined) return undefined;
  return `${when}; ${rival.workflowId}, sent at ${formatMoment(rival.sentAtMs)}, has no task, either, and may as well have made it: ${anyway}`;
}

async function findUncertain(
  archive: Archive,
  { account, webAppId }: Partial<CreateRecord>,
  { own, sentAtMs }: { readonly own: string; readonly sentAtMs: number },
): Promise<readonly UncertainCreate[]> {
  const found: UncertainCreate[] = [];
  for await (const { name, keptAtMs } of archive.list('.creates')) {
    if (keptAtMs < sentAtMs - keptMarginMs) continue;
    const other = parseCreateRecord(await archive.read(name));
    const { workflowId = '', createNumber = 0, sentAt = '', requestId } = other;
    const isUncertain = requestId === null && other.account === account && other.webAppId === webAppId;
    const otherName = createName(workflowId, createNumber);
    if (isUncertain && otherName !== own) found.push({ workflowId: otherName, sentAtMs: Date.parse(sentAt) });
  }
  return found;
}
