import { activityInfo } from '@temporalio/activity';

/** The time by Temporal’s clock. An attempt that waited for a worker is behind by as long. */
export function temporalClock(): () => number {
  const { currentAttemptScheduledTimestampMs } = activityInfo();
  const begunMs = performance.now();
  return () => Math.round(currentAttemptScheduledTimestampMs + performance.now() - begunMs);
}

/** The time by this worker's clock, which may be hours off: for calls of this process and for what is sent elsewhere. */
export function workerClock(): number {
  return Date.now();
}
