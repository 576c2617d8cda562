import type { temporal } from '@temporalio/proto';
import type { WatchHeartbeat } from '../../src/contract/activities';
import type { WatchWay } from '../../src/contract/task-input';
import type { LonghaulStatus, ServiceStatus, WatchedTask } from '../../src/core/task-state';
import { eventually } from './eventually';
import { type RunningTask, whenStatusIs } from './task-environment';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** Both ways to watch: what a task comes to must not depend on which it is. */
export const watchWays: readonly WatchWay[] = ['timer', 'activity'];

/** Waits until the watch of the task has seen it in this state. */
export async function whenSeenAs(
  task: RunningTask,
  way: WatchWay,
  status: ServiceStatus & LonghaulStatus,
): Promise<void> {
  if (way === 'timer') {
    await whenStatusIs(task, status);
    return;
  }
  const isSeen = async (): Promise<boolean> => (await heartbeatOf(task))?.serviceStatus === status;
  await eventually(isSeen, { withinMs: 60_000, what: `a watch that sees ${status}` });
}

/** What the activity that watches the task told last; `undefined` when none does, or none has told. */
export async function heartbeatOf(task: RunningTask): Promise<WatchedTask | undefined> {
  const { raw } = await task.describe();
  const watch = (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === 'watchTask');
  const data = watch?.heartbeatDetails?.payloads?.[0]?.data;
  return data == null ? undefined : (JSON.parse(Buffer.from(data).toString()) as WatchHeartbeat).known;
}

/**
 * The events that a watch by activity left: from what it shows and schedules to the workflow task that takes in its end,
 * each activity of it counted.
 */
export function watchEventsOf(events: readonly HistoryEvent[]): HistoryEvent[] {
  const scheduled = events.findIndex(({ activityTaskScheduledEventAttributes: event }) => isWatch(event));
  const last = events.findLastIndex(({ activityTaskCompletedEventAttributes: event }) => {
    const id = String(event?.scheduledEventId);
    return events.some((one) => String(one.eventId) === id && isWatch(one.activityTaskScheduledEventAttributes));
  });
  if (scheduled < 0 || last < 0) throw new Error('No activity watched the task to its end.');
  const heard = events.findIndex(
    ({ workflowTaskCompletedEventAttributes: event }, index) => index > last && event != null,
  );
  return events.slice(scheduled - 1, heard + 1);
}

function isWatch(event: HistoryEvent['activityTaskScheduledEventAttributes']): boolean {
  return event?.activityType?.name === 'watchTask';
}
