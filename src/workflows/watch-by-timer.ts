import { markdownText } from '../domain/plain-text';
import { nextPollDelayMs } from '../domain/poll-cadence';
import { isLost } from '../domain/watched-task';
import { waitBounded } from './continue-as-new';
import { deadlinePassedNow } from './deadlines';
import { look } from './look';
import type { NextSighting, Sighting } from './sighting';
import type { TaskRun } from './task-run';

/** Temporal takes a summary of 400 bytes. */
const maxSummaryStatusLength = 80;

/** The watch by durable timers: a pause that a message ends, then one look, as a local activity. */
export function watchByTimer(run: TaskRun): NextSighting {
  let pause = beforeFirstLook;
  return async () => {
    await pause(run);
    pause = beforeNextLook;
    return await lookNow(run);
  };
}

/** Looks at the task after a pause of 1 to 3 s, or at once when there is news. */
export async function lookSoon(run: TaskRun): Promise<Sighting> {
  await beforeNextLook(run);
  return await lookNow(run);
}

async function lookNow(run: TaskRun): Promise<Sighting> {
  run.hasNews = false;
  const poll = await look({ account: run.plan.account, requestId: run.requestId });
  run.observe(poll);
  return {
    poll,
    isLost: isLost(run.state, poll, run.plan.tuning.notVisibleGraceMs, Date.now()),
    deadline: deadlinePassedNow(run),
  };
}

/**
 * Waits a moment after the create, before the first query: a local activity holds back what the workflow shows until it
 * has ended, and whoever terminates the workflow meanwhile must find the request id. The task queues now (section 3).
 */
async function beforeFirstLook(run: TaskRun): Promise<void> {
  if (run.state.polls > 0 || run.plan.adoptRequestId !== null) return;
  run.show('Queuing', 'a free place at the service', 'the service prepares it');
  await waitBounded(run, () => run.hasNews, { ms: run.plan.tuning.poll.minMs, summary: 'before the first look' });
}

async function beforeNextLook(run: TaskRun): Promise<void> {
  const summary = `next look; ${markdownText(run.state.serviceStatus ?? 'not seen yet', maxSummaryStatusLength)}`;
  await waitBounded(run, () => run.hasNews, { ms: delayMs(run), summary });
}

function delayMs(run: TaskRun): number {
  const { state, plan } = run;
  if (state.stopRequests.some(({ outcome }) => outcome === 'sent')) return plan.tuning.poll.minMs;
  return nextPollDelayMs(
    {
      status: run.serviceStatus,
      queuePosition: state.queuePosition ?? undefined,
      inStateMs: Date.now() - state.serviceStatusSinceMs,
      failedInARow: state.failedInARow ?? 0,
      dice: Math.random(),
    },
    plan.tuning.poll,
  );
}
