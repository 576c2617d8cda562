/** A deadline of a task: from accepted to running, from running to the end, from the start to the end. */
export type DeadlineName = 'queue' | 'run' | 'total';

/** How long each may take. */
export type DeadlinesMs = Readonly<Record<DeadlineName, number>>;

/** From when a task's deadlines count. */
export interface DeadlineStarts {
  /** The start of the workflow, later by the time that the task waited for a decision. */
  readonly startedAtMs: number;
  /** Null before the service accepted the task. */
  readonly acceptedAtMs: number | null;
  /** Null before the task ran. */
  readonly runningSinceMs: number | null;
}

/** The first deadline that has passed; `undefined` while all of them hold. */
export function passedDeadline(starts: DeadlineStarts, limits: DeadlinesMs, nowMs: number): DeadlineName | undefined {
  const { startedAtMs, acceptedAtMs, runningSinceMs } = starts;
  if (nowMs - startedAtMs > limits.total) return 'total';
  if (runningSinceMs !== null) return nowMs - runningSinceMs > limits.run ? 'run' : undefined;
  return acceptedAtMs !== null && nowMs - acceptedAtMs > limits.queue ? 'queue' : undefined;
}
