import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BatchProgress } from './batch-progress';
import type { RowEnd } from './batch-rows';
import type { DecisionTaken } from './messages';

/** A row's task is over; sent by the task itself. */
export const rowEndedSignal = defineSignal<[RowEnd]>('rowEnded');

/** How far the batch is. */
export const progressQuery = defineQuery<BatchProgress>('progress');

/** Starts no more rows until `resume`; those that run go on. */
export const pauseUpdate = defineUpdate<DecisionTaken>('pause');

export const resumeUpdate = defineUpdate<DecisionTaken>('resume');

/** How many rows run at the same time from now on. */
export const setConcurrencyUpdate = defineUpdate<DecisionTaken, [{ rows: number }]>('setConcurrency');

/** Starts the rows again that did not succeed, once every row had its turn. May be paid anew. */
export const retryFailedUpdate = defineUpdate<DecisionTaken>('retryFailed');

/** Starts no more rows, and ends when those that run have ended. */
export const drainUpdate = defineUpdate<DecisionTaken>('drain');
