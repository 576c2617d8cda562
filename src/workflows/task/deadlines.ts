import { formatDuration } from '../../domain/time';
import { type DeadlineName, passedDeadline } from '../../domain/task-state';
import type { TaskRun } from './task-run';

/** From when the task's deadlines count; time that it waited for a decision does not. */
export function countedFromMs({ state }: TaskRun): number {
  return state.startedAtMs + state.parkedMs;
}

/** How long until the task's total deadline has passed. */
export function untilTotalDeadlineMs(run: TaskRun): number {
  return Math.max(0, countedFromMs(run) + run.plan.deadlinesMs.total - Date.now()) + 1;
}

/** What is left of the task's total deadline; at least a second, so that it can be an activity's timeout. */
export function remainingMs(run: TaskRun): number {
  return Math.max(1_000, untilTotalDeadlineMs(run));
}

/** The first deadline that has passed; `undefined` while all of them hold. */
export function deadlinePassedNow(run: TaskRun): DeadlineName | undefined {
  const { acceptedAtMs, runningSinceMs } = run.state;
  const starts = { startedAtMs: countedFromMs(run), acceptedAtMs, runningSinceMs };
  return passedDeadline(starts, run.plan.deadlinesMs, Date.now());
}

/** The first deadline that has passed, in words. */
export function breachedDeadline(run: TaskRun): string | undefined {
  const deadline = deadlinePassedNow(run);
  return deadline === undefined ? undefined : formatBreach(run, deadline);
}

/** What it means that this deadline has passed. */
export function formatBreach({ plan: { deadlinesMs } }: TaskRun, deadline: DeadlineName): string {
  const duration = formatDuration(deadlinesMs[deadline]);
  switch (deadline) {
    case 'total':
      return `The task was not over ${duration} after its start (deadlines.total).`;
    case 'run':
      return `The task ran longer than ${duration} (deadlines.run).`;
    case 'queue':
      return `The task did not run within ${duration} after it was accepted (deadlines.queue).`;
  }
}
