import { CancellationScope, isCancellation, metricMeter } from '@temporalio/workflow';
import type { PollResult, WatchTaskInput, WatchTaskResult } from '../../contract/activities';
import { metrics, record } from '../../contract/metrics';
import { isOpenRequest } from '../../contract/task-advice';
import { nextPollDelayMs, toPollSituation, watchHeartbeats } from '../../core/poll-cadence';
import { getStopWait } from '../../core/stop-request';
import { asksOutputs, getServiceStatus, isLost, isTerminal, untilDeadlineMs } from '../../core/task-state';
import { markdownText } from '../../core/text';
import { activities, pollTask, watchOptions } from '../activity-proxies';
import { failureMessage, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { show } from './display';
import { countedFromMs, sendDueVerb, superviseStop, untilTotalDeadlineMs } from './stop';
import { applyPoll, archivePlan, createdId, type TaskEnd, type TaskRun, watchedTask } from './task-run';

/** Between two reports of a state lie so many times the wait before the first. */
const tellPauses = 3.5;
/** A state that lasts for this part of that wait is reported; a shorter one is not. */
const settleParts = 6;
/** Temporal takes a summary of 400 bytes. */
const maxSummaryStatusLength = 80;

/** Step 3: follows the task to its end. A message causes a poll at once; failed queries never end the watch. */
export async function watchTask(run: TaskRun): Promise<TaskEnd> {
  const { state, plan } = run;
  for (let isFirst = true; ; isFirst = false) {
    const watched = await watchByActivity(run);
    const poll = watched?.pollResult ?? (await pollAfterPause(run, isFirst));
    const status = getServiceStatus(state);
    if (poll.seen === 'task' && isTerminal(status)) {
      const { timestamps = {}, costTimes = {}, cost = null, errorMessage = null } = poll;
      const endedMs = Date.parse(timestamps['endedAt']?.iso ?? '');
      if (!Number.isNaN(endedMs)) {
        const noticedMs = state.serviceStatusAtMs ?? Date.now();
        record(metricMeter, metrics.endNotice, { watch: plan.watch }, (noticedMs - endedMs) / 1_000);
      }
      return { status, timestamps, costTimes, cost, errorMessage, archived: watched?.archived };
    }
    if (isLost(state, poll, plan.tuning.notVisibleGraceMs, Date.now())) throw lost(createdId(run), poll);
    showWatch(run);
    superviseStop(run);
    await sendDueVerb(run);
    await continueWhenLong(run);
  }
}

function lost(requestId: string, poll: PollResult): Error {
  if (poll.seen !== 'gone') {
    return taskFailure('TaskNotFound', `The service does not know the task ${requestId}.`, { requestId });
  }
  const words = `The service has deleted the task ${requestId} and its results: ${poll.problem}`;
  return taskFailure('ResultLost', words, { requestId });
}

/** Shows the service's state; a word that Longhaul does not know is shown as `Watching`. */
function showWatch(run: TaskRun): void {
  const { state, plan } = run;
  const status = getServiceStatus(state);
  const isStopping = state.stopRequests.some((request) => {
    return request.outcome === 'sent' || (request.verb === 'stop' && isOpenRequest(request));
  });
  if (isStopping) show(run, 'Stopping', 'the service to confirm that the task ended', 'finish as canceled');
  else if (plan.watch === 'activity') showWatchByActivity(run);
  else if (status === 'Queuing') show(run, 'Queuing', 'a free place at the service', 'the service prepares it');
  else if (status === 'Preparing') show(run, 'Preparing', 'the service to load its models', 'it runs');
  else if (status === 'Running') show(run, 'Running', 'the end of the run', 'archive the outputs');
  else show(run, 'Watching', 'a state that Longhaul knows', 'archive the outputs when it succeeds');
}

/** While a worker watches, the workflow learns the service's state from time to time; before that it shows none. */
function showWatchByActivity(run: TaskRun): void {
  const { toldMs } = run.state;
  const status = getServiceStatus(run.state);
  const isTold = toldMs !== undefined && status !== undefined && !isTerminal(status);
  const newer = 'the heartbeat of the pending activity watchTask tells its state';
  const waitingFor = isTold
    ? `the end of the task; ${status} as of ${new Date(toldMs).toISOString()}, ${newer} now`
    : `the end of the task; ${newer}`;
  show(run, isTold ? status : 'Watching', waitingFor, 'archive the outputs when it succeeds');
}

/** The watch by durable timers: a pause that a message ends, then one query, which tells the task's state as well. */
async function pollAfterPause(run: TaskRun, isFirst: boolean): Promise<PollResult> {
  const { state, plan } = run;
  const { poll } = plan.tuning;
  if (!isFirst || plan.watch === 'activity') {
    const seen = state.serviceStatus;
    const last = seen === null ? 'not seen yet' : `last seen as ${markdownText(seen, maxSummaryStatusLength)}`;
    const isStopSent = state.stopRequests.some(({ outcome }) => outcome === 'sent');
    const usualMs = nextPollDelayMs(toPollSituation(state, Date.now(), Math.random()), poll);
    const starts = { ...state, startedAtMs: countedFromMs(run) };
    const ms = isStopSent ? poll.minMs : Math.min(usualMs, untilDeadlineMs(starts, plan.deadlinesMs, Date.now()));
    await waitBounded(run, () => state.isWokenUp, { ms, summary: `before the next poll; ${last}` });
  } else if (state.polls === 0 && plan.adoptRequestId === null) {
    // A local activity holds back what the workflow shows until it has ended, and a person who terminates the workflow
    // meanwhile needs the request id.
    show(run, 'Queuing', 'a free place at the service', 'the service prepares it');
    await waitBounded(run, () => state.isWokenUp, { ms: poll.minMs, summary: 'before the first poll' });
  }
  state.isWokenUp = false;
  // It is always awaited: a local activity left behind when a run ends blocks the run.
  const polled = await pollTask({
    account: plan.account,
    requestId: createdId(run),
    webAppId: plan.webAppId,
    createNumber: state.createNumber,
    acceptedAtMs: state.acceptedAtMs,
    callback: callbackOf(run),
    asksOutputs: asksOutputs(state) || undefined,
  }).catch((error: unknown): PollResult => {
    return { seen: 'nothing', problem: `The query for the task’s state failed: ${failureMessage(error)}` };
  });
  applyPoll(run, polled);
  return polled;
}

/**
 * The watch by one heartbeating activity, in a handful of events. Undefined where timers take over: while a request to end
 * the task is under way, after a wake-up, and when the activity could not watch.
 */
async function watchByActivity(run: TaskRun): Promise<WatchTaskResult | undefined> {
  const { state, plan } = run;
  if (plan.watch !== 'activity') return undefined;
  const wait = getStopWait(state.stopRequests, getServiceStatus(state), Date.now());
  if (state.isWokenUp || wait === 'clock') return undefined;
  showWatchByActivity(run);
  const scope = new CancellationScope({ cancellable: true });
  let watched: WatchTaskResult | undefined;
  try {
    watched = await scope.run(() => {
      const { watchHeartbeatMs } = plan.tuning;
      const { timeoutMs, anewFromMs } = watchHeartbeats(watchHeartbeatMs, acceptedMs(run), Date.now());
      const options = watchOptions(plan.tuning, timeoutMs, untilTotalDeadlineMs(run));
      const input = { ...watchInput(run, wait === 'change'), anewFromMs };
      const watch = activities.watchTask.executeWithOptions(options, [input]);
      return Promise.race([watch, waitBounded(run, () => state.isWokenUp).then(() => undefined)]);
    });
  } catch (error) {
    // Temporal tries again whatever goes wrong, until the task's total deadline has passed.
    if (!isCancellation(error)) state.problem = `The task could not be watched: ${failureMessage(error)}`;
  } finally {
    scope.cancel();
  }
  if (watched === undefined) return undefined;
  applyPoll(run, watched.pollResult, watched.known);
  if (watched.isTold === true) state.toldMs = Date.now();
  return watched;
}

/** A callback tells ends alone, so a request that waits for another state has the task polled as usual. */
function callbackOf({ state }: TaskRun): TaskRun['state']['callback'] {
  return state.stopRequests.some(isOpenRequest) ? undefined : state.callback;
}

function acceptedMs({ state }: TaskRun): number {
  return state.acceptedAtMs ?? state.startedAtMs;
}

function watchInput(run: TaskRun, returnOnChange: boolean): WatchTaskInput {
  const { account, webAppId, tuning, deadlinesMs } = run.plan;
  const { createNumber, acceptedAtMs, toldMs } = run.state;
  const { watchTellMs } = tuning;
  const firstTellMs = acceptedMs(run) + watchTellMs;
  return {
    account,
    webAppId,
    createNumber,
    requestId: createdId(run),
    callback: callbackOf(run),
    known: watchedTask(run),
    poll: tuning.poll,
    notVisibleGraceMs: tuning.notVisibleGraceMs,
    deadlinesMs,
    startedAtMs: countedFromMs(run),
    acceptedAtMs,
    returnOnChange,
    // A minute after the create, and then so seldom that the seven events of each time stay below two a minute.
    tellFromMs: toldMs === undefined ? firstTellMs : toldMs + tellPauses * watchTellMs,
    settleMs: Math.floor(watchTellMs / settleParts),
    archive: archivePlan(run),
  };
}
