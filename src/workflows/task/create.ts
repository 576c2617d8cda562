import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { CreateHeartbeat, CreateTaskInput, CreateTaskResult, LostCreate } from '../../contract/activities';
import { failureTypes } from '../../contract/failure-types';
import { type CreateRejected, isRequestId } from '../../domain/create-outcome';
import { isRecord } from '../../domain/json';
import { activities, createOptions } from '../activity-proxies';
import { isResultInvalid } from '../activity-results';
import { breachedDeadline, untilTotalDeadlineMs } from './deadlines';
import { getFinalFailure, failureMessage, taskFailure } from '../failures';
import { decideUncertain, resolveUncertain, stopUnconfirmed } from './uncertain-create';
import { continueWhenLong, waitBounded } from './continue-as-new';
import type { PreparedInputs } from './prepare-inputs';
import type { TaskRun } from './task-run';

/** What a create sends. */
type CreatedTask = Pick<TaskRun, 'plan' | 'state' | 'createDigest' | 'inputDigest' | 'choices'>;

/** How long an archive that cannot be read right now is asked about a lost create. */
const findOutWithinMs = 60_000;

/**
 * Step 2: creates the task at the service, at most once. Temporal retries what was provably not taken; an attempt that was
 * lost is found out about before the create is scheduled again. Returns with the task accepted, or not created because a
 * stop came first.
 */
export async function createOnce(run: TaskRun, inputs: PreparedInputs): Promise<void> {
  await decideUncertain(run);
  while (!run.isCreated && !run.stops.isAskedBeforeCreate) {
    failWhenOverdue(run);
    await continueWhenLong(run);
    run.display.show(
      'Creating',
      'the service to take the create; while it cannot be sent, the pending activity createTask says why, and when it is tried again; a create that was not sent costs nothing',
      'follow the task',
    );
    const begunMs = Date.now();
    const outcome = await attemptCreate(run, createInput(run, inputs));
    run.state.createRequests += outcome.sent ?? (outcome.outcome === 'notSent' ? 0 : 1);
    switch (outcome.outcome) {
      case 'accepted':
        run.accept(outcome.requestId);
        break;
      case 'notSent':
        run.state.problem = outcome.reason;
        if (outcome.isOutOfTime === true) await waitForDeadline(run);
        break;
      case 'rejected':
        throw rejection(run, outcome);
      case 'uncertain':
        await resolveUncertain(run, outcome, begunMs);
        break;
    }
  }
  // The uncertainty about an earlier create outlives the decision to send another, which the stop prevented.
  const { uncertaintyReason } = run.state;
  if (!run.isCreated && uncertaintyReason !== undefined) throw stopUnconfirmed(uncertaintyReason);
}

/** Nothing is paid for a task that is too late before it exists. */
function failWhenOverdue(run: Pick<TaskRun, 'plan' | 'state'>): void {
  const breach = breachedDeadline(run);
  if (breach === undefined) return;
  const { uncertaintyReason, problem } = run.state;
  // No attempt has looked at the create record: a workflow that was reset knows nothing of what it did before.
  const notTried = 'This run created nothing; what one before it may have created, longhaul reconcile finds.';
  const created = uncertaintyReason ?? (problem === null ? notTried : `Nothing was created. ${problem}`);
  throw taskFailure('DeadlineExceeded', `${breach} ${created}`);
}

/** Temporal gave up, for the next attempt would come after the deadline. A stop ends the wait. */
async function waitForDeadline(run: TaskRun): Promise<void> {
  run.display.show('Creating', 'its total deadline, for the next try would come later', 'end; nothing is paid');
  const ms = untilTotalDeadlineMs(run);
  await waitBounded(run, () => run.stops.isAskedBeforeCreate, { ms, summary: 'until the total deadline' });
}

function createInput(
  { plan, state, createDigest, inputDigest, choices }: CreatedTask,
  inputs: PreparedInputs,
): CreateTaskInput {
  const { account, webAppId, suppressPreviewOutput } = plan;
  return {
    account,
    createNumber: state.createNumber,
    ...(createDigest !== undefined && { createDigest }),
    ...(inputDigest !== undefined && { inputDigest }),
    webAppId: webAppId ?? 0,
    inputs,
    ...choices,
    ...(suppressPreviewOutput === null ? {} : { suppressPreviewOutput }),
  };
}

type Attempted = CreateTaskResult & {
  /** Temporal gave up before the task's total deadline. */
  readonly isOutOfTime?: true;
};

/** Until there is an outcome, a stop came first, or messages have made the history long. */
async function attemptCreate(run: TaskRun, input: CreateTaskInput): Promise<Attempted> {
  const options = createOptions(run.plan.tuning, `Create a task of app ${input.webAppId}`, untilTotalDeadlineMs(run));
  const scope = new CancellationScope();
  let isOver = false;
  const create = scope.run(() => activities.createTask.executeWithOptions(options, [input]));
  const cancelled = waitBounded(run, () => isOver || run.stops.isAskedBeforeCreate).then(() => {
    if (!isOver) scope.cancel();
  });
  try {
    return await create;
  } catch (error) {
    return await outcomeOfFailure(run, input, error);
  } finally {
    isOver = true;
    await cancelled;
  }
}

/** A create that has no result: what its failure proves. */
async function outcomeOfFailure(run: TaskRun, input: CreateTaskInput, error: unknown): Promise<Attempted> {
  if (error instanceof CancelledFailure) return { outcome: 'notSent', reason: error.message };
  const reason = failureMessage(error);
  if (isResultInvalid(error)) return { outcome: 'uncertain', reason, callbackAsked: true };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause, retryState } = error;
  const final = getFinalFailure(error);
  if (final?.type === failureTypes.DeadlineExceeded) return { outcome: 'notSent', reason, isOutOfTime: true };
  if (final !== undefined) throw error;
  // Between two attempts, each of which sent nothing that could have been taken.
  if (cause instanceof CancelledFailure) return { outcome: 'notSent', reason: run.state.problem ?? reason };
  if (cause instanceof ApplicationFailure && cause.nonRetryable !== true) {
    return { outcome: 'notSent', reason, ...(retryState === 'TIMEOUT' && { isOutOfTime: true }) };
  }
  if (cause instanceof TimeoutFailure) return await outcomeOfLost(run, input, cause, reason);
  return { outcome: 'uncertain', reason, callbackAsked: true };
}

/** Its last heartbeat says whether a lost attempt sent something, or in which archive that stands. */
async function outcomeOfLost(
  run: TaskRun,
  input: CreateTaskInput,
  { lastHeartbeatDetails, timeoutType }: TimeoutFailure,
  words: string,
): Promise<Attempted> {
  const { archiveId, requestId, isReleased, refused = 0 } = heartbeatIn(lastHeartbeatDetails);
  if (isRequestId(requestId)) return { outcome: 'accepted', requestId, sent: refused + 1 };
  const reason = `the worker gave no answer (${words})`;
  const isOutOfTime = timeoutType === 'SCHEDULE_TO_CLOSE';
  if (typeof archiveId !== 'string' || isReleased === true) {
    return {
      outcome: 'notSent',
      reason: isOutOfTime ? words : `${reason}; it had not begun to send it`,
      sent: refused,
      ...(isOutOfTime && { isOutOfTime }),
    };
  }
  return await findOut(run, { ...input, lost: { archiveId, reason } }, refused);
}

async function findOut(
  run: TaskRun,
  input: CreateTaskInput & { readonly lost: LostCreate },
  refused: number,
): Promise<CreateTaskResult> {
  try {
    const options = createOptions(run.plan.tuning, 'What became of the create?', findOutWithinMs);
    const outcome = await activities.createTask.executeWithOptions(options, [input]);
    return { ...outcome, sent: refused + (outcome.outcome === 'notSent' ? 0 : 1) };
  } catch (error) {
    if (getFinalFailure(error)?.type === failureTypes.InputChanged) throw error;
    // Whether a callback comes is not known either, so a policy waits as if one did.
    const words = `${input.lost.reason}, and its create record cannot be read (${failureMessage(error)})`;
    return { outcome: 'uncertain', reason: words, callbackAsked: true, sent: refused + 1 };
  }
}

function heartbeatIn(details: unknown): Partial<CreateHeartbeat> {
  return isRecord(details) ? details : {};
}

function rejection({ state }: TaskRun, { message, httpStatus, code }: CreateRejected): Error {
  const uncertaintyReason =
    state.uncertaintyReason === undefined ? '' : ` Of an earlier create: ${state.uncertaintyReason}`;
  const words = `The service rejected the task: ${message}${uncertaintyReason}`;
  return taskFailure('TaskRejected', words, { httpStatus, code: code ?? null });
}
