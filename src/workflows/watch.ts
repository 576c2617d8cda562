import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { PollResult } from '../contract/activities';
import type { CostTimes, TaskResult, Timestamps } from '../contract/task-result';
import { nextPollDelayMs } from '../domain/poll-cadence';
import { isTerminal, type TerminalStatus } from '../domain/task-state';
import { taskFailure } from './failures';
import { look } from './look';
import { sendDueVerb, superviseStop } from './stop';
import type { TaskRun, TaskRunInput } from './task-run';

/** How the task ended at the service. */
export interface TaskEnd {
  readonly status: TerminalStatus;
  readonly timestamps: Timestamps;
  readonly costTimes: CostTimes;
  readonly errorMessage: string | null;
}

/**
 * Step 3: follows the task to its end with durable timers of 1 to 3 s and one query each. A message (a callback, a
 * request to end it) is looked at at once. Failed queries never end the watch; what the service says last is the truth.
 */
export async function watchTask(run: TaskRun): Promise<TaskEnd> {
  await makeRequestIdKnown(run);
  for (;;) {
    run.hasNews = false;
    const poll = await look({ account: run.plan.account, requestId: run.requestId });
    run.observe(poll);
    if (poll.seen === 'task' && isTerminal(run.serviceStatus)) return endOf(run.serviceStatus, poll);
    failWhenLost(run, poll);
    showWatch(run);
    superviseStop(run);
    await sendDueVerb(run);
    await continueWhenLong(run);
    await condition(() => run.hasNews, delayMs(run), {
      summary: `next look; ${run.state.serviceStatus ?? 'not seen yet'}`,
    });
  }
}

/**
 * Waits a moment after the create, before the first query: a local activity holds back what the workflow shows until it
 * has ended, and whoever terminates the workflow meanwhile must find the request id. The task queues now (section 3).
 */
async function makeRequestIdKnown(run: TaskRun): Promise<void> {
  if (run.state.polls > 0 || run.plan.adoptRequestId !== null) return;
  run.show('Queuing', 'a free place at the service', 'the service prepares it');
  await condition(() => run.hasNews, run.plan.tuning.poll.minMs, { summary: 'before the first look' });
}

function endOf(status: TerminalStatus, poll: PollResult & { seen: 'task' }): TaskEnd {
  const { timestamps = {}, costTimes = {}, errorMessage } = poll;
  return { status, timestamps, costTimes, errorMessage: errorMessage ?? null };
}

/** "No such task" is "not visible yet" for a while, then it is lost. */
function failWhenLost(run: TaskRun, poll: PollResult): void {
  if (poll.seen === 'task') run.state.notFoundSinceMs = null;
  if (poll.seen !== 'notFound') return;
  run.state.notFoundSinceMs ??= Date.now();
  if (Date.now() - run.state.notFoundSinceMs < run.plan.tuning.notVisibleGraceMs) return;
  throw taskFailure('TaskNotFound', `The service does not know the task ${run.requestId}.`, {
    requestId: run.requestId,
  });
}

/** Shows the service's state; a word that Longhaul does not know is shown as `Running`'s neighbour, `Watching`. */
function showWatch(run: TaskRun): void {
  const isStopping = run.state.stopRequests.some(({ verb, outcome }) => {
    return (verb === 'stop' && outcome === 'waiting') || outcome === 'sent';
  });
  const { serviceStatus } = run;
  if (isStopping) run.show('Stopping', 'the service to confirm that the task ended', 'finish as canceled');
  else if (serviceStatus === 'Queuing') run.show('Queuing', 'a free place at the service', 'the service prepares it');
  else if (serviceStatus === 'Preparing') run.show('Preparing', 'the service to load its models', 'it runs');
  else if (serviceStatus === 'Running') run.show('Running', 'the end of the run', 'archive the outputs');
  else run.show('Watching', 'a state that Longhaul knows', 'archive the outputs when it succeeds');
}

function delayMs(run: TaskRun): number {
  const { state, plan } = run;
  if (state.stopRequests.some(({ outcome }) => outcome === 'sent')) return plan.tuning.poll.minMs;
  return nextPollDelayMs(
    {
      status: run.serviceStatus,
      queuePosition: state.queuePosition ?? undefined,
      inStateMs: Date.now() - state.serviceStatusSinceMs,
      dice: Math.random(),
    },
    plan.tuning.poll,
  );
}

/**
 * Hands over to a fresh run before the history grows large. Never after a cancellation request, since a run continued
 * then could no longer end as canceled; and not before every handler has finished.
 */
async function continueWhenLong(run: TaskRun): Promise<void> {
  const { historyLength, continueAsNewSuggested, memo = {} } = workflowInfo();
  const isLong = continueAsNewSuggested || historyLength >= run.plan.tuning.continueAsNewAfterEvents;
  if (!isLong || run.isCancellationRequested) return;
  await condition(allHandlersFinished);
  // By itself a new run gets the memo of the start, without what was put in since: the number of the last create.
  const goOn = makeContinueAsNewFunc<(input: TaskRunInput) => Promise<TaskResult>>({ memo });
  await goOn({ ...run.input, carried: run.state });
}
