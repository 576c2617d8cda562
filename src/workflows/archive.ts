import type { ArchiveOutputsResult } from '../contract/activities';
import { archivePriority } from '../domain/transfer-priority';
import { activities, transferOptions } from './activity-proxies';
import type { TaskEnd } from './carried-state';
import { continueWaiting, waitBounded } from './continue-as-new';
import { incompleteDecisions } from './decisions';
import { finalFailureOf, lastWordsOf, taskFailure } from './failures';
import type { TaskRun } from './task-run';

/**
 * Step 4: archives what the task left, and does not let go before it is whole, a person gives up, or the service has
 * deleted it. A canceled task leaves nothing.
 */
export async function archiveTask(run: TaskRun, end: TaskEnd): Promise<ArchiveOutputsResult | null> {
  const { status } = end;
  if (status === 'Canceled') return null;
  if (run.state.incomplete !== undefined) await decideOnIncomplete(run, end, run.state.incomplete.missing);
  for (;;) {
    run.show('Archiving', 'every output to be whole in the archive', `finish as ${status}`);
    try {
      const priority = archivePriority(timeLeftMs(end));
      const options = transferOptions(run, 'Archive the outputs', archiveWithinMs(run, end), priority);
      return await activities.archiveOutputs.executeWithOptions(options, [archiveInput(run, status, end)]);
    } catch (error) {
      if (finalFailureOf(error)?.type === 'SuccessNoOutputs') throw error;
      await decideOnIncomplete(run, end, lastWordsOf(error));
    }
  }
}

function archiveInput(
  run: TaskRun,
  status: 'Success' | 'Failed',
  end: TaskEnd,
): Parameters<typeof activities.archiveOutputs>[0] {
  const { plan, state } = run;
  const { batch } = plan;
  const names = batch?.names;
  return {
    account: plan.account,
    requestId: run.requestId,
    folder: plan.archiveFolder,
    ...(names !== undefined && batch !== null && { naming: { batch: batch.id, key: batch.key, ...names } }),
    status,
    ...(plan.adoptRequestId === null && { createNumber: state.createNumber }),
    webAppId: plan.webAppId,
    inputs: state.inputs,
    values: plan.values,
    timestamps: end.timestamps,
    costTimes: end.costTimes,
    errorMessage: end.errorMessage,
  };
}

/** Until when the service keeps the results, when it says so. */
function expiryMs(end: TaskEnd): number | undefined {
  const iso = end.timestamps['expiredAt']?.iso;
  const atMs = iso == null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(atMs) ? undefined : atMs;
}

function timeLeftMs(end: TaskEnd): number | undefined {
  const expiresAtMs = expiryMs(end);
  return expiresAtMs === undefined ? undefined : expiresAtMs - Date.now();
}

function archiveWithinMs(run: TaskRun, end: TaskEnd): number {
  return Math.max(1_000, Math.min(run.plan.tuning.archiveGraceMs, timeLeftMs(end) ?? Number.POSITIVE_INFINITY));
}

/** Parks the task until a person decides, or the service has deleted the results. Returns to try again. */
async function decideOnIncomplete(run: TaskRun, end: TaskEnd, missing: string): Promise<void> {
  run.state.problem = missing;
  if (run.state.incomplete === undefined) run.decisions.open(incompleteDecisions);
  run.state.incomplete = { end, missing };
  run.show(
    'ArchiveIncomplete',
    'the update rearchive (once what is wrong is mended) or abandon',
    'fetch what is missing while the service still has it',
  );
  const expiresAtMs = expiryMs(end);
  let isExpired = false;
  while (!run.decisions.hasDecision && !isExpired) {
    isExpired = !(await waitBounded(run, () => run.decisions.hasDecision, untilExpiry(expiresAtMs)));
    await continueWaiting(run);
  }
  delete run.state.incomplete;
  const decision = run.decisions.close();
  const details = { requestId: run.requestId };
  if (decision === undefined) {
    throw taskFailure(
      'ResultLost',
      `The results of ${run.requestId} expired before they were archived. ${missing}`,
      details,
    );
  }
  if (decision.kind === 'abandon') {
    throw taskFailure('ArchiveIncomplete', `The archive of ${run.requestId} was abandoned. ${missing}`, details);
  }
}

function untilExpiry(expiresAtMs: number | undefined): { readonly ms: number; readonly summary: string } | undefined {
  if (expiresAtMs === undefined) return undefined;
  return { ms: Math.max(1, expiresAtMs - Date.now()), summary: 'until the service deletes the results' };
}
