import { findCreate } from '../activities/create-record';
import { createName } from '../contract/workflow-ids';
import { findRival, isCreatedBefore, type UncertainCreate } from '../core/adoption';
import type { ServiceFacts } from '../core/reconcile';
import { formatMoment } from '../core/time';
import { parseCreateRecord } from '../archive/create-record';
import type { Archive } from '../storage/archive/archive';

type Recorded = ReturnType<typeof parseCreateRecord>;

/** Records that were kept so long before this one are not read: clocks of workers and archive differ. */
const keptMarginMs = 3_600_000;

/**
 * Why the task that a person names for a create is another create's, or may well be; undefined when nothing speaks against
 * it. Throws ArchiveError.
 *
 * @param asked.others - workflows that Temporal lists with the task; those that adopted it have no record of it.
 */
export async function problemWithCreate(
  archive: Archive,
  create: { readonly workflowId: string; readonly createNumber: number; readonly requestId: string },
  recorded: Recorded,
  asked: { readonly facts: ServiceFacts; readonly others: readonly string[] },
): Promise<string | undefined> {
  const { workflowId, createNumber, requestId } = create;
  const { facts, others } = asked;
  const anyway = 'check the id; with --force it is taken all the same.';
  for (const other of [workflowId, ...others]) {
    const except = other === workflowId ? createNumber : undefined;
    const creator = await findCreate(archive, other, { requestId, except });
    if (creator !== undefined)
      return `The task ${requestId} was created by ${creator}, by its create record; ${anyway}`;
  }
  const sentAtMs = Date.parse(recorded.sentAt ?? '');
  if (facts.says !== 'task' || Number.isNaN(sentAtMs)) return undefined;
  const { createdAtMs } = facts;
  const created = createdAtMs === null ? 'at an unknown time' : `at ${formatMoment(createdAtMs)}`;
  const when = `The service created the task ${requestId} ${created}, and ${createName(workflowId, createNumber)} was sent at ${formatMoment(sentAtMs)}`;
  if (createdAtMs !== null && isCreatedBefore(createdAtMs, sentAtMs)) return `${when}; ${anyway}`;
  const uncertain = await findUncertain(archive, recorded, { own: createName(workflowId, createNumber), sentAtMs });
  const rival = findRival(createdAtMs, sentAtMs, uncertain);
  if (rival === undefined) return undefined;
  return `${when}; ${rival.workflowId}, sent at ${formatMoment(rival.sentAtMs)}, has no task, either, and may as well have made it: ${anyway}`;
}

/** The other creates of the app that have no task on record, by name. */
async function findUncertain(
  archive: Archive,
  { account, webAppId }: Recorded,
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
