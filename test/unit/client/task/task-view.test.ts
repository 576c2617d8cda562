import { Client, Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { pendingProblem } from '../../../../src/client/task/pending-work';
import { type TaskView, taskView, type TaskViewSources } from '../../../../src/client/task/task-view';
import type { Problem } from '../../../../src/contract/problem';
import { unseenTask } from '../../../../src/core/task-state';

const description: TaskViewSources['description'] = {
  ...{ workflowId: 'task:order-17', runId: 'r', taskQueue: 'longhual', execution: 'RUNNING', paused: [] },
  ...{ startedAt: new Date(0), closedAt: null, attributes: new Map(), tags: [], undecodable: [] },
  ...{ memo: new Map(), pendingActivities: [], isCancelRequested: false, encryptionKey: null, problem: null },
};
const pending = { transfers: [], problem: null, watched: null, refusedCreates: 0 };
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
    const { problem } = viewOf({});
    expect(problem).toMatchObject({ code: 'NoWorker', since: null });
    expect(problem?.remedy).toMatch(/ waits on the task queue "longhual": start a worker there/);
  });

  it.each([
    [true, /It was asked to stop/],
    [false, /^(?!.*asked to stop)/],
  ])('says whether it was asked to stop (%s), which waits for a worker', (isCancelRequested, words) => {
    expect(viewOf({ isCancelRequested }).problem?.message).toMatch(words);
  });

  it('has none once the task is over', () => {
    expect(viewOf({ execution: 'COMPLETED', closedAt: new Date(1) }).problem).toBeNull();
  });
});

describe('the problem of a task', () => {
  const since = '2025-06-01T00:00:05.000Z';
  const problemOf = (code: Problem['code']): Problem => ({ code, message: code, since, remedy: null });
  const waits = { attributes: new Map([['LonghaulStatus', 'CreateUncertain']]) };

  it.each<[string, Partial<TaskViewSources['description']>, Problem | null, Problem['code']]>([
    ['workflow tasks that fail hide the rest', { ...waits, problem: problemOf('Stuck') }, problemOf('Paused'), 'Stuck'],
    ['a decision comes before a worker', waits, problemOf('Retrying'), 'NeedsPerson'],
    ['a worker comes before what it would try again', {}, problemOf('Retrying'), 'NoWorker'],
  ])('is the first by its code: %s', (_, described, found, code) => {
    const sources = { description: { ...description, ...described }, reported: undefined, url: null };
    expect(taskView({ ...sources, pending: { ...pending, problem: found } }).problem?.code).toBe(code);
  });

  it('that waits for a person names every decision', () => {
    const { remedy } = viewOf(waits).problem ?? {};
    expect(remedy).toMatch(/^Decide: .*--adopt REQUEST_ID, or .*--recreate, or .*--abandon$/);
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
    expect(viewOf(terminated).problem?.message).toMatch(
      /with the same key, input and retry .*, or adopt its request id/,
    );
  });

  it.each([
    ['task:order-17', /^longhaul retry order-17 takes over/],
    ['batch:photos:row-3', /^longhaul batch retry photos, which .* takes over/],
    ['order-17', /^longhaul retry KEY/],
  ])('that was terminated names the command that follows %s again', (workflowId, command) => {
    const { problem } = viewOf({ ...terminated, workflowId }, reported);
    expect(problem).toMatchObject({ code: 'CutOff', since: '1970-01-01T00:00:00.001Z' });
    expect(problem?.remedy).toMatch(command);
    expect(problem?.remedy).toContain('longhaul reconcile');
  });

  it('that was terminated while it was uncertain whether it was created tells where that may be settled by now', () => {
    const { problem } = viewOf(terminated, { ...reported, status: 'CreateUncertain' });
    expect(problem?.remedy).toMatch(
      /^longhaul reconcile tells whether it is settled by now .* longhaul retry order-17/,
    );
  });

  it('that was terminated and adopted since names the workflow that took it over, and no other remedy', () => {
    expect(viewOf(terminated, { ...reported, requestId: 'r-1' }, 'task:adopt-r-1')).toMatchObject({
      adoptedBy: 'task:adopt-r-1',
      problem: {
        message: 'The workflow was terminated, and task:adopt-r-1 took its task over.',
        remedy: 'longhaul status adopt-r-1 tells how its task goes on',
      },
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
    const { problem } = viewOf({ ...terminated, workflowId: 'task:adopt-r-1' }, { ...reported, requestId: 'r-1' });
    expect(problem?.remedy).toMatch(/^longhaul adopt r-1 follows/);
  });
});

describe('what is tried again of a task', () => {
  type Pending = Parameters<typeof pendingProblem>[1];
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

  it.each([
    ['ServiceUnavailable', false, { code: 'Retrying', message: 'createTask: HTTP 503', remedy: null }],
    ['WaitsForTurn', false, { code: 'HeldBack', message: 'HTTP 503', remedy: null }],
    ['ServiceUnavailable', true, { code: 'Paused', message: 'createTask is paused by an operator: HTTP 503' }],
    ['ActivityPause', true, { code: 'Paused', message: 'createTask is paused by an operator' }],
  ])('is told by the end of its last attempt: %s, paused: %s', async (type, paused, problem) => {
    expect(await pendingProblem(client, ended(type, 'HTTP 503', paused))).toMatchObject(problem);
  });

  it.each(['ActivityPause', 'ActivityReset'])('is no problem when an attempt ended as %s', async (type) => {
    expect(await pendingProblem(client, ended(type, 'Activity paused'))).toBeNull();
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

    it('is a problem once every query has failed for minutes, in words', async () => {
      const sinceMs = Date.now() - 5 * minuteMs;
      const failing = { sinceMs, lastMs: sinceMs + 4 * minuteMs, queries: 16, problem: 'HTTP 301' };
      expect(await pendingProblem(client, watching({ ...beat, failing }))).toEqual({
        ...{ code: 'Retrying', since: new Date(sinceMs).toISOString(), remedy: null },
        message: 'watchTask: the last 16 queries failed: HTTP 301',
      });
    });

    it.each([
      ['have failed for a moment', { sinceMs: 0, lastMs: minuteMs, queries: 16, problem: 'HTTP 301' }],
      ['have failed twice in a long time', { sinceMs: 0, lastMs: Date.now(), queries: 2, problem: 'HTTP 301' }],
      ['are told of in another form', { sinceMs: 'long', lastMs: Date.now(), queries: 16, problem: 'HTTP 301' }],
      ['are not told of, by an older worker', undefined],
    ])('is none when queries %s', async (_, failing) => {
      expect(await pendingProblem(client, watching({ ...beat, failing }))).toBeNull();
    });
  });
});
