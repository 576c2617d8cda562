import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { WatchTaskInput, WatchTaskResult } from '../contract/activities';
import { waitOf } from '../domain/stop-request';
import { activities, watchOptions } from './activity-proxies';
import { waitBounded } from './continue-as-new';
import { countedFromMs } from './deadlines';
import { lastWordsOf } from './failures';
import type { NextSighting, Sighting } from './sighting';
import type { TaskRun } from './task-run';
import { lookSoon } from './watch-by-timer';

/**
 * The watch by one heartbeating activity, which comes back when there is something to do: a handful of events however
 * long the task runs. News ends it at once, and while a request to end the task is under way, timers take over.
 */
export function watchByActivity(run: TaskRun): NextSighting {
  return async () => {
    const wait = waitOf(run.state.stopRequests, run.serviceStatus, Date.now());
    if (run.hasNews || wait === 'clock') return await lookSoon(run);
    showWatching(run);
    const watched = await watchUntilNews(run, wait === 'change');
    if (watched === undefined) return await lookSoon(run);
    run.learn(watched.known, watched.sight);
    return sightingOf(watched);
  };
}

/** The workflow does not hear of the service's states while a worker watches, so it shows none. */
export function showWatching(run: TaskRun): void {
  run.show(
    'Watching',
    'the end of the task; the heartbeat of the pending activity watchTask tells its state',
    'archive the outputs when it succeeds',
  );
}

/** What the activity came back with; `undefined` when news came first, or when it could not watch. */
async function watchUntilNews(run: TaskRun, returnOnChange: boolean): Promise<WatchTaskResult | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  try {
    return await scope.run(() => {
      const watch = activities.watchTask.executeWithOptions(watchOptions(run), [watchInput(run, returnOnChange)]);
      return Promise.race([watch, waitBounded(run, () => run.hasNews).then(() => undefined)]);
    });
  } catch (error) {
    // Temporal tries again whatever goes wrong, until the task's total deadline has passed.
    if (!isCancellation(error)) run.state.problem = `The task could not be watched: ${lastWordsOf(error)}`;
    return undefined;
  } finally {
    scope.cancel();
  }
}

function watchInput(run: TaskRun, returnOnChange: boolean): WatchTaskInput {
  const { account, tuning, deadlinesMs } = run.plan;
  return {
    account,
    requestId: run.requestId,
    known: run.watched,
    poll: tuning.poll,
    notVisibleGraceMs: tuning.notVisibleGraceMs,
    deadlinesMs,
    startedAtMs: countedFromMs(run),
    acceptedAtMs: run.state.acceptedAtMs,
    returnOnChange,
  };
}

/** By the clock of the worker that watched: by another clock the same moment could be too early to act on. */
function sightingOf({ sight, isLost, deadline }: WatchTaskResult): Sighting {
  return { poll: sight, isLost, deadline: deadline ?? undefined };
}
