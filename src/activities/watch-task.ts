import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { PollResult, WatchHeartbeat, WatchTaskInput, WatchTaskResult } from '../contract/activities';
import { failureTypes, workerStopping } from '../contract/failure-types';
import { passedDeadline } from '../domain/passed-deadline';
import { isTerminal } from '../domain/task-state';
import { afterLook, isLost, serviceStatusOf, type WatchedTask } from '../domain/watched-task';
import type { Poller } from '../service/poller';
import { failedSight, sightOf } from './task-sight';

/** Of the heartbeat timeout: late enough to be cheap, early enough that a slow moment is not taken for a death. */
const beatShare = 2 / 3;
/** Another worker takes over this soon. */
const handOverMs = 100;
/** A worker with this account may still be on its way. */
const unknownAccountRetryMs = 10_000;

/**
 * Follows a task by the account's poller until it has ended, is lost, has passed a deadline, or has moved on while a
 * request waits for that. Heartbeats carry all that is known, so that any worker can go on where this one was; a second
 * run does no harm, for it only asks.
 */
export async function watchTask(pollers: ReadonlyMap<string, Poller>, input: WatchTaskInput): Promise<WatchTaskResult> {
  const poller = pollerOf(pollers, input.account);
  const context = Context.current();
  const { attempt, heartbeatTimeoutMs = 30_000 } = context.info;
  let known = knownIn(context.info.heartbeatDetails) ?? input.known;
  const beat = (): void => {
    context.heartbeat(heartbeatOf(known));
  };
  beat();
  const timer = setInterval(beat, heartbeatTimeoutMs * beatShare);
  let drop = (): void => undefined;
  try {
    return await new Promise<WatchTaskResult>((resolve, reject) => {
      const take = (sight: PollResult): void => {
        const before = known;
        known = afterLook(before, sight, Date.now());
        const result = { known, sight, ...findings(input, known, sight) };
        if (isReasonToReturn(input, before, result)) resolve(result);
        else if (known.serviceStatus !== before.serviceStatus) beat();
      };
      drop = poller.follow(
        {
          requestId: input.requestId,
          bounds: input.poll,
          situation: () => situationOf(known),
          onDetail: (detail) => {
            take(sightOf(detail));
          },
          onFailure: (error) => {
            take(failedSight(error));
          },
        },
        // A task that comes from another worker may have ended long ago; any other was seen or created just now.
        attempt > 1 ? 0 : input.poll.minMs,
      );
      context.cancelled.catch(reject);
    });
  } catch (error) {
    if (!isWorkerStopping(error)) throw error;
    beat();
    throw handOver();
  } finally {
    drop();
    clearInterval(timer);
  }
}

function pollerOf(pollers: ReadonlyMap<string, Poller>, account: string): Poller {
  const poller = pollers.get(account);
  if (poller !== undefined) return poller;
  throw ApplicationFailure.create({
    type: failureTypes.AccountUnknown,
    message: `The worker has no account "${account}", so it cannot watch the task; another worker may have it.`,
    nextRetryDelay: unknownAccountRetryMs,
  });
}

function findings(
  { notVisibleGraceMs, startedAtMs, acceptedAtMs, deadlinesMs }: WatchTaskInput,
  known: WatchedTask,
  sight: PollResult,
): Pick<WatchTaskResult, 'isLost' | 'deadline'> {
  const nowMs = Date.now();
  const starts = { startedAtMs, acceptedAtMs, runningSinceMs: known.runningSinceMs };
  return {
    isLost: isLost(known, sight, notVisibleGraceMs, nowMs),
    deadline: passedDeadline(starts, deadlinesMs, nowMs) ?? null,
  };
}

function isReasonToReturn(input: WatchTaskInput, before: WatchedTask, result: WatchTaskResult): boolean {
  const { known, sight } = result;
  const isOver = sight.seen === 'task' && isTerminal(serviceStatusOf(known));
  const hasMoved = known.serviceStatus !== before.serviceStatus;
  return isOver || result.isLost || result.deadline !== null || (input.returnOnChange && hasMoved);
}

function situationOf(known: WatchedTask): ReturnType<Parameters<Poller['follow']>[0]['situation']> {
  return {
    status: serviceStatusOf(known),
    queuePosition: known.queuePosition ?? undefined,
    inStateMs: Date.now() - known.serviceStatusSinceMs,
    failedInARow: known.failedInARow ?? 0,
  };
}

function heartbeatOf(known: WatchedTask): WatchHeartbeat {
  const { serviceStatus, serviceStatusSinceMs, polls, failedPolls } = known;
  const state =
    serviceStatus === null ? 'Not seen yet' : `${serviceStatus} since ${new Date(serviceStatusSinceMs).toISOString()}`;
  return { watched: `${state}; ${polls} queries, ${failedPolls} failed`, known };
}

/** What a former attempt left; another form than ours is as good as none. */
function knownIn(details: unknown): WatchedTask | undefined {
  if (typeof details !== 'object' || details === null || !('known' in details)) return undefined;
  return (details as WatchHeartbeat).known;
}

function isWorkerStopping(error: unknown): boolean {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/** Ends the attempt so that another worker goes on at once, from the last heartbeat; nothing has gone wrong. */
function handOver(): ApplicationFailure {
  return ApplicationFailure.create({
    type: workerStopping,
    message: 'The worker was told to stop; another one goes on with the watch.',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: handOverMs,
  });
}
