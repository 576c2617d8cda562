import { taskView, type TaskViewSources } from '../../../src/client/task-view';

const description: TaskViewSources['description'] = {
  ...{ workflowId: 'task:order-17', runId: 'r', taskQueue: 'longhual', execution: 'RUNNING', stuck: null, paused: [] },
  ...{ startedAt: new Date(0), closedAt: null, attributes: new Map(), tags: [], undecodable: [] },
  ...{ memo: new Map(), pendingActivities: [] },
};
const pending = { transfers: [], retrying: [], watched: null, refusedCreates: 0 };

describe('the view of a task that no worker answers for', () => {
  it('names the task queue that it waits on, which may be another than this client’s', () => {
    const { note } = taskView({ description, reported: undefined, pending, url: null });
    expect(note).toMatch(/^No worker answered.* waits on the task queue "longhual": start a worker there/);
  });

  it('has no note once the task is over', () => {
    const over = { ...description, execution: 'COMPLETED', closedAt: new Date(1) } as const;
    const { note } = taskView({ description: over, reported: undefined, pending, url: null });
    expect(note).toBeNull();
  });
});

describe('the view of a task', () => {
  const reported: TaskViewSources['reported'] = {
    ...{ workflowId: 'task:order-17', status: 'Failed', since: '2025-06-01T00:00:05.000Z', requestId: null },
    ...{ startedAt: '2025-06-01T00:00:00.000Z', serviceStatus: null, queuePosition: null, polls: 0, failedPolls: 0 },
    ...{ createRequests: 1, waitingFor: 'nothing', nextStep: 'nothing is paid', problem: null, stopRequests: [] },
  };

  it.each([
    ['FAILED', 'nothing is paid'],
    ['COMPLETED', null],
  ] as const)('that is over as %s says what is left to do: %s', (execution, nextStep) => {
    const over = { ...description, execution, closedAt: new Date(1) };
    expect(taskView({ description: over, reported, pending, url: null })).toMatchObject({ nextStep });
  });

  it('names both remedies of a task that was terminated', () => {
    const over = { ...description, execution: 'TERMINATED', closedAt: new Date(1) } as const;
    const { note } = taskView({ description: over, reported: undefined, pending, url: null });
    expect(note).toMatch(/with the same key, input and retry .*, or adopt its request id/);
  });
});
