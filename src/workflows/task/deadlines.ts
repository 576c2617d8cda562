import { formatDuration } from '../../domain/time';
import { type DeadlineName, passedDeadline } from '../../domain/task-state';
import type { TaskPlan } from '../../contract/parse-task-input';
import type { ContinueAsNewState } from './continue-as-new-state';

/** What the deadlines of a task depend on. */
interface Timed {
  readonly plan: Pick<TaskPlan, 'deadlinesMs'>;
  readonly state: Pick<ContinueAsNewState, 'startedAtMs' | 'parkedMs' | 'acceptedAtMs' | 'runningSinceMs'>;
}

/** From when the task's deadlines count; time that it waited for a decision does not. */
export function countedFromMs({ state }: Pick<Timed, 'state'>): number {
  return state.startedAtMs + state.parkedMs;
}

/** How long until the task's total deadline has passed. */
export function untilTotalDeadlineMs(task: Timed): number {
  return Math.max(0, countedFromMs(task) + task.plan.deadlinesMs.total - Date.now()) + 1;
}

/** What is left of the task's total deadline; at least a second, so that it can be an activity's timeout. */
export function remainingMs(task: Timed): number {
  return Math.max(1_000, untilTotalDeadlineMs(task));
}

/** The first deadline that has passed; `undefined` while all of them hold. */
export function deadlinePassedNow(task: Timed): DeadlineName | undefined {
  const { acceptedAtMs, runningSinceMs } = task.state;
  const starts = { startedAtMs: countedFromMs(task), acceptedAtMs, runningSinceMs };
  return passedDeadline(starts, task.plan.deadlinesMs, Date.now());
}

/** The first deadline that has passed, in words. */
export function breachedDeadline(task: Timed): string | undefined {
  const deadline = deadlinePassedNow(task);
  return deadline === undefined ? undefined : formatBreach(task, deadline);
}

/** What it means that this deadline has passed. */
export function formatBreach({ plan: { deadlinesMs } }: Pick<Timed, 'plan'>, deadline: DeadlineName): string {
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
