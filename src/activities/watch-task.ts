import { Context, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type {
  ArchiveOutputsInput,
  ArchiveOutputsResult,
  PollResult,
  WatchHeartbeat,
  WatchTaskInput,
  WatchTaskResult,
} from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import { longestTimerMs } from '../core/option-rules';
import { nextPollDelayMs, toPollSituation } from '../core/poll-cadence';
import {
  afterPoll,
  afterQuery,
  asksOutputs,
  type FailingQueries,
  getServiceStatus,
  isLost,
  isTerminal,
  parseServiceStatus,
  passedDeadline,
  untilDeadlineMs,
  type WatchedTask,
} from '../core/task-state';
import { errorMessage } from '../core/text';
import type { ServiceClient, TaskDetail } from '../service';
import type { CallbackNews, PollLimiter } from '../service/account-gate';
import { stateByOutputs } from '../service/task-wait';
import type { AccountDependencies } from './accounts';
import { temporalClock } from './clock';
import type { ActivityTraces } from './dependencies';
import type { ArchiveAttempt } from './archive-outputs';
import { confirmHeartbeat, handOver, isWorkerStopping } from './heartbeat';
import { countPoll } from './metrics';
import { type EndRecords, isEnd, recordEnd, toFailedPoll, toPricedResult, withCallbacks } from './poll-task';

/** Of the heartbeat timeout: late enough to be cheap, early enough that a slow moment is not taken for a death. */
const heartbeatShare = 2 / 3;
/** A new state is reported this much later: a heartbeat is charged, and most short tasks have ended by then. */
const heartbeatDelayMs = 3_000;
/** A worker with this account may still be on its way. */
const unknownAccountRetryMs = 10_000;
const timeoutMs = 3_500;
/** How long a query may wait for its place, in the order of the queries; for one further off the task comes again. */
const patienceMs = 10_000;
const recordMs = 5_000;
/** An archive that takes longer gets a slot, retries and decisions of its own. */
const atOnceMs = 60_000;
const fenceMs = 1_000;

export interface WatchDependencies extends EndRecords, Pick<AccountDependencies, 'keySettings'> {
  readonly services: ReadonlyMap<string, Pick<ServiceClient, 'getTask' | 'getOutputs'>>;
  readonly limits: ReadonlyMap<string, { readonly polls: PollLimiter; readonly callbacks?: CallbackNews }>;
  /** Archives at once. Absent, or undefined: no slot is free for it. */
  readonly archiveAtOnce?: (
    input: ArchiveOutputsInput,
    attempt: ArchiveAttempt,
  ) => Promise<ArchiveOutputsResult | undefined>;
  /** Where callbacks come, the workflow may know the end first, and archive already. Absent: none come. */
  readonly callback?: object;
  /** Absent: nothing is traced. */
  readonly traces?: Pick<ActivityTraces, 'event'>;
}

/**
 * Polls a task until it has ended, is lost, has passed a deadline, or has moved on while a request waits for that.
 * Heartbeats carry all that is known, so that any worker can go on where this one was; a second run does no harm, for it
 * only asks.
 */
export async function watchTask(dependencies: WatchDependencies, input: WatchTaskInput): Promise<WatchTaskResult> {
  const now = temporalClock();
  const poll = createPoll(dependencies, input);
  const context = Context.current();
  const { cancellationSignal: signal } = context;
  const { attempt } = context.info;
  let { known = input.known, failing } = heartbeatIn(context.info.heartbeatDetails);
  let progress = (): object => ({});
  const details = (): object => ({ ...toHeartbeat(known, failing), ...progress() });
  const heartbeats = new Heartbeats(context, details);
  let pause: NodeJS.Timeout | undefined;
  const untilReasonToReturn = async (): Promise<WatchTaskResult> => {
    // A task that comes from another worker may have ended long ago; any other was seen or created just now.
    let delayMs = attempt > 1 ? 0 : input.poll.minMs;
    for (;;) {
      await new Promise((resolve) => {
        pause = setTimeout(resolve, Math.min(delayMs, longestTimerMs));
      });
      const pollResult = await poll(signal, known);
      signal.throwIfAborted();
      const before = known;
      const nowMs = now();
      known = afterPoll(before, pollResult, nowMs);
      failing = afterQuery(failing, pollResult, nowMs);
      if (dependencies.traces !== undefined) traceState(dependencies.traces, before, known);
      if (isReasonToReturn(input, before, known, pollResult, nowMs)) {
        const isRecorded = await recordEnd(dependencies, input, pollResult, recordMs);
        const fence = (): Promise<void> => confirmHeartbeat(context, details(), fenceMs);
        const isOurs = await isEndOurs(dependencies, input, pollResult, fence);
        // What a lost attempt may have begun may be what ends workers.
        if (attempt > 1 || !isOurs) return { known, pollResult };
        const onStart = (ofFetch: () => object): void => {
          progress = ofFetch;
          heartbeats.sendSoon();
        };
        const archiving = { now, signal, isRecorded, onStart };
        const archived = await archiveAtOnce(dependencies, input, pollResult, archiving);
        return { known, pollResult, archived };
      }
      if (isWorthTelling(input, known, nowMs)) return { known, pollResult, isTold: true };
      if (known.serviceStatus !== before.serviceStatus) heartbeats.sendSoon();
      const untilMs = untilDeadlineMs({ ...input, runningSinceMs: known.runningSinceMs }, input.deadlinesMs, nowMs);
      delayMs = Math.min(untilMs, nextPollDelayMs(toPollSituation(known, nowMs, Math.random()), input.poll));
    }
  };
  try {
    // A cancellation ends the watch at once; the answer to a query on its way is waited for by the client alone.
    return await Promise.race([untilReasonToReturn(), context.cancelled]);
  } catch (error) {
    if (!isWorkerStopping(error)) throw error;
    heartbeats.send();
    throw handOver('The worker shuts down; another one goes on with the watch.');
  } finally {
    heartbeats.stop();
    clearTimeout(pause);
  }
}

/** Where callbacks come, the workflow may know the end first; an end that none told says that they do not come. */
async function isEndOurs(
  { callback, limits }: WatchDependencies,
  input: WatchTaskInput,
  poll: PollResult,
  fence: () => Promise<void>,
): Promise<boolean> {
  if (callback === undefined || !isEnd(poll)) return true;
  try {
    await fence();
  } catch {
    return false;
  }
  if (input.callback !== undefined) limits.get(input.account)?.callbacks?.ended(input.callback === 'came');
  return true;
}

/** Of a watch: regularly, and soon after a change. */
class Heartbeats {
  readonly #context: Context;
  readonly #details: () => object;
  readonly #everyMs: number;
  readonly #timer: NodeJS.Timeout;
  #soon: NodeJS.Timeout | undefined;

  constructor(context: Context, details: () => object) {
    this.#context = context;
    this.#details = details;
    this.#everyMs = (context.info.heartbeatTimeoutMs ?? 30_000) * heartbeatShare;
    this.#timer = setInterval(() => {
      this.send();
    }, this.#everyMs);
  }

  send(): void {
    this.#context.heartbeat(this.#details());
  }

  sendSoon(): void {
    this.#soon ??= setTimeout(
      () => {
        this.#soon = undefined;
        this.send();
      },
      Math.min(heartbeatDelayMs, this.#everyMs),
    );
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
  }
}

/**
 * The outputs of a task that has succeeded. Whatever goes wrong or takes long is left to an archive of its own, which is
 * tried again, and which a person can have tried again or give up.
 */
async function archiveAtOnce(
  dependencies: WatchDependencies,
  { account, requestId, webAppId, archive, startedAtMs, deadlinesMs }: WatchTaskInput,
  poll: PollResult,
  attempt: ArchiveAttempt,
): Promise<ArchiveOutputsResult | undefined> {
  const { archiveAtOnce: archiveIn } = dependencies;
  if (archive === undefined || archiveIn === undefined || poll.seen !== 'task') return undefined;
  if (parseServiceStatus(poll.status) !== 'Success') return undefined;
  // Were the watch cut off by the total deadline, another query would have to find the end once more.
  if (startedAtMs + deadlinesMs.total - attempt.now() < 2 * atOnceMs) return undefined;
  const { timestamps = {}, costTimes = {}, cost = null } = poll;
  const end = { status: 'Success', timestamps, costTimes, cost, errorMessage: poll.errorMessage ?? null } as const;
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(atOnceMs)]);
  try {
    return await archiveIn(
      { ...archive, account, requestId, webAppId: webAppId ?? null, ...end },
      { ...attempt, signal },
    );
  } catch (error) {
    log.debug('left to an archive of its own', { requestId, reason: errorMessage(error) });
    return undefined;
  }
}

/** How the task is asked about, within the limits of its account. A query that failed is data: it never ends the watch. */
function createPoll(
  dependencies: WatchDependencies,
  task: WatchTaskInput,
): (signal: AbortSignal, known: WatchedTask) => Promise<PollResult> {
  const { account, requestId } = task;
  const service = dependencies.services.get(account);
  const { polls, callbacks } = dependencies.limits.get(account) ?? {};
  if (service === undefined || polls === undefined) {
    throw ApplicationFailure.create({
      type: failureTypes.AccountUnknown,
      message: `The worker has no account "${account}", so it cannot watch the task; another worker may have it.`,
      nextRetryDelay: unknownAccountRetryMs,
    });
  }
  return async (signal, known) => {
    const query = async (): Promise<TaskDetail> => {
      const detail = await service.getTask(requestId, { timeoutMs });
      return asksOutputs(known) ? await stateByOutputs(service, requestId, detail, { timeoutMs }) : detail;
    };
    let pollResult: PollResult;
    try {
      const detail = await polls.runInLine(query, patienceMs, { task: requestId, signal });
      const seen = await toPricedResult(dependencies, detail, task, recordMs);
      pollResult = callbacks === undefined ? seen : withCallbacks(seen, task, callbacks);
    } catch (error) {
      pollResult = toFailedPoll(dependencies, account, error);
    }
    countPoll(account, pollResult);
    return pollResult;
  };
}

/** An event for each change, and for the first of several queries that fail: a watch makes thousands. */
function traceState(traces: Pick<ActivityTraces, 'event'>, before: WatchedTask, known: WatchedTask): void {
  if (known.serviceStatus !== before.serviceStatus && known.serviceStatus !== null) traces.event(known.serviceStatus);
  if (known.failedPolls > before.failedPolls && before.failedInARow === 0) traces.event('query failed');
}

/** The task has ended, is lost or has passed a deadline, as the workflow will find, too; or it has moved on. */
function isReasonToReturn(
  { notVisibleGraceMs, startedAtMs, acceptedAtMs, deadlinesMs, returnOnChange }: WatchTaskInput,
  before: WatchedTask,
  known: WatchedTask,
  pollResult: PollResult,
  nowMs: number,
): boolean {
  if (pollResult.seen === 'task' && isTerminal(getServiceStatus(known))) return true;
  if (isLost(known, pollResult, notVisibleGraceMs, nowMs)) return true;
  const starts = { startedAtMs, acceptedAtMs, runningSinceMs: known.runningSinceMs };
  if (passedDeadline(starts, deadlinesMs, nowMs) !== undefined) return true;
  return returnOnChange && known.serviceStatus !== before.serviceStatus;
}

/** A state that the workflow does not know, for long enough: what passes in seconds is not worth its events. */
function isWorthTelling(input: WatchTaskInput, known: WatchedTask, nowMs: number): boolean {
  const { known: first, tellFromMs, settleMs = 0, anewFromMs } = input;
  // Since when queries fail is told by heartbeats of one activity alone, and a query that was held back tells nothing new.
  const isSeenNow = known.failedInARow === 0 && known.turnInMs === undefined;
  if (anewFromMs !== undefined && nowMs >= anewFromMs && isSeenNow) return true;
  if (tellFromMs === undefined || nowMs < tellFromMs || known.serviceStatus === first.serviceStatus) return false;
  return known.serviceStatus !== null && nowMs - known.serviceStatusSinceMs >= settleMs;
}

function toHeartbeat(known: WatchedTask, failing: FailingQueries | undefined): WatchHeartbeat {
  const { serviceStatus, serviceStatusSinceMs, polls, failedPolls } = known;
  const state =
    serviceStatus === null ? 'Not seen yet' : `${serviceStatus} since ${new Date(serviceStatusSinceMs).toISOString()}`;
  return { watched: `${state}; ${polls} queries, ${failedPolls} failed`, known, failing };
}

/** What a previous attempt left; another form than ours is as good as none. */
function heartbeatIn(details: unknown): { known?: WatchedTask; failing?: FailingQueries } {
  if (typeof details !== 'object' || details === null || !('known' in details)) return {};
  return details as WatchHeartbeat;
}
