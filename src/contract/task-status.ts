import type { StopOutcome, StopVerb } from '../domain/stop-request';
import type { LonghaulStatus } from '../domain/task-state';

/** One request to end the task, and what became of it, in words. */
export interface StopRequestView {
  readonly verb: StopVerb;
  readonly askedAt: string;
  readonly outcome: StopOutcome;
  readonly words: string;
}

/** Answer of the `status` query: everything an operator or a progress line needs. */
export interface TaskStatus {
  readonly workflowId: string;
  readonly status: LonghaulStatus;
  /** ISO-8601: since when. */
  readonly since: string;
  /** ISO-8601: when the workflow was first started. */
  readonly startedAt: string;
  readonly requestId: string | null;
  /** The service's own word, as last seen; null before the first answer. */
  readonly serviceStatus: string | null;
  /** Tasks ahead in the service's queue; null when the service does not say. */
  readonly queuePosition: number | null;
  /** Queries for the task's state so far, in all runs, and how many of them failed. */
  readonly polls: number;
  readonly failedPolls: number;
  /** How many times this workflow asked the service to create the task. */
  readonly createRequests: number;
  /** In words: what happens now, and what comes next. */
  readonly waitingFor: string;
  readonly nextStep: string;
  /** The last trouble, if it still stands. */
  readonly problem: string | null;
  readonly stopRequests: readonly StopRequestView[];
}
