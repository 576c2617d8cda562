import { log } from '@temporalio/workflow';
import { formatDuration } from '../../domain/time';
import type { DeadlineName } from '../../domain/task-state';
import { afterVerb, nextVerb, type StopRequest, type VerbAnswer, type VerbToSend } from '../../domain/stop-request';
import { activities, verbOptions } from '../activity-proxies';
import { formatBreach } from './deadlines';
import { failureMessage, taskFailure } from '../failures';
import type { TaskRun } from './task-run';

type StoppedTask = Pick<TaskRun, 'plan' | 'state' | 'requestId' | 'stops' | 'askToStop' | 'serviceStatus'>;

/** A stop that is sent only after its time gets so long, at most, for each of so many sends. */
const lateAnswerMs = 15_000;
const lateSends = 2;

/** Asks for a stop when a deadline has passed, and gives up on one that the service does not confirm in time. */
export function superviseStop(run: StoppedTask, deadline: DeadlineName | undefined): void {
  const { state, plan } = run;
  const stop = run.stops.list.find(({ verb }) => verb === 'stop');
  if (stop === undefined) {
    if (deadline === undefined) return;
    state.breachedDeadline = formatBreach(run, deadline);
    run.askToStop('stop');
    return;
  }
  if (Date.now() - stop.askedAtMs < plan.tuning.stopGraceMs || isSentLate(run, stop)) return;
  const waited = formatDuration(plan.tuning.stopGraceMs);
  throw taskFailure(
    'StopUnconfirmed',
    `The task ${run.requestId} was asked to stop and is still ${state.serviceStatus ?? 'not visible'} after ${waited}. ` +
      `${stop.words} It may still run and be paid.`,
    { requestId: run.requestId, serviceStatus: state.serviceStatus },
  );
}

/**
 * Whether a stop whose time is over is about to be sent for the first time, or was just now: while no worker ran, nothing
 * could be sent, and the state that is read first may be the first in which a verb applies.
 */
function isSentLate({ plan, serviceStatus }: StoppedTask, stop: StopRequest): boolean {
  const { sends, lastSentAtMs } = stop;
  const nowMs = Date.now();
  const isDue = sends === 0 && nextVerb([stop], serviceStatus, nowMs) !== undefined;
  const withinMs = Math.min(lateAnswerMs, plan.tuning.stopGraceMs);
  const isFresh = sends <= lateSends && lastSentAtMs !== null && nowMs - lastSentAtMs < withinMs;
  return isDue || isFresh;
}

/** Sends the verb that a request to end the task needs in the state just read; the watch then reads again. */
export async function sendDueVerb(run: Pick<TaskRun, 'plan' | 'requestId' | 'stops' | 'serviceStatus'>): Promise<void> {
  const due = nextVerb(run.stops.list, run.serviceStatus, Date.now());
  if (due === undefined) return;
  const answer = await send(run, due);
  log.info('verb sent', { verb: due.verb, taken: answer.taken, requestId: run.requestId });
  run.stops.replace(due.request, afterVerb(due.request, due.verb, answer, Date.now()));
}

async function send(
  { plan, requestId }: Pick<TaskRun, 'plan' | 'requestId'>,
  { verb }: VerbToSend,
): Promise<VerbAnswer> {
  const task = { account: plan.account, requestId };
  const options = verbOptions(`${verb} the task`);
  try {
    return verb === 'cancel'
      ? await activities.cancelTask.executeWithOptions(options, [task])
      : await activities.interruptTask.executeWithOptions(options, [task]);
  } catch (error) {
    return { taken: false, refused: false, words: failureMessage(error) };
  }
}
