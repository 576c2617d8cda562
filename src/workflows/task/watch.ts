import { CancellationScope, isCancellation, metricMeter } from '@temporalio/workflow';
import type { PollResult, WatchTaskInput, WatchTaskResult } from '../../contract/activities';
import { metrics, record } from '../../contract/metrics';
import { isOpenRequest } from '../../contract/task-advice';
import { nextPollDelayMs, toPollSituation } from '../../core/poll-cadence';
import { getStopWait } from '../../core/stop-request';
import { asksOutputs, getServiceStatus, isLost, isTerminal } from '../../core/task-state';
import { markdownText } from '../../core/text';
import { activities, pollTask, watchOptions } from '../activity-proxies';
import { failureMessage, taskFailure } from '../failures';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { show } from './display';
import { countedFromMs, sendDueVerb, superviseStop, untilTotalDeadlineMs } from './stop';
import { applyPoll, createdId, type TaskEnd, type TaskRun, watchedTask } from './task-run';

/** A way to watch: comes back with what the next poll saw, which the task's state then tells as well. */
type NextObservation = () => Promise<PollResult>;

/** Between two reports of a state lie so many times the wait before the first. */
const tellPauses = 3.5;
/** A state that lasts for this part of that wait is reported; a shorter one is not. */
const settleParts = 6;
/** Temporal takes a summary of 400 bytes. */
const maxSummaryStatusLength = 80;

/** Step 3: follows the task to its end. A message causes a poll at once; failed queries never end the watch. */
export async function watchTask(run: TaskRun): Promise<TaskEnd> {
  const { state, plan } = run;
  const next = plan.watch === 'activity' ? watchByActivity(run) : watchByTimer(run);
  for (;;) {
    const poll = await next();
    const status = getServiceStatus(state);
    if (poll.seen === 'task' && isTerminal(status)) {
      const { timestamps = {}, costTimes = {}, cost = null, errorMessage = null } = poll;
      // From the end at the service until it was seen; both by clocks of their own.
      const endedMs = Date.parse(timestamps['endedAt']?.iso ?? '');
      if (!Number.isNaN(endedMs)) {
        record(metricMeter, metrics.endNotice, { watch: plan.watch }, (Date.now() - endedMs) / 1_000);
      }
      return { status, timestamps, costTimes, cost, errorMessage };
    }
    if (isLost(state, poll, plan.tuning.notVisibleGraceMs, Date.now())) throw lost(createdId(run), poll);
    showWatch(run);
    superviseStop(run);
    await sendDueVerb(run);
    await continueWhenLong(run);
  }
}

function lost(requestId: string, poll: PollResult): Error {
  if (poll.seen === 'gone') {
    const words = `The service has deleted the task ${requestId} and its results: ${poll.problem}`;
    return taskFailure('ResultLost', words, { requestId });
  }
  return taskFailure('TaskNotFound', `The service does not know the task ${requestId}.`, { requestId });
}

/** Shows the service's state; a word that Longhaul does not know is shown as `Watching`. */
function showWatch(run: TaskRun): void {
  const status = getServiceStatus(run.state);
  const isStopping = run.state.stopRequests.some((request) => {
    return request.outcome === 'sent' || (request.verb === 'stop' && isOpenRequest(request));
  });
  if (isStopping) show(run, 'Stopping', 'the service to confirm that the task ended', 'finish as canceled');
  else if (run.plan.watch === 'activity') showWatching(run);
  else if (status === 'Queuing') show(run, 'Queuing', 'a free place at the service', 'the service prepares it');
  else if (status === 'Preparing') show(run, 'Preparing', 'the service to load its models', 'it runs');
  else if (status === 'Running') show(run, 'Running', 'the end of the run', 'archive the outputs');
  else show(run, 'Watching', 'a state that Longhaul knows', 'archive the outputs when it succeeds');
}

/** While a worker watches, the workflow learns the service's state from time to time; before that it shows none. */
function showWatching(run: TaskRun): void {
  const { toldMs } = run.state;
  const status = getServiceStatus(run.state);
  const next = 'archive the outputs when it succeeds';
  const newer = 'the heartbeat of the pending activity watchTask tells its state';
  if (toldMs === undefined || status === undefined || isTerminal(status)) {
    show(run, 'Watching', `the end of the task; ${newer}`, next);
    return;
  }
  const asOf = `${status} as of ${new Date(toldMs).toISOString()}`;
  show(run, status, `the end of the task; ${asOf}, ${newer} now`, next);
}

/** The watch by durable timers: a pause that a message ends, then one poll, as a local activity. */
function watchByTimer(run: TaskRun): NextObservation {
  let pause = beforeFirstPoll;
  return async () => {
    await pause(run);
    pause = beforeNextPoll;
    return await pollNow(run);
  };
}

/**
 * A moment after the create: a local activity holds back what the workflow shows until it has ended, and a person who
 * terminates the workflow meanwhile needs the request id. The task queues now (section 3).
 */
async function beforeFirstPoll(run: TaskRun): Promise<void> {
  const { state, plan } = run;
  if (state.polls > 0 || plan.adoptRequestId !== null) return;
  show(run, 'Queuing', 'a free place at the service', 'the service prepares it');
  await waitBounded(run, () => state.isWokenUp, { ms: plan.tuning.poll.minMs, summary: 'before the first poll' });
}

/** A pause of 1 to 3 s, or none after a wake-up. */
async function beforeNextPoll(run: TaskRun): Promise<void> {
  const { state, plan } = run;
  const { poll } = plan.tuning;
  const seen = state.serviceStatus;
  const last = seen === null ? 'not seen yet' : `last seen as ${markdownText(seen, maxSummaryStatusLength)}`;
  const isStopSent = state.stopRequests.some(({ outcome }) => outcome === 'sent');
  const ms = isStopSent ? poll.minMs : nextPollDelayMs(toPollSituation(state, Date.now(), Math.random()), poll);
  await waitBounded(run, () => state.isWokenUp, { ms, summary: `before the next poll; ${last}` });
}

/** One query. It is always awaited: a local activity left behind when a run ends blocks the run. */
async function pollNow(run: TaskRun): Promise<PollResult> {
  const { state, plan } = run;
  state.isWokenUp = false;
  const poll = await pollTask({
    account: plan.account,
    requestId: createdId(run),
    webAppId: plan.webAppId,
    createNumber: state.createNumber,
    acceptedAtMs: state.acceptedAtMs,
    asksOutputs: asksOutputs(state) || undefined,
  }).catch((error: unknown): PollResult => {
    return { seen: 'nothing', problem: `The query for the task’s state failed: ${failureMessage(error)}` };
  });
  applyPoll(run, poll);
  return poll;
}

/** By one heartbeating activity, in a handful of events. While a request to end it is under way, timers take over. */
function watchByActivity(run: TaskRun): NextObservation {
  const { state } = run;
  return async () => {
    const wait = getStopWait(state.stopRequests, getServiceStatus(state), Date.now());
    if (!state.isWokenUp && wait !== 'clock') {
      showWatching(run);
      const watched = await watchUntilWakeUp(run, wait === 'change');
      if (watched !== undefined) {
        applyPoll(run, watched.pollResult, watched.known);
        if (watched.isTold === true) state.toldMs = Date.now();
        return watched.pollResult;
      }
    }
    await beforeNextPoll(run);
    return await pollNow(run);
  };
}

/** What the activity came back with; `undefined` when a wake-up came first, or when it could not watch. */
async function watchUntilWakeUp(run: TaskRun, returnOnChange: boolean): Promise<WatchTaskResult | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  try {
    return await scope.run(() => {
      const options = watchOptions(run.plan.tuning, untilTotalDeadlineMs(run));
      const watch = activities.watchTask.executeWithOptions(options, [watchInput(run, returnOnChange)]);
      return Promise.race([watch, waitBounded(run, () => run.state.isWokenUp).then(() => undefined)]);
    });
  } catch (error) {
    // Temporal tries again whatever goes wrong, until the task's total deadline has passed.
    if (!isCancellation(error)) run.state.problem = `The task could not be watched: ${failureMessage(error)}`;
    return undefined;
  } finally {
    scope.cancel();
  }
}

function watchInput(run: TaskRun, returnOnChange: boolean): WatchTaskInput {
  const { account, webAppId, tuning, deadlinesMs } = run.plan;
  const { createNumber, acceptedAtMs, startedAtMs, toldMs } = run.state;
  const { watchTellMs } = tuning;
  const firstTellMs = (acceptedAtMs ?? startedAtMs) + watchTellMs;
  return {
    account,
    webAppId,
    createNumber,
    requestId: createdId(run),
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
  };
}
