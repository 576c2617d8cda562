import type { temporal } from '@temporalio/proto';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

/** What a history takes of Temporal. */
export interface HistoryCost {
  readonly events: number;
  /** What Temporal's bill counts, but heartbeats and queries, which no history has. */
  readonly actions: number;
  /** The actions by their kind. */
  readonly kinds: ReadonlyMap<string, number>;
}

/**
 * Counts billable actions as Temporal Cloud does: a start, a timer, an upsert, a signal, an update, a first and every
 * further attempt of an activity are one each; all markers (local activities, patches) of one workflow task are one; a
 * child workflow is two. A signal between workflows counts where it is sent.
 */
export function historyCost(history: readonly HistoryEvent[]): HistoryCost {
  const kinds = new Map<string, number>();
  const add = (kind: string, count = 1): void => {
    if (count > 0) kinds.set(kind, (kinds.get(kind) ?? 0) + count);
  };
  const activityTypes = new Map<string, string>();
  const tasksWithMarkers = new Set<string>();
  for (const event of history) {
    if (event.workflowExecutionStartedEventAttributes != null) add('start');
    if (event.timerStartedEventAttributes != null) add('timer');
    if (event.upsertWorkflowSearchAttributesEventAttributes != null) add('search attributes');
    if (event.workflowPropertiesModifiedEventAttributes != null) add('memo');
    if (event.workflowExecutionUpdateAcceptedEventAttributes != null) add('update');
    if (event.signalExternalWorkflowExecutionInitiatedEventAttributes != null) add('signal');
    if (event.startChildWorkflowExecutionInitiatedEventAttributes != null) add('child workflow', 2);
    const signaled = event.workflowExecutionSignaledEventAttributes;
    if (signaled != null && signaled.externalWorkflowExecution == null) add('signal');
    const marker = event.markerRecordedEventAttributes;
    if (marker != null) tasksWithMarkers.add(String(marker.workflowTaskCompletedEventId));
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled != null) {
      const type = scheduled.activityType?.name ?? '';
      activityTypes.set(String(event.eventId), type);
      add(type);
    }
    const started = event.activityTaskStartedEventAttributes;
    if (started != null) {
      add(`${activityTypes.get(String(started.scheduledEventId)) ?? ''}, retries`, (started.attempt ?? 1) - 1);
    }
  }
  add('markers', tasksWithMarkers.size);
  return { events: history.length, actions: [...kinds.values()].reduce((sum, count) => sum + count, 0), kinds };
}
