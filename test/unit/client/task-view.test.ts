import { taskView, type TaskViewSources } from '../../../src/client/task-view';

const description: TaskViewSources['description'] = {
  ...{ workflowId: 'task:order-17', runId: 'r', taskQueue: 'longhual', execution: 'RUNNING', stuck: null },
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
