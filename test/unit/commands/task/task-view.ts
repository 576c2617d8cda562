import type { TaskView } from '../../../../src/client/task/task-view';

export const startedAt = '2026-03-01T12:00:00.000Z';

/** The view of a task that runs and of which nothing else is known. */
export function taskView(more: Partial<TaskView> = {}): TaskView {
  return {
    ...{
      workflowId: 'task:a',
      key: 'a',
      status: 'Running',
      isOver: false,
      execution: 'RUNNING',
      taskQueue: 'longhaul',
    },
    ...{ startedAt, endedAt: null, since: null, url: null, app: null, account: null, requestId: null, tags: [] },
    ...{ serviceStatus: null, serviceStatusAt: null, queuePosition: null, adoptedBy: null, otherUncertain: [] },
    ...{ polls: null, failedPolls: null, createRequests: null, waitingFor: null, nextStep: null },
    ...{ problem: null, stopRequests: [], transfers: [] },
    ...more,
  };
}
