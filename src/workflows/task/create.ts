import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { CreateHeartbeat, CreateTaskInput, CreateTaskResult, LostCreate } from '../../contract/activities';
import { failureTypes } from '../../contract/failure-types';
import { isRequestId } from '../../core/create-outcome';
import { isRecord } from '../../core/json';
import { activities, createOptions, isResultInvalid } from '../activity-proxies';
import { failureMessage, getFinalFailure, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { show } from './display';
import type { PreparedInputs } from './prepare-inputs';
import { breachedDeadline, isStoppedBeforeCreate, untilTotalDeadlineMs } from './stop';
import { acceptTask, type TaskRun } from './task-run';
import { decideUncertain, resolveUncertain, stopUnconfirmed } from './uncertain-create';

const findOutWithinMs = 60_000;

/** Step 2: creates the task at most once. Returns with the task accepted, or stopped before its create. */
export async function createOnce(run: TaskRun, inputs: PreparedInputs): Promise<void> {
  await decideUncertain(run);
  const { state } = run;
  while (state.requestId === null && !isStoppedBeforeCreate(run)) {
    const breach = breachedDeadline(run);
    if (breach !== undefined) {
      // No attempt has read the create record: a workflow that was reset does not know what it did before.
      const notTried = 'This run created nothing; what one before it may have created, longhaul reconcile finds.';
      const none = state.problem === null ? notTried : `Nothing was created. ${state.problem}`;
      throw taskFailure('DeadlineExceeded', `${breach} ${state.uncertaintyReason ?? none}`);
    }
    await continueWhenLong(run);
    show(
      run,
      'Creating',
      'the service to take the create; while it cannot be sent, the pending activity createTask says why, and when it is tried again; a create that was not sent costs nothing',
      'follow the task',
    );
    const begunMs = Date.now();
    const outcome = await attemptCreate(run, inputs);
    state.createRequests += outcome.sent ?? (outcome.outcome === 'notSent' ? 0 : 1);
    switch (outcome.outcome) {
      case 'accepted':
        acceptTask(run, outcome.requestId, outcome.callbackAsked);
        break;
      case 'notSent':
        state.problem = outcome.reason;
        // The next attempt would come after the deadline. A stop ends the wait.
        if (outcome.isOutOfTime === true) {
          show(run, 'Creating', 'its total deadline, for the next try would come later', 'end; nothing is paid');
          const within = { ms: untilTotalDeadlineMs(run), summary: 'until the total deadline' };
          await waitBounded(run, () => isStoppedBeforeCreate(run), within);
        }
        break;
      case 'rejected': {
        const { message, httpStatus, code = null } = outcome;
        const { uncertaintyReason: reason } = state;
        const earlier = reason === undefined ? '' : ` Of an earlier create: ${reason}`;
        throw taskFailure('TaskRejected', `The service rejected the task: ${message}${earlier}`, { httpStatus, code });
      }
      case 'uncertain':
        await resolveUncertain(run, outcome, begunMs);
        break;
    }
  }
  // An earlier create stays uncertain, although another was decided on and a stop prevented it.
  if (state.requestId === null && state.uncertaintyReason !== undefined) throw stopUnconfirmed(run);
}

type Attempted = CreateTaskResult & { readonly isOutOfTime?: boolean };

/** Runs until there is an outcome, a stop came first, or messages have made the history long. */
async function attemptCreate(run: TaskRun, inputs: PreparedInputs): Promise<Attempted> {
  const { plan, state, createDigest, choices } = run;
  const input: CreateTaskInput = {
    account: plan.account,
    createNumber: state.createNumber,
    createDigest,
    webAppId: plan.webAppId ?? 0,
    inputs,
    choices,
    suppressPreviewOutput: plan.suppressPreviewOutput ?? undefined,
  };
  const options = createOptions(plan.tuning, `Create a task of app ${input.webAppId}`, untilTotalDeadlineMs(run));
  const scope = new CancellationScope();
  let isOver = false;
  const create = scope.run(() => activities.createTask.executeWithOptions(options, [input]));
  const cancelled = waitBounded(run, () => isOver || isStoppedBeforeCreate(run)).then(() => {
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

/**
 * What the failure of a create proves:
 *
 * | failure                                         | outcome                                                |
 * | ----------------------------------------------- | ------------------------------------------------------ |
 * | cancelled before or between attempts            | `notSent`: each attempt before sent nothing            |
 * | a result that cannot be read                    | `uncertain`                                            |
 * | no failure of an activity                       | thrown on                                              |
 * | `DeadlineExceeded`, final                       | `notSent`, out of time                                 |
 * | any other final type                            | thrown on: the task fails with it                      |
 * | retryable, until its time was over              | `notSent`: a retryable failure proves that nothing was |
 * | timed out: its worker gave no answer            | by its last heartbeat, {@link outcomeOfLost}           |
 * | anything else                                   | `uncertain`                                            |
 */
async function outcomeOfFailure(run: TaskRun, input: CreateTaskInput, error: unknown): Promise<Attempted> {
  if (error instanceof CancelledFailure) return { outcome: 'notSent', reason: error.message };
  const reason = failureMessage(error);
  if (isResultInvalid(error)) return { outcome: 'uncertain', reason, callbackAsked: true };
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause, retryState } = error;
  const final = getFinalFailure(error);
  if (final?.type === failureTypes.DeadlineExceeded) return { outcome: 'notSent', reason, isOutOfTime: true };
  if (final !== undefined) throw error;
  if (cause instanceof CancelledFailure) return { outcome: 'notSent', reason: run.state.problem ?? reason };
  if (cause instanceof ApplicationFailure && cause.nonRetryable !== true) {
    return { outcome: 'notSent', reason, isOutOfTime: retryState === 'TIMEOUT' };
  }
  if (cause instanceof TimeoutFailure) return await outcomeOfLost(run, input, cause, reason);
  return { outcome: 'uncertain', reason, callbackAsked: true };
}

/** A lost attempt's heartbeat says whether it sent, or which archive has the answer. */
async function outcomeOfLost(
  run: TaskRun,
  input: CreateTaskInput,
  { lastHeartbeatDetails, timeoutType }: TimeoutFailure,
  words: string,
): Promise<Attempted> {
  const heartbeat: Partial<CreateHeartbeat> = isRecord(lastHeartbeatDetails) ? lastHeartbeatDetails : {};
  const { archiveId, requestId, isReleased, refused = 0 } = heartbeat;
  if (isRequestId(requestId)) return { outcome: 'accepted', requestId, sent: refused + 1 };
  const reason = `the worker gave no answer (${words})`;
  if (typeof archiveId !== 'string' || isReleased === true) {
    const isOutOfTime = timeoutType === 'SCHEDULE_TO_CLOSE';
    const why = isOutOfTime ? words : `${reason}; it had not begun to send it`;
    return { outcome: 'notSent', reason: why, sent: refused, isOutOfTime };
  }
  const lost: LostCreate = { archiveId, reason };
  try {
    const options = createOptions(run.plan.tuning, 'What became of the create?', findOutWithinMs);
    const outcome = await activities.createTask.executeWithOptions(options, [{ ...input, lost }]);
    return { ...outcome, sent: refused + (outcome.outcome === 'notSent' ? 0 : 1) };
  } catch (error) {
    if (getFinalFailure(error)?.type === failureTypes.InputChanged) throw error;
    // A callback may still come, so a policy waits for it.
    const unread = `${reason}, and its create record cannot be read (${failureMessage(error)})`;
    return { outcome: 'uncertain', reason: unread, callbackAsked: true, sent: refused + 1 };
  }
}
