import { setTimeout as delay } from 'node:timers/promises';
import type { Longhaul } from '../client/longhaul';
import type { SweepPlan } from '../contract/sweep';
import { adoptionKey, batchOfRow, batchWorkflowId, taskWorkflowId } from '../contract/workflow-ids';
import type { Finding, FindingKind, Remedy } from '../core/reconcile';
import { errorMessage, safeText } from '../core/text';
import { workflowState } from './workflow-state';

export interface SweptFinding {
  readonly finding: Finding;
  readonly handled: string | undefined;
  /** Whether it is still unsafe: left as it is, or an earlier attempt did not help. */
  readonly isLeft: boolean;
}

const maxHandled = 200;
const archivable: readonly FindingKind[] = ['notArchived', 'damaged'];
const maxProblemLength = 300;

/** Handles findings one by one, to start no flood. Throws the signal's reason. */
export async function handleAll(
  longhaul: Longhaul,
  plan: SweepPlan,
  findings: readonly Finding[],
  signal: AbortSignal,
): Promise<readonly SweptFinding[]> {
  const swept: SweptFinding[] = [];
  let handledCount = 0;
  for (const finding of findings) {
    signal.throwIfAborted();
    const one = handledCount < maxHandled ? await handle(longhaul, plan, finding, signal) : leftAsItIs(finding);
    if (one.handled !== undefined) handledCount += 1;
    swept.push(one);
  }
  return swept;
}

async function handle(
  longhaul: Longhaul,
  { rearchive, unfollowed }: SweepPlan,
  finding: Finding,
  signal: AbortSignal,
): Promise<SweptFinding> {
  const { kind } = finding;
  const [remedy] = finding.remedies;
  try {
    if (rearchive && remedy?.do === 'rearchive') {
      await longhaul.task(remedy.workflowId).rearchive();
      return { finding, handled: `${remedy.workflowId} archives it again`, isLeft: true };
    }
    const isWanted = kind === 'running' ? unfollowed !== 'report' : rearchive && archivable.includes(kind);
    if (!isWanted || remedy?.do !== 'adopt') return leftAsItIs(finding);
    const isToStop = kind === 'running' && unfollowed === 'stop';
    const why = await reasonAgainst(longhaul, finding, isToStop);
    if (why !== undefined) return leftAsItIs(finding, why);
    return await adopt(longhaul, finding, remedy, isToStop, signal);
  } catch (error) {
    signal.throwIfAborted();
    return leftAsItIs(finding, safeText(errorMessage(error), [], maxProblemLength));
  }
}

function leftAsItIs(finding: Finding, why?: string): SweptFinding {
  const reason = why === undefined ? finding.reason : `${finding.reason} The sweep left it as it is: ${why}`;
  return { finding: { ...finding, reason }, handled: undefined, isLeft: true };
}

/** Why a task is not adopted after all: the comparison is some time ago. Undefined: it may be. */
async function reasonAgainst(
  longhaul: Longhaul,
  { kind, workflowId }: Finding,
  isToStop: boolean,
): Promise<string | undefined> {
  if (kind === 'damaged') return undefined;
  const state = workflowId === null ? 'unknown' : await workflowState(longhaul, workflowId);
  if (state === 'open') return `${workflowId} runs again.`;
  // A workflow unknown here may run in another namespace over the same archive.
  if (isToStop && state === 'unknown') return 'Temporal does not know its workflow, so it is not stopped by itself.';
  const batchId = batchOfRow(workflowId ?? '');
  if (batchId === undefined || (await workflowState(longhaul, batchWorkflowId(batchId))) !== 'open') return undefined;
  return `its batch ${batchId} runs, and may start it again.`;
}

async function adopt(
  longhaul: Longhaul,
  finding: Finding,
  { requestId, account, folder }: Extract<Remedy, { readonly do: 'adopt' }>,
  isToStop: boolean,
  signal: AbortSignal,
): Promise<SweptFinding> {
  const task = await longhaul.adopt(requestId, {
    ...(account !== null && { account }),
    ...(folder !== '' && { archive: folder }),
  });
  const { workflowId, origin } = task;
  // A person's workflow follows it already: it is not stopped.
  if (origin === 'attached') return { finding, handled: `${workflowId} follows it`, isLeft: false };
  // Adopted before and found again: that did not help.
  const isLeft = finding.workflowId === taskWorkflowId(adoptionKey(requestId));
  if (!isToStop) return { finding, handled: `${workflowId} follows it`, isLeft };
  if (!(await isOnlyFollower(longhaul, workflowId, requestId, signal))) {
    return { finding, handled: `${workflowId} follows it, and does not stop it: another one may follow it`, isLeft };
  }
  if (!(await task.stop())) return leftAsItIs(finding, `${workflowId} ended before it was asked to stop.`);
  return { finding, handled: `${workflowId} follows and stops it`, isLeft };
}

const listPatienceMs = 10_000;
const listEveryMs = 250;

/** Once Temporal's list has our follower, it has all that began before. */
async function isOnlyFollower(
  longhaul: Longhaul,
  workflowId: string,
  requestId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const untilMs = performance.now() + listPatienceMs;
  while (performance.now() < untilMs) {
    const followers: string[] = [];
    for await (const one of longhaul.list({ requestIds: [requestId], running: true })) followers.push(one.workflowId);
    if (followers.some((follower) => follower !== workflowId)) return false;
    if (followers.length > 0) return true;
    await delay(listEveryMs, undefined, { signal });
  }
  return false;
}
