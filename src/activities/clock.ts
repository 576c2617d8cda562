import { activityInfo } from '@temporalio/activity';

/** Temporal's time. Behind by as long as the attempt waited for a worker. */
export function temporalClock(): () => number {
  const { currentAttemptScheduledTimestampMs } = activityInfo();
  const begunMs = performance.now();
  return () => Math.round(currentAttemptScheduledTimestampMs + performance.now() - begunMs);
}

/** This worker's time, which may be hours off: only for this process and for what is sent elsewhere. */
export function workerClock(): number {
  return Date.now();
}
