import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { TaskStatus } from './task-status';

/** The service's `cancel`: applies before the create and while the task queues, and never becomes an interrupt. */
export const cancelSignal = defineSignal('cancel');

/** The service's `interrupt`: applies while the task runs, and is kept for then when it comes earlier. */
export const interruptSignal = defineSignal('interrupt');

/** What the callback receiver passes on of a callback; everything else stays outside the history. */
export interface CallbackNotice {
  readonly requestId: string;
  readonly status: string;
}

/** A callback came: looked at at once, believed after the service confirmed it. */
export const callbackSignal = defineSignal<[CallbackNotice]>('callback');

/** What the task is doing. */
export const statusQuery = defineQuery<TaskStatus>('status');

/** The answer to a decision: what will happen now, in words. */
export interface DecisionTaken {
  readonly words: string;
}

/** Answers `CreateUncertain`: the task exists under this request id. */
export const adoptUpdate = defineUpdate<DecisionTaken, [{ requestId: string }]>('adopt');

/** Answers `CreateUncertain`: create it again, and accept that it may be paid twice. */
export const recreateUpdate = defineUpdate<DecisionTaken>('recreate');

/** Answers `CreateUncertain` or `ArchiveIncomplete`: give up. */
export const abandonUpdate = defineUpdate<DecisionTaken>('abandon');

/** Answers `ArchiveIncomplete`: try again to archive what is missing. */
export const rearchiveUpdate = defineUpdate<DecisionTaken>('rearchive');
