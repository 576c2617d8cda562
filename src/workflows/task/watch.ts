import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { PolledTask, PollResult, WatchTaskInput, WatchTaskResult } from '../../contract/activities';
import { asksOutputs, isLost, isTerminal, type TerminalStatus } from '../../domain/task-state';
import { markdownText } from '../../domain/text';
import { nextPollDelayMs, toPollSituation } from '../../domain/poll-cadence';
import { getStopWait } from '../../domain/stop-request';
import { activities, pollTask, watchOptions } from '../activity-proxies';
import { countedFromMs, deadlinePassedNow, untilTotalDeadlineMs } from './deadlines';
import { failureMessage, taskFailure } from '../failures';
import { sendDueVerb, superviseStop } from './stop';
import { continueWhenLong, waitBounded } from './continue-as-new';
import { recordEndSeen } from './metrics';
import type { TaskEnd } from './continue-as-new-state';
import type { TaskRun } from './task-run';

/** What is shown of a watch, and what its pace depends on. */
type WatchedRun = Pick<TaskRun, 'plan' | 'state' | 'stops' | 'display' | 'serviceStatus'>;

/**
 * Step 3: follows the task to its end, by durable timers or by an activity. A message (a callback, a request to end it)
 * causes a poll at once. Failed queries never end the watch; what the service says last is the truth.
 */
export async function watchTask(run: TaskRun): Promise<TaskEnd> {
  const next = run.plan.watch === 'activity' ? watchByActivity(run) : watchByTimer(run);
  for (;;) {
    const poll = await next();
    if (poll.seen === 'task' && isTerminal(run.serviceStatus)) {
      const end = toTaskEnd(run.serviceStatus, poll);
      recordEndSeen(run, end);
      return end;
    }
    if (isLost(run.state, poll, run.plan.tuning.notVisibleGraceMs, Date.now())) throw lost(run, poll);
    showWatch(run);
    superviseStop(run, deadlinePassedNow(run));
    await sendDueVerb(run);
    await continueWhenLong(run);
  }
}

function toTaskEnd(status: TerminalStatus, poll: PollResult & { seen: 'task' }): TaskEnd {
  const { timestamps = {}, costTimes = {}, cost = null, errorMessage } = poll;
  return { status, timestamps, costTimes, cost, errorMessage: errorMessage ?? null };
}

function lost({ requestId }: Pick<TaskRun, 'requestId'>, poll: PollResult): Error {
  if (poll.seen === 'gone') {
    const words = `The service has deleted the task ${requestId} and its results: ${poll.problem}`;
    return taskFailure('ResultLost', words, { requestId });
  }
  return taskFailure('TaskNotFound', `The service does not know the task ${requestId}.`, { requestId });
}

/** Shows the service's state; a word that Longhaul does not know is shown as `Running`'s neighbour, `Watching`. */
function showWatch(run: WatchedRun): void {
  const isStopping = run.stops.list.some(({ verb, outcome }) => {
    return (verb === 'stop' && outcome === 'waiting') || outcome === 'sent';
  });
  const { serviceStatus } = run;
  if (isStopping) run.display.show('Stopping', 'the service to confirm that the task ended', 'finish as canceled');
  else if (run.plan.watch === 'activity') showWatching(run);
  else if (serviceStatus === 'Queuing')
    run.display.show('Queuing', 'a free place at the service', 'the service prepares it');
  else if (serviceStatus === 'Preparing') run.display.show('Preparing', 'the service to load its models', 'it runs');
  else if (serviceStatus === 'Running') run.display.show('Running', 'the end of the run', 'archive the outputs');
  else run.display.show('Watching', 'a state that Longhaul knows', 'archive the outputs when it succeeds');
}

/** A way to watch: comes back with what the next poll saw, which the task's state then tells as well. */
type NextObservation = () => Promise<PollResult>;

/** Between two reports of a state lie so many times the wait before the first. */
const tellPauses = 3.5;
/** A state that lasts for this part of that wait is reported; a shorter one is not. */
const settleParts = 6;
/** Temporal takes a summary of 400 bytes. */
const maxSummaryStatusLength = 80;

/** The watch by durable timers: a pause that a message ends, then one poll, as a local activity. */
function watchByTimer(run: TaskRun): NextObservation {
  let pause = beforeFirstPoll;
  return async () => {
    await pause(run);
    pause = beforeNextPoll;
    return await pollNow(run);
  };
}

/** Polls the task after a pause of 1 to 3 s, or at once after a wake-up. */
async function pollSoon(run: TaskRun): Promise<PollResult> {
  await beforeNextPoll(run);
  return await pollNow(run);
}

async function pollNow(run: TaskRun): Promise<PollResult> {
  run.isWokenUp = false;
  const { account, webAppId } = run.plan;
  const { createNumber, acceptedAtMs } = run.state;
  const poll = await pollOnce({
    account,
    requestId: run.requestId,
    webAppId,
    createNumber,
    acceptedAtMs,
    ...(asksOutputs(run.watched) && { asksOutputs: true }),
  });
  run.observe(poll);
  return poll;
}

/**
 * Waits a moment after the create, before the first query: a local activity holds back what the workflow shows until it
 * has ended, and a person who terminates the workflow meanwhile needs the request id. The task queues now (section 3).
 */
async function beforeFirstPoll(run: TaskRun): Promise<void> {
  if (run.state.polls > 0 || run.plan.adoptRequestId !== null) return;
  run.display.show('Queuing', 'a free place at the service', 'the service prepares it');
  await waitBounded(run, () => run.isWokenUp, { ms: run.plan.tuning.poll.minMs, summary: 'before the first poll' });
}

async function beforeNextPoll(run: TaskRun): Promise<void> {
  const summary = `before the next poll; ${lastSeen(run.state.serviceStatus)}`;
  await waitBounded(run, () => run.isWokenUp, { ms: delayMs(run), summary });
}

/** Of a task that the service has not shown yet, nothing. */
function lastSeen(status: string | null): string {
  return status === null ? 'not seen yet' : `last seen as ${markdownText(status, maxSummaryStatusLength)}`;
}

function delayMs({ state, plan, stops }: WatchedRun): number {
  const { poll } = plan.tuning;
  if (stops.list.some(({ outcome }) => outcome === 'sent')) return poll.minMs;
  return nextPollDelayMs(toPollSituation(state, Date.now(), Math.random()), poll);
}

/** One query. It is always awaited: a local activity left behind when a run ends blocks the run. */
async function pollOnce(task: PolledTask): Promise<PollResult> {
  try {
    return await pollTask(task);
  } catch (error) {
    return { seen: 'nothing', problem: `The query for the task’s state failed: ${failureMessage(error)}` };
  }
}

/**
 * The watch by one heartbeating activity, which comes back when there is something to do: a handful of events however
 * long the task runs. A message ends it at once, and while a request to end the task is under way, timers take over.
 */
function watchByActivity(run: TaskRun): NextObservation {
  return async () => {
    const wait = getStopWait(run.stops.list, run.serviceStatus, Date.now());
    if (run.isWokenUp || wait === 'clock') return await pollSoon(run);
    showWatching(run);
    const watched = await watchUntilWakeUp(run, wait === 'change');
    if (watched === undefined) return await pollSoon(run);
    run.apply(watched.known, watched.pollResult);
    if (watched.isTold === true) run.state.toldMs = Date.now();
    return watched.pollResult;
  };
}

/** While a worker watches, the workflow learns the service's state from time to time; before that it shows none. */
function showWatching({ display, state, serviceStatus }: Pick<TaskRun, 'display' | 'state' | 'serviceStatus'>): void {
  const next = 'archive the outputs when it succeeds';
  const newer = 'the heartbeat of the pending activity watchTask tells its state';
  if (state.toldMs === undefined || serviceStatus === undefined || isTerminal(serviceStatus)) {
    display.show('Watching', `the end of the task; ${newer}`, next);
    return;
  }
  const asOf = `${serviceStatus} as of ${new Date(state.toldMs).toISOString()}`;
  display.show(serviceStatus, `the end of the task; ${asOf}, ${newer} now`, next);
}

/** What the activity came back with; `undefined` when a wake-up came first, or when it could not watch. */
async function watchUntilWakeUp(run: TaskRun, returnOnChange: boolean): Promise<WatchTaskResult | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  try {
    return await scope.run(() => {
      const watch = activities.watchTask.executeWithOptions(watchOptions(run.plan.tuning, untilTotalDeadlineMs(run)), [
        watchInput(run, returnOnChange),
      ]);
      return Promise.race([watch, waitBounded(run, () => run.isWokenUp).then(() => undefined)]);
    });
  } catch (error) {
    // Temporal tries again whatever goes wrong, until the task's total deadline has passed.
    if (!isCancellation(error)) run.state.problem = `The task could not be watched: ${failureMessage(error)}`;
    return undefined;
  } finally {
    scope.cancel();
  }
}

function watchInput(
  run: Pick<TaskRun, 'plan' | 'state' | 'requestId' | 'watched'>,
  returnOnChange: boolean,
): WatchTaskInput {
  const { account, webAppId, tuning, deadlinesMs } = run.plan;
  return {
    account,
    webAppId,
    createNumber: run.state.createNumber,
    requestId: run.requestId,
    known: run.watched,
    poll: tuning.poll,
    notVisibleGraceMs: tuning.notVisibleGraceMs,
    deadlinesMs,
    startedAtMs: countedFromMs(run),
    acceptedAtMs: run.state.acceptedAtMs,
    returnOnChange,
    ...tellTimes(run),
  };
}

/**
 * When the activity may come back to tell a state: a minute after the create, and then so seldom that the seven events
 * of each time stay below two a minute.
 */
function tellTimes({ plan, state }: Pick<TaskRun, 'plan' | 'state'>): Pick<WatchTaskInput, 'tellFromMs' | 'settleMs'> {
  const { watchTellMs } = plan.tuning;
  const { toldMs, acceptedAtMs, startedAtMs } = state;
  const first = (acceptedAtMs ?? startedAtMs) + watchTellMs;
  const tellFromMs = toldMs === undefined ? first : toldMs + tellPauses * watchTellMs;
  return { tellFromMs, settleMs: Math.floor(watchTellMs / settleParts) };
}
