import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { readHeldUp, retryingActivities } from '../../../../src/client/task/pending-work';
import { type TaskView, taskView, type TaskViewSources } from '../../../../src/client/task/task-view';
import { overloadAdvice, pausedAdvice } from '../../../../src/contract/task-advice';
import { unseenTask } from '../../../../src/core/task-state';

const description: TaskViewSources['description'] = {
  ...{ workflowId: 'task:order-17', runId: 'r', taskQueue: 'longhual', execution: 'RUNNING', stuck: null, paused: [] },
  ...{ startedAt: new Date(0), closedAt: null, attributes: new Map(), tags: [], undecodable: [] },
  ...{ memo: new Map(), pendingActivities: [], isCancelRequested: false, encryptionKey: null, isOverloaded: false },
};
const pending = { transfers: [], retrying: [], watched: null, refusedCreates: 0 };
const terminated = { execution: 'TERMINATED', closedAt: new Date(1) } as const;

function viewOf(
  described: Partial<TaskViewSources['description']>,
  reported?: TaskViewSources['reported'],
  adoptedBy?: string,
): TaskView {
  return taskView({ description: { ...description, ...described }, reported, pending, url: null, adoptedBy });
}

describe('the view of a task that no worker answers for', () => {
  it('names the task queue that it waits on, which may be another than this client’s', () => {
    expect(viewOf({}).note).toMatch(/^No worker answered.* waits on the task queue "longhual": start a worker there/);
  });

  it.each([
    [true, /It was asked to stop/],
    [false, /^(?!.*asked to stop)/],
  ])('says whether it was asked to stop (%s), which waits for a worker', (isCancelRequested, words) => {
    expect(viewOf({ isCancelRequested }).note).toMatch(words);
  });

  it('says that it goes on by itself while its workflow tasks time out', () => {
    expect(viewOf({ isOverloaded: true })).toMatchObject({ note: overloadAdvice, stuck: null });
  });

  it('says that an operator paused its workflow, and how it goes on', () => {
    expect(viewOf({ execution: 'PAUSED' })).toMatchObject({ note: pausedAdvice('task:order-17'), isOver: false });
  });

  it('has no note once the task is over', () => {
    expect(viewOf({ execution: 'COMPLETED', closedAt: new Date(1) }).note).toBeNull();
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
    expect(viewOf({ execution, closedAt: new Date(1) }, reported)).toMatchObject({ nextStep });
  });

  it('names both remedies of a task that was terminated', () => {
    expect(viewOf(terminated).note).toMatch(/with the same key, input and retry .*, or adopt its request id/);
  });

  it.each([
    ['task:order-17', /^longhaul retry order-17 takes over/],
    ['batch:photos:row-3', /^longhaul batch retry photos, which .* takes over/],
    ['order-17', /^longhaul retry KEY/],
  ])('that was terminated names the command that follows %s again', (workflowId, command) => {
    const { nextStep } = viewOf({ ...terminated, workflowId }, reported);
    expect(nextStep).toMatch(command);
    expect(nextStep).toContain('longhaul reconcile');
  });

  it('that was terminated while it was uncertain whether it was created tells where that may be settled by now', () => {
    const { nextStep } = viewOf(terminated, { ...reported, status: 'CreateUncertain' });
    expect(nextStep).toMatch(/^longhaul reconcile tells whether it is settled by now .* longhaul retry order-17/);
  });

  it('that was terminated and adopted since names the workflow that took it over, and no other remedy', () => {
    expect(viewOf(terminated, { ...reported, requestId: 'r-1' }, 'task:adopt-r-1')).toMatchObject({
      adoptedBy: 'task:adopt-r-1',
      nextStep: 'longhaul status adopt-r-1 tells how its task goes on',
      note: 'The workflow was terminated, and task:adopt-r-1 took its task over.',
    });
  });

  it('that was terminated waits for no answer to a request to end it', () => {
    const request = { verb: 'cancel', askedAt: '2025-06-01T00:00:00.000Z', words: 'Not sent yet.' } as const;
    const stopRequests = [
      { ...request, outcome: 'waiting' },
      { ...request, outcome: 'refused', words: 'no' },
    ] as const;
    expect(viewOf(terminated, { ...reported, stopRequests }).stopRequests).toMatchObject([
      { outcome: 'unconfirmed' },
      { outcome: 'refused', words: 'no' },
    ]);
  });

  it('that was terminated and had been adopted is to be adopted again', () => {
    const { nextStep } = viewOf({ ...terminated, workflowId: 'task:adopt-r-1' }, { ...reported, requestId: 'r-1' });
    expect(nextStep).toMatch(/^longhaul adopt r-1 follows/);
  });
});

describe('what is tried again of a task', () => {
  type Pending = Parameters<typeof retryingActivities>[1];
  // Nothing is asked of Temporal: it connects when it is used.
  const connection = Connection.lazy();
  const client = new Client({ connection });
  afterAll(() => connection.close());
  const ended = (type: string, message: string, paused = false): Pending => [
    {
      activityType: { name: 'createTask' },
      ...{ attempt: 2, paused, lastFailure: { message, applicationFailureInfo: { type } } },
    },
  ];

  it('says of a create whether it failed or waits for its turn', async () => {
    const failed = await retryingActivities(client, ended('ServiceUnavailable', 'HTTP 503'));
    expect(failed).toMatchObject([{ lastFailure: 'HTTP 503', waitsForTurn: false }]);
    const waiting = await retryingActivities(client, ended('WaitsForTurn', 'The create waits for its turn'));
    expect(waiting).toMatchObject([{ lastFailure: 'The create waits for its turn', waitsForTurn: true }]);
  });

  it.each(['ActivityPause', 'ActivityReset'])('calls it no failure that an attempt ended as %s', async (type) => {
    expect(await retryingActivities(client, ended(type, 'Activity paused'))).toEqual([]);
    const paused = ended(type, 'Activity paused', true);
    expect(await retryingActivities(client, paused)).toMatchObject([{ lastFailure: '', isPaused: true }]);
    expect(await readHeldUp(client, paused)).toMatchObject({ words: 'paused by an operator' });
  });

  describe('of a watch', () => {
    const { PENDING_ACTIVITY_STATE_STARTED: started } = temporal.api.enums.v1.PendingActivityState;
    const minuteMs = 60_000;
    const watching = (heartbeat: object): Pending => [
      {
        ...{ activityType: { name: 'watchTask' }, attempt: 1, state: started },
        heartbeatDetails: { payloads: [client.options.loadedDataConverter.payloadConverter.toPayload(heartbeat)] },
      },
    ];
    const known = { ...unseenTask(0), serviceStatus: 'Running', polls: 20, failedPolls: 16, problem: 'HTTP 301' };
    const beat = { watched: 'Running', known };

    it('holds the task up once every query has failed for minutes, in words', async () => {
      const sinceMs = Date.now() - 5 * minuteMs;
      const failing = { sinceMs, lastMs: sinceMs + 4 * minuteMs, queries: 16, problem: 'HTTP 301' };
      expect(await readHeldUp(client, watching({ ...beat, failing }))).toEqual({
        ...{ activity: 'watchTask', since: new Date(sinceMs).toISOString() },
        words: 'the last 16 queries failed: HTTP 301',
      });
    });

    it.each([
      ['have failed for a moment', { sinceMs: 0, lastMs: minuteMs, queries: 16, problem: 'HTTP 301' }],
      ['have failed twice in a long time', { sinceMs: 0, lastMs: Date.now(), queries: 2, problem: 'HTTP 301' }],
      ['are told of in another form', { sinceMs: 'long', lastMs: Date.now(), queries: 16, problem: 'HTTP 301' }],
      ['are not told of, by an older worker', undefined],
    ])('does not hold it up when queries %s', async (_, failing) => {
      expect(await readHeldUp(client, watching({ ...beat, failing }))).toBeUndefined();
    });
  });
});
