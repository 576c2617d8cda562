import { type ApplicationFailure, CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { ArchiveOutputsInput, ArchiveOutputsResult, MissingOutputs } from '../../contract/activities';
import { failureTypes } from '../../contract/failure-types';
import { formatMoment } from '../../core/time';
import { archivePriority } from '../../core/priority';
import { activities, archiveOptions } from '../activity-proxies';
import { getFinalFailure, failureMessage, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { show } from './display';
import { awaitDecision, createdId, endDecision, incompleteDecisions, type TaskEnd, type TaskRun } from './task-run';

const maxPauseMs = 6 * 3_600_000;
/** Tries of one attempt of a parked archive: the pauses are between the attempts. */
const triesOfParked = 3;

/** A task that is over and left something. */
type Ended = TaskEnd & { readonly status: ArchiveOutputsInput['status'] };

/** Step 4: archives what the task left, until it is whole, given up or gone. A canceled task leaves nothing. */
export async function archiveTask(run: TaskRun, end: TaskEnd): Promise<ArchiveOutputsResult | null> {
  const { status } = end;
  if (status === 'Canceled') return null;
  const ended = { ...end, status };
  if (run.state.incomplete !== undefined) {
    const archived = await decideOnIncomplete(run, ended, run.state.incomplete.missing);
    if (archived !== 'again') return archived;
  }
  for (;;) {
    show(run, 'Archiving', 'every output to be whole in the archive', `finish as ${status}`);
    const archived = await archiveOrPark(run, ended);
    if (archived !== 'again') return archived;
  }
}

/** Archives with retries; a decision ends them at any moment, also between two attempts. */
async function archiveOrPark(run: TaskRun, end: Ended): Promise<ArchiveOutputsResult | 'again'> {
  awaitDecision(run, incompleteDecisions);
  let failure: unknown;
  const archived = await archiveUntilDecided(run, end).catch((error: unknown) => {
    failure = error;
    return undefined;
  });
  const decision = endDecision(run);
  if (archived !== undefined) {
    run.state.problem = null;
    return archived;
  }
  if (failure !== undefined) throwWhenLost(run, end, failure);
  if (decision?.kind === 'abandon') throw abandoned(run, 'Outputs may be missing.');
  return decision === undefined ? await decideOnIncomplete(run, end, failureMessage(failure)) : 'again';
}

/** @param maximumAttempts - absent: until the time for an archive is over. */
async function archive(run: TaskRun, end: Ended, maximumAttempts?: number): Promise<ArchiveOutputsResult> {
  // An expiry that is named is a reason to hurry, never to give up: it may be wrong, and so may a clock.
  const priority = archivePriority(timeLeftMs(end));
  const options = archiveOptions(run.plan.tuning, run.plan.tuning.archiveGraceMs, priority);
  const retry = maximumAttempts === undefined ? options.retry : { ...options.retry, maximumAttempts };
  return await activities.archiveOutputs.executeWithOptions({ ...options, retry }, [archiveInput(run, end)]);
}

function archiveInput(run: TaskRun, end: Ended): ArchiveOutputsInput {
  const { plan, state } = run;
  const { batch } = plan;
  return {
    account: plan.account,
    requestId: createdId(run),
    folder: plan.archiveFolder,
    naming: batch?.names && { batch: batch.id, key: batch.key, ...batch.names },
    status: end.status,
    createNumber: plan.adoptRequestId === null ? state.createNumber : undefined,
    webAppId: plan.webAppId,
    inputs: state.inputs,
    values: plan.values,
    timestamps: end.timestamps,
    costTimes: end.costTimes,
    cost: end.cost,
    errorMessage: end.errorMessage,
  };
}

/** Until when the service keeps the results by its own word; by Temporal's clock. */
function timeLeftMs(end: TaskEnd): number | undefined {
  const iso = end.timestamps['expiredAt']?.iso;
  const leftMs = iso == null ? Number.NaN : Date.parse(iso) - Date.now();
  return Number.isNaN(leftMs) ? undefined : leftMs;
}

/** Ends the task when nothing is left to fetch. Neither an expiry nor dead links alone prove that. */
function throwWhenLost(run: TaskRun, end: TaskEnd, error: unknown): void {
  const final = getFinalFailure(error);
  if (final?.type === failureTypes.SuccessNoOutputs || final?.type === failureTypes.ResultLost) throw error;
  const [missing] = (final?.details ?? []) as readonly Partial<MissingOutputs>[];
  const leftMs = timeLeftMs(end);
  if (missing?.linksAreDead !== true || leftMs === undefined || leftMs > 0) return;
  const requestId = createdId(run);
  throw taskFailure(
    failureTypes.ResultLost,
    `The results of ${requestId} expired before they were archived. ${failureMessage(error)}`,
    { requestId },
  );
}

/** Parks the task until a person decides, and tries again by itself meanwhile. `again`: a person said so. */
async function decideOnIncomplete(run: TaskRun, end: Ended, missing: string): Promise<ArchiveOutputsResult | 'again'> {
  let pauseMs = run.state.incomplete?.pauseMs ?? run.plan.tuning.archivePauseMs;
  if (run.state.incomplete === undefined) awaitDecision(run, incompleteDecisions);
  run.state.problem = missing;
  const decided = (): boolean => run.decision !== undefined;
  while (!decided()) {
    run.state.incomplete = { end, missing: run.state.problem, pauseMs };
    showIncomplete(run, `, or the next attempt at ${formatMoment(new Date(Date.now() + pauseMs).toISOString())}`);
    const pause = {
      ms: pauseMs,
      summary: 'Waits for you: rearchive or abandon. User Metadata tells more; then the outputs are fetched again',
    };
    const isEarly = await waitBounded(run, decided, pause);
    await continueWhenLong(run);
    if (isEarly) continue;
    showIncomplete(run, ', or the attempt that runs now');
    const archived = await archiveUnlessDecided(run, end);
    if (archived !== undefined) {
      delete run.state.incomplete;
      endDecision(run);
      run.state.problem = null;
      return archived;
    }
    pauseMs = Math.min(maxPauseMs, 2 * pauseMs);
  }
  const { problem } = run.state;
  delete run.state.incomplete;
  if (endDecision(run)?.kind !== 'abandon') return 'again';
  throw abandoned(run, problem);
}

function abandoned(run: TaskRun, problem: string | null): ApplicationFailure {
  const requestId = createdId(run);
  return taskFailure('ArchiveIncomplete', `The archive of ${requestId} was abandoned. ${problem}`, { requestId });
}

function showIncomplete(run: TaskRun, or: string): void {
  const expiry = run.state.incomplete?.end.timestamps['expiredAt']?.iso;
  const kept = expiry == null ? '' : `, by its own word until ${formatMoment(expiry)}`;
  show(
    run,
    'ArchiveIncomplete',
    `your decision: rearchive or abandon${or}`,
    `fetch what is missing while the service still has it${kept}; it is paid`,
  );
}

/** One more attempt of a parked archive; undefined when it failed, or when a decision came first, which ends it. */
async function archiveUnlessDecided(run: TaskRun, end: Ended): Promise<ArchiveOutputsResult | undefined> {
  try {
    return await archiveUntilDecided(run, end, triesOfParked);
  } catch (error) {
    if (isCancellation(error)) return undefined;
    throwWhenLost(run, end, error);
    run.state.problem = failureMessage(error);
    return undefined;
  }
}

/** Archives as {@link archive} does; undefined when a decision came first, which ends it. */
async function archiveUntilDecided(
  run: TaskRun,
  end: Ended,
  maximumAttempts?: number,
): Promise<ArchiveOutputsResult | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  try {
    return await scope.run(() => {
      const decided = condition(() => run.decision !== undefined).then(() => undefined);
      return Promise.race([archive(run, end, maximumAttempts), decided]);
    });
  } finally {
    scope.cancel();
  }
}
