import { log } from '@temporalio/workflow';
import {
  afterReading,
  afterVerb,
  nextVerb,
  openStopRequest,
  type StopVerb,
  type VerbAnswer,
} from '../../core/stop-request';
import { getServiceStatus, passedDeadline } from '../../core/task-state';
import { formatDuration } from '../../core/time';
import { activities, verbOptions } from '../activity-proxies';
import { failureMessage, taskFailure } from '../failures';
import { createdId, type TaskRun } from './task-run';

/** Deadlines exclude the time that the task waited for a decision. */
export function countedFromMs({ state }: TaskRun): number {
  return state.startedAtMs + state.parkedMs;
}

export function untilTotalDeadlineMs(run: TaskRun): number {
  return Math.max(0, countedFromMs(run) + run.plan.deadlinesMs.total - Date.now()) + 1;
}

export function breachedDeadline(run: TaskRun): string | undefined {
  const { deadlinesMs } = run.plan;
  const { acceptedAtMs, runningSinceMs } = run.state;
  const starts = { startedAtMs: countedFromMs(run), acceptedAtMs, runningSinceMs };
  const deadline = passedDeadline(starts, deadlinesMs, Date.now());
  if (deadline === undefined) return undefined;
  const duration = formatDuration(deadlinesMs[deadline]);
  const words = {
    total: `The task was not over ${duration} after its start`,
    run: `The task ran longer than ${duration}`,
    queue: `The task did not run within ${duration} after it was accepted`,
  };
  return `${words[deadline]} (deadlines.${deadline}).`;
}

/** `interrupt` is kept for when the task runs. */
export function isStoppedBeforeCreate({ state }: TaskRun): boolean {
  return state.stopRequests.some(({ verb }) => verb === 'stop' || verb === 'cancel');
}

export function askToStop({ state }: TaskRun, verb: StopVerb): void {
  if (state.stopRequests.some((request) => request.verb === verb)) return;
  log.info('stop requested', { verb, requestId: state.requestId });
  const opened = openStopRequest(verb, Date.now());
  // After the watch nothing reads the task's state again: a later request is marked as too late here.
  const request = state.requestId === null ? opened : afterReading(opened, getServiceStatus(state));
  state.stopRequests = [...state.stopRequests, request];
  state.isWokenUp = true;
}

/** A stop first sent after its time gets up to this long for an answer, for at most so many sends. */
const lateAnswerMs = 15_000;
const lateSends = 2;

/** Asks for a stop when a deadline has passed; gives up on one not confirmed in time. */
export function superviseStop(run: TaskRun): void {
  const { state, plan } = run;
  const stop = state.stopRequests.find(({ verb }) => verb === 'stop');
  if (stop === undefined) {
    const breach = breachedDeadline(run);
    if (breach === undefined) return;
    state.breachedDeadline = breach;
    askToStop(run, 'stop');
    return;
  }
  const nowMs = Date.now();
  const { stopGraceMs } = plan.tuning;
  if (nowMs - stop.askedAtMs < stopGraceMs) return;
  // While no worker ran, nothing could be sent, and a verb may apply only to the state read first.
  const isDue = stop.sends === 0 && nextVerb([stop], getServiceStatus(state), nowMs) !== undefined;
  const answerMs = Math.min(lateAnswerMs, stopGraceMs);
  const isJustSent = stop.sends <= lateSends && stop.lastSentAtMs !== null && nowMs - stop.lastSentAtMs < answerMs;
  if (isDue || isJustSent) return;
  const requestId = createdId(run);
  const { serviceStatus } = state;
  throw taskFailure(
    'StopUnconfirmed',
    `The task ${requestId} was asked to stop and is still ${serviceStatus ?? 'not visible'} after ${formatDuration(stopGraceMs)}. ${stop.words} It may still run and be paid.`,
    { requestId, serviceStatus },
  );
}

export async function sendDueVerb(run: TaskRun): Promise<void> {
  const { state, plan } = run;
  const due = nextVerb(state.stopRequests, getServiceStatus(state), Date.now());
  if (due === undefined) return;
  const { verb } = due;
  const requestId = createdId(run);
  const send = verb === 'cancel' ? activities.cancelTask : activities.interruptTask;
  const answer = await send
    .executeWithOptions(verbOptions(`${verb} the task`), [{ account: plan.account, requestId }])
    .catch((error: unknown): VerbAnswer => ({ taken: false, refused: false, words: failureMessage(error) }));
  log.info('verb sent', { verb, taken: answer.taken, requestId });
  const answered = afterVerb(due.request, verb, answer, Date.now());
  state.stopRequests = state.stopRequests.map((request) => (request === due.request ? answered : request));
}
