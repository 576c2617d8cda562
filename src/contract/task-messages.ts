import * as v from 'valibot';
import type { StopOutcome, StopVerb } from '../core/stop-request';
import type { LonghaulStatus } from '../core/task-state';
import { defineQuery, defineSignal, defineUpdate } from './message-definitions';
import type { AdoptDecision } from './task-input';
import { problemSchema } from './problem';
import { listOf, moment, wholeNumber, wordOf } from './schema';

/** The service's `cancel`: applies before the create and while the task queues, and never becomes an interrupt. */
export const cancelSignal = defineSignal('cancel');

/** The service's `interrupt`: applies while the task runs, and is kept for then when it comes earlier. */
export const interruptSignal = defineSignal('interrupt');

/** What the callback receiver passes on of a callback; everything else stays outside the history. */
export interface CallbackNotice {
  readonly requestId: string;
  /** Which create of the key it answers. @asType integer @minimum 1 */
  readonly createNumber: number;
  readonly status: string;
}

/** A callback came: the task is polled at once, and only the service is believed. */
export const callbackSignal = defineSignal<[CallbackNotice]>('callback');

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

const text = v.string();
const count = wholeNumber(0);
const orNull = v.nullable(text);

const stopRequest = v.object({
  verb: wordOf<StopVerb>(),
  askedAt: moment,
  outcome: wordOf<StopOutcome>(),
  words: text,
});
/** One request to end the task, and what became of it, in words. */
export type StopRequestView = v.InferOutput<typeof stopRequest>;

const taskStatus = v.object({
  workflowId: text,
  status: wordOf<LonghaulStatus>(),
  /** ISO-8601: since when. */
  since: moment,
  /** ISO-8601: when the workflow was first started. */
  startedAt: moment,
  requestId: orNull,
  /** The service's own word, as last seen; null before the first answer. */
  serviceStatus: orNull,
  /** ISO-8601: when the service said it last. Absent before the first answer. */
  serviceStatusAt: v.optional(moment),
  /** Tasks ahead in the service's queue; null when the service does not say. */
  queuePosition: v.nullable(v.number()),
  /** Queries for the task's state so far, in all runs, and how many of them failed. */
  polls: count,
  failedPolls: count,
  /** How many times this workflow asked the service to create the task. */
  createRequests: count,
  /** What happens now, and what comes next; in words. */
  waitingFor: text,
  nextStep: text,
  /** As far as the workflow knows: not that a step is tried again, which Temporal has as a pending activity. */
  problem: v.nullable(problemSchema),
  stopRequests: listOf(stopRequest),
});
/** Answer of the `status` query: everything an operator or a progress line needs. */
export type TaskStatus = v.InferOutput<typeof taskStatus>;

/** Whether this is a task's answer to `status`: any program may run workflows under Longhaul's names. */
export function isTaskStatus(value: unknown): value is TaskStatus {
  return v.is(taskStatus, value);
}
