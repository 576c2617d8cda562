import { formatDuration } from '../domain/duration';
import type { TaskRun } from './task-run';

/** How long until the task's total deadline has passed; time that it waited for a decision does not count. */
export function untilTotalDeadlineMs({ state, plan }: TaskRun): number {
  return Math.max(0, state.startedAtMs + state.parkedMs + plan.deadlinesMs.total - Date.now()) + 1;
}

/** What is left of the task's total deadline; at least a second, so that it can be an activity's timeout. */
export function remainingMs(run: TaskRun): number {
  return Math.max(1_000, untilTotalDeadlineMs(run));
}

/** The first deadline that has passed, in words; `undefined` while all of them hold. */
export function breachedDeadline(run: TaskRun): string | undefined {
  const { startedAtMs, parkedMs, acceptedAtMs, runningSinceMs } = run.state;
  const { total, queue, run: running } = run.plan.deadlinesMs;
  const nowMs = Date.now();
  if (nowMs - startedAtMs - parkedMs > total)
    return `The task was not over ${formatDuration(total)} after its start (deadlines.total).`;
  if (runningSinceMs !== null) {
    return nowMs - runningSinceMs > running
      ? `The task ran longer than ${formatDuration(running)} (deadlines.run).`
      : undefined;
  }
  return acceptedAtMs !== null && nowMs - acceptedAtMs > queue
    ? `The task did not run within ${formatDuration(queue)} after it was accepted (deadlines.queue).`
    : undefined;
}
