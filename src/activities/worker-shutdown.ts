import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { workerStopping } from '../contract/failure-types';

/** Another worker takes over this soon. */
const handOverMs = 100;

/** Whether an activity is cut off because its worker shuts down. */
export function isWorkerStopping(error: unknown): boolean {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/** Ends the attempt so that another worker goes on at once, from the last heartbeat; nothing has gone wrong. */
export function handOver(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: workerStopping,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: handOverMs,
  });
}
