import type { PollResult } from '../contract/activities';
import { isTerminal, type TerminalStatus } from '../domain/task-state';
import type { TaskEnd } from './carried-state';
import { continueWhenLong } from './continue-as-new';
import { taskFailure } from './failures';
import { sendDueVerb, superviseStop } from './stop';
import type { TaskRun } from './task-run';
import { showWatching, watchByActivity } from './watch-by-activity';
import { watchByTimer } from './watch-by-timer';

/**
 * Step 3: follows the task to its end, by durable timers or by an activity. A message (a callback, a request to end it)
 * has the task looked at at once. Failed queries never end the watch; what the service says last is the truth.
 */
export async function watchTask(run: TaskRun): Promise<TaskEnd> {
  const next = run.plan.watch === 'activity' ? watchByActivity(run) : watchByTimer(run);
  for (;;) {
    const { poll, isLost, deadline } = await next();
    if (poll.seen === 'task' && isTerminal(run.serviceStatus)) return endOf(run.serviceStatus, poll);
    if (isLost) throw lost(run, poll);
    showWatch(run);
    superviseStop(run, deadline);
    await sendDueVerb(run);
    await continueWhenLong(run);
  }
}

function endOf(status: TerminalStatus, poll: PollResult & { seen: 'task' }): TaskEnd {
  const { timestamps = {}, costTimes = {}, errorMessage } = poll;
  return { status, timestamps, costTimes, errorMessage: errorMessage ?? null };
}

function lost({ requestId }: TaskRun, poll: PollResult): Error {
  if (poll.seen === 'gone') {
    const words = `The service has deleted the task ${requestId} and its results: ${poll.problem}`;
    return taskFailure('ResultLost', words, { requestId });
  }
  return taskFailure('TaskNotFound', `The service does not know the task ${requestId}.`, { requestId });
}

/** Shows the service's state; a word that Longhaul does not know is shown as `Running`'s neighbour, `Watching`. */
function showWatch(run: TaskRun): void {
  const isStopping = run.state.stopRequests.some(({ verb, outcome }) => {
    return (verb === 'stop' && outcome === 'waiting') || outcome === 'sent';
  });
  const { serviceStatus } = run;
  if (isStopping) run.show('Stopping', 'the service to confirm that the task ended', 'finish as canceled');
  else if (run.plan.watch === 'activity') showWatching(run);
  else if (serviceStatus === 'Queuing') run.show('Queuing', 'a free place at the service', 'the service prepares it');
  else if (serviceStatus === 'Preparing') run.show('Preparing', 'the service to load its models', 'it runs');
  else if (serviceStatus === 'Running') run.show('Running', 'the end of the run', 'archive the outputs');
  else run.show('Watching', 'a state that Longhaul knows', 'archive the outputs when it succeeds');
}
