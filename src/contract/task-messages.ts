import type { StopOutcome, StopVerb } from '../core/stop-request';
import type { LonghaulStatus } from '../core/task-state';
import { defineQuery, defineSignal, defineUpdate } from './message-definitions';
import type { AdoptDecision } from './task-input';

/** The service's `cancel`: applies before the create and while the task queues, and never becomes an interrupt. */
export const cancelSignal = defineSignal('cancel');

/** The service's `interrupt`: applies while the task runs, and is kept for then when it comes earlier. */
export const interruptSignal = defineSignal('interrupt');

/** What the callback receiver passes on of a callback; everything else stays outside the history. */
export interface CallbackNotice {
  readonly requestId: string;
  /**
   * Which create of the key it answers.
   *
   * @asType integer
   * @minimum 1
   */
  readonly createNumber: number;
  readonly status: string;
}

/** A callback came: the task is polled at once, and only the service is believed. */
export const callbackSignal = defineSignal<[CallbackNotice]>('callback');

/** What the task is doing. */
export const statusQuery = defineQuery<TaskStatus>('status');

/** The answer to a decision: what will happen now, in words. */
export interface DecisionTaken {
  readonly words: string;
}

/** Answers `CreateUncertain`: the task exists under this request id. */
export const adoptUpdate = defineUpdate<DecisionTaken, [AdoptDecision]>('adopt');

/** Answers `CreateUncertain`: create it again, and accept that it may be paid twice. */
export const recreateUpdate = defineUpdate<DecisionTaken>('recreate');

/** Answers `CreateUncertain` or `ArchiveIncomplete`: give up. */
export const abandonUpdate = defineUpdate<DecisionTaken>('abandon');

/** Answers `ArchiveIncomplete`: try again to archive what is missing. */
export const rearchiveUpdate = defineUpdate<DecisionTaken>('rearchive');

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
  /** ISO-8601: when the service said it last. Absent before the first answer, and from a worker of an older version. */
  readonly serviceStatusAt?: string;
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
  /** The last problem, if it still stands. */
  readonly problem: string | null;
  readonly stopRequests: readonly StopRequestView[];
}
