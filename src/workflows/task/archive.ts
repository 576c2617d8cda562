import { CancellationScope, condition } from '@temporalio/workflow';
import type { ArchiveOutputsInput, ArchiveOutputsResult, MissingOutputs } from '../../contract/activities';
import { failureTypes } from '../../contract/failure-types';
import { archivePriority } from '../../core/priority';
import { formatMoment } from '../../core/time';
import { activities, archiveOptions } from '../activity-proxies';
import { failureMessage, getFinalFailure, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { note, show } from './display';
import { archivePlan, awaitDecision, createdId, incompleteDecisions, type TaskEnd, type TaskRun } from './task-run';

const maxPauseMs = 6 * 3_600_000;
/** Tries of the first attempt, which lists of tasks do not show, and of one that follows a pause. */
const fewTries = 3;

/** A task that is over and left something. */
type Ended = TaskEnd & { readonly status: ArchiveOutputsInput['status'] };

/** What came of an attempt: `hopeless` when only a person or time can help, `decided` when a decision ended it. */
type Outcome = ArchiveOutputsResult | 'failed' | 'hopeless' | 'decided';

/**
 * Step 4: archives what the task left, until it is whole, given up or gone. A canceled task leaves nothing. A decision ends
 * an attempt or a pause at any moment.
 */
export async function archiveTask(run: TaskRun, end: TaskEnd): Promise<ArchiveOutputsResult | null> {
  const { status, archived: atOnce } = end;
  if (status === 'Canceled') return null;
  if (atOnce !== undefined) return atOnce;
  const ended = { ...end, status };
  const { state, plan } = run;
  let lastingUntilMs = Date.now() + plan.tuning.archiveGraceMs;
  let phase: 'quick' | 'lasting' | 'parked' = state.incomplete === undefined ? 'quick' : 'parked';
  if (phase === 'quick') awaitDecision(run, incompleteDecisions);
  for (;;) {
    const outcome: Outcome =
      phase === 'parked' ? await archiveParked(run, ended) : await archiveNow(run, ended, phase, lastingUntilMs);
    const { decision } = run;
    const archived = typeof outcome === 'object';
    if (archived || decision !== undefined) {
      delete state.incomplete;
      awaitDecision(run, archived ? [] : incompleteDecisions);
    }
    if (archived) {
      state.problem = null;
      return outcome;
    }
    if (decision?.kind === 'abandon') {
      const words = `The archive of ${createdId(run)} was abandoned. ${state.problem ?? 'Outputs may be missing.'}`;
      throw taskFailure('ArchiveIncomplete', words, { requestId: createdId(run) });
    }
    const mayPass: boolean = phase === 'quick' && outcome === 'failed' && Date.now() < lastingUntilMs;
    // What is tried again is no problem yet: its pending activity tells how it goes.
    if (mayPass) state.problem = null;
    if (decision !== undefined) lastingUntilMs = Date.now() + plan.tuning.archiveGraceMs;
    phase = mayPass || decision !== undefined ? 'lasting' : 'parked';
  }
}

/** Most archives are whole at once: until one is not, lists show the state before, and the pending activity tells the rest. */
async function archiveNow(run: TaskRun, end: Ended, phase: 'quick' | 'lasting', untilMs: number): Promise<Outcome> {
  const [waitingFor, nextStep] = ['every output to be whole in the archive', `finish as ${end.status}`];
  if (phase === 'quick') note(run, 'Archiving', waitingFor, nextStep);
  else show(run, 'Archiving', waitingFor, nextStep);
  return await archive(run, end, phase, Math.max(1, untilMs - Date.now()));
}

/** Waits for a person's decision, or for a pause, after which it tries again. */
async function archiveParked(run: TaskRun, end: Ended): Promise<Outcome> {
  const { state } = run;
  const pauseMs = state.incomplete?.pauseMs ?? run.plan.tuning.archivePauseMs;
  state.incomplete = { end, pauseMs };
  showIncomplete(run, end, `, or the next attempt at ${formatMoment(new Date(Date.now() + pauseMs).toISOString())}`);
  const summary = 'Waits for you: rearchive or abandon. User Metadata tells more; then the outputs are fetched again';
  const isDecided = await waitBounded(run, () => run.decision !== undefined, { ms: pauseMs, summary });
  await continueWhenLong(run);
  if (isDecided) return 'decided';
  showIncomplete(run, end, ', or the attempt that runs now');
  state.incomplete = { end, pauseMs: Math.min(maxPauseMs, 2 * pauseMs) };
  return await archive(run, end, 'parked');
}

function showIncomplete(run: TaskRun, end: Ended, or: string): void {
  const expiry = end.timestamps['expiredAt']?.iso;
  const kept = expiry == null ? '' : `, by its own word until ${formatMoment(expiry)}`;
  const nextStep = `fetch what is missing while the service still has it${kept}; it is paid`;
  show(run, 'ArchiveIncomplete', `your decision: rearchive or abandon${or}`, nextStep);
}

/** One attempt. Why it failed is the task's problem then. */
async function archive(
  run: TaskRun,
  end: Ended,
  phase: 'quick' | 'lasting' | 'parked',
  graceMs = run.plan.tuning.archiveGraceMs,
): Promise<Outcome> {
  const { plan, state } = run;
  const input: ArchiveOutputsInput = {
    ...archivePlan(run),
    account: plan.account,
    requestId: createdId(run),
    webAppId: plan.webAppId,
    status: end.status,
    timestamps: end.timestamps,
    costTimes: end.costTimes,
    cost: end.cost,
    errorMessage: end.errorMessage,
  };
  // An expiry that is named is a reason to hurry, never to give up: it may be wrong, and so may a clock.
  const options = archiveOptions(plan.tuning, graceMs, archivePriority(timeLeftMs(end)));
  const few = phase === 'lasting' ? {} : { retry: { ...options.retry, maximumAttempts: fewTries } };
  const queued = phase === 'quick' ? { scheduleToStartTimeout: '1 minute' as const } : {};
  const scope = new CancellationScope({ cancellable: true });
  try {
    return await scope.run(() =>
      Promise.race([
        activities.archiveOutputs.executeWithOptions({ ...options, ...few, ...queued }, [input]),
        condition(() => run.decision !== undefined).then(() => 'decided' as const),
      ]),
    );
  } catch (error) {
    throwWhenLost(run, end, error);
    state.problem = failureMessage(error);
    return getFinalFailure(error) === undefined ? 'failed' : 'hopeless';
  } finally {
    scope.cancel();
  }
}

/** Until when the service keeps the results by its own word; by Temporal's clock. */
function timeLeftMs(end: TaskEnd): number | undefined {
  const leftMs = Date.parse(end.timestamps['expiredAt']?.iso ?? '') - Date.now();
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
  const words = `The results of ${requestId} expired before they were archived. ${failureMessage(error)}`;
  throw taskFailure('ResultLost', words, { requestId });
}
