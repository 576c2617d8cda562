import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import type { CreateTaskInput, ReadCreateRecordInput, ReadCreateRecordResult } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import type { CreateOutcome, CreateRejected } from '../domain/create-outcome';
import { isRequestId } from '../domain/request-id';
import { formatDuration } from '../domain/duration';
import { activities, callOptions, createOptions } from './activity-proxies';
import type { CreateTries } from './carried-state';
import { continueWaiting, waitBounded } from './continue-as-new';
import { breachedDeadline, untilTotalDeadlineMs } from './deadlines';
import { finalFailureOf, lastWordsOf, taskFailure } from './failures';
import { passGate } from './gate';
import type { PreparedInputs } from './prepare-inputs';
import { decideUncertain, resolveUncertain, stopUnconfirmed } from './resolve-uncertain';
import type { TaskRun } from './task-run';

/** How long an archive that cannot be read right now is asked again. */
const recordWithinMs = 60_000;

/**
 * Step 2: creates the task at the service, at most once. Sent again is only what provably was not sent, or what the
 * service refused for now; each time the gate of the account comes before it. Returns with the task accepted, or not
 * created because a stop came first.
 */
export async function createOnce(run: TaskRun, inputs: PreparedInputs): Promise<void> {
  await decideUncertain(run);
  const creating = (run.state.creating ??= { sinceMs: Date.now(), tries: 0, notBeforeMs: 0 });
  while (!run.isCreated && !run.isStopAskedBeforeCreate) {
    failWhenOverdue(run);
    if (creating.notBeforeMs > 0) {
      await waitToTryAgain(run, creating);
      continue;
    }
    if (!(await passGate(run, creating.sinceMs))) continue;
    run.show('Creating', 'the service’s answer to the create', 'follow the task');
    const outcome = await attemptCreate(run, inputs);
    if (outcome.outcome !== 'notSent') run.state.createRequests += 1;
    switch (outcome.outcome) {
      case 'accepted':
        run.accept(outcome.requestId);
        break;
      case 'notSent':
        putOff(run, creating, `The create was not sent: ${outcome.reason}`);
        break;
      case 'rejected':
        if (!outcome.retryable) throw rejection(run, outcome);
        putOff(run, creating, `The service refused it for now: ${outcome.message}`, outcome.retryAfterMs);
        break;
      case 'uncertain':
        await resolveUncertain(run, outcome);
        break;
    }
  }
  // What nobody knows about an earlier create outlives the decision to send another, which the stop then prevented.
  const { doubt } = run.state;
  if (!run.isCreated && doubt !== undefined) throw stopUnconfirmed(doubt);
}

/** Nothing is paid for a task that is too late before it exists. */
function failWhenOverdue(run: TaskRun): void {
  const breach = breachedDeadline(run);
  if (breach === undefined) return;
  const created = run.state.doubt ?? `Nothing was created. ${run.state.problem ?? ''}`;
  throw taskFailure('DeadlineExceeded', `${breach} ${created}`.trim());
}

async function attemptCreate(run: TaskRun, inputs: PreparedInputs): Promise<CreateOutcome> {
  const { account, webAppId, suppressPreviewOutput } = run.plan;
  const input: CreateTaskInput = {
    account,
    ...whoseCreate(run),
    ...(run.archiveId !== undefined && { archiveId: run.archiveId }),
    webAppId: webAppId ?? 0,
    inputs,
    ...run.choices,
    ...(suppressPreviewOutput === null ? {} : { suppressPreviewOutput }),
  };
  try {
    return await activities.createTask.executeWithOptions(createOptions(run, `Create a task of app ${webAppId ?? 0}`), [
      input,
    ]);
  } catch (error) {
    if (finalFailureOf(error) !== undefined || !(error instanceof ActivityFailure)) throw error;
    const requestId = heartbeatRequestId(error);
    if (requestId !== undefined) return { outcome: 'accepted', requestId };
    return await outcomeOnRecord(run, `the worker gave no answer (${lastWordsOf(error)})`);
  }
}

/** What tells this create's record from those of others. */
function whoseCreate({ state, createDigest, inputDigest }: TaskRun): ReadCreateRecordInput {
  return {
    createNumber: state.createNumber,
    ...(createDigest !== undefined && { createDigest }),
    ...(inputDigest !== undefined && { inputDigest }),
  };
}

/** A worker that died between its heartbeat and Temporal may have left the request id in the create record. */
async function outcomeOnRecord(run: TaskRun, reason: string): Promise<CreateOutcome> {
  const options = callOptions(run, 'Read the create record', recordWithinMs);
  try {
    const record = await activities.readCreateRecord.executeWithOptions(options, [whoseCreate(run)]);
    if (record.requestId !== null) return { outcome: 'accepted', requestId: record.requestId };
    if (isNotSent(run, record)) return { outcome: 'notSent', reason: `${reason}; it had not begun to send it` };
    const progress = record.recorded
      ? 'was about to send the create, or had sent it'
      : 'had most likely not sent it yet';
    return { outcome: 'uncertain', reason: `${reason}; it ${progress}`, callbackAsked: record.callbackAsked };
  } catch (error) {
    if (finalFailureOf(error)?.type === failureTypes.InputChanged) throw error;
    // Whether a callback comes is not known either, so a policy waits as if one did.
    const words = `${reason}, and its create record cannot be read (${lastWordsOf(error)})`;
    return { outcome: 'uncertain', reason: words, callbackAsked: true };
  }
}

/**
 * Without a record in the one archive that every create is recorded in first, nothing was sent. Should the lost worker
 * come back, it finds the record of the next create, and sends nothing either.
 */
function isNotSent({ archiveId }: TaskRun, record: ReadCreateRecordResult): boolean {
  return !record.recorded && archiveId !== undefined && record.archiveId === archiveId;
}

/** A worker that died after the service had answered left the request id in its one heartbeat. */
function heartbeatRequestId(error: ActivityFailure): string | undefined {
  if (!(error.cause instanceof TimeoutFailure)) return undefined;
  const details: unknown = error.cause.lastHeartbeatDetails;
  const requestId =
    typeof details === 'object' && details !== null && 'requestId' in details ? details.requestId : undefined;
  return isRequestId(requestId) ? requestId : undefined;
}

function putOff(run: TaskRun, creating: CreateTries, problem: string, retryAfterMs = 0): void {
  const { createRetryMs, createRetryMaxMs } = run.plan.tuning;
  const pauseMs = Math.min(createRetryMaxMs, createRetryMs * 2 ** Math.min(creating.tries, 20));
  creating.tries += 1;
  creating.notBeforeMs = Date.now() + Math.max(retryAfterMs, pauseMs);
  run.state.problem = problem;
}

/** Waits on a durable timer; a stop ends the wait, and so does the task's deadline. */
async function waitToTryAgain(run: TaskRun, creating: CreateTries): Promise<void> {
  const delayMs = Math.max(1, Math.min(creating.notBeforeMs - Date.now(), untilTotalDeadlineMs(run)));
  run.show('Creating', `the next try in ${formatDuration(delayMs)}`, 'send the create again; nothing is paid so far');
  await waitBounded(run, () => run.isStopAskedBeforeCreate, {
    ms: delayMs,
    summary: 'before the create is sent again',
  });
  await continueWaiting(run);
  creating.notBeforeMs = 0;
}

function rejection(run: TaskRun, { message, httpStatus, code }: CreateRejected): Error {
  const doubt = run.state.doubt === undefined ? '' : ` Of an earlier create: ${run.state.doubt}`;
  const words = `The service rejected the task: ${message}${doubt}`;
  return taskFailure('TaskRejected', words, { httpStatus, code: code ?? null });
}
