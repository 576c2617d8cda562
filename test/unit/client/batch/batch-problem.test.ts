import { Client, Connection } from '@temporalio/client';
import { batchProblem } from '../../../../src/client/batch/batch-view';
import type { DescribedWorkflow } from '../../../../src/client/workflow-info';
import type { Problem } from '../../../../src/contract/problem';
import { progressOf } from '../../../support/batch-progress';

// Nothing is asked of Temporal: it connects when it is used.
const connection = Connection.lazy();
const client = new Client({ connection });
afterAll(() => connection.close());

const description: DescribedWorkflow = {
  ...{ workflowId: 'batch:photos', runId: 'r', taskQueue: 'longhaul', execution: 'RUNNING', problem: null, paused: [] },
  ...{ startedAt: new Date(0), closedAt: null, attributes: new Map(), tags: [], undecodable: [] },
  ...{ memo: new Map(), pendingActivities: [], isCancelRequested: false, encryptionKey: null },
};

function problemOf(code: Problem['code']): Problem {
  return { code, message: code, since: null, remedy: null };
}

describe('the problem of a batch', () => {
  const rows = { batchId: 'photos', progress: progressOf(), needPerson: 0, uploading: 0, creates: null };
  const asked = (described: Partial<DescribedWorkflow>, more: Partial<Parameters<typeof batchProblem>[2]> = {}) =>
    batchProblem({ client }, { ...description, ...described }, { ...rows, ...more });
  const failing = {
    ...{ activityType: { name: 'recordRows' }, attempt: 2 },
    lastFailure: { message: 'disk full', applicationFailureInfo: { type: 'Unknown' } },
  };

  it('is none where nothing is wrong, and of one that is over', async () => {
    expect(await asked({})).toBeNull();
    const over = { execution: 'COMPLETED', closedAt: new Date(1) } as const;
    expect(await asked(over, { progress: null, needPerson: 1 })).toBeNull();
  });

  it('of one that was cut off says what of its rows goes on, and how it is taken up again or ended', async () => {
    const problem = await asked({ execution: 'TERMINATED', closedAt: new Date(1) });
    expect(problem).toMatchObject({ code: 'CutOff', since: '1970-01-01T00:00:00.001Z' });
    expect(problem?.remedy).toMatch(/^longhaul batch retry photos .* then longhaul stop batch:photos:KEY of each$/);
  });

  it.each<[Problem['code'], Partial<DescribedWorkflow>, Partial<Parameters<typeof batchProblem>[2]>]>([
    ['Stuck', { problem: problemOf('Stuck'), pendingActivities: [failing] }, { progress: null }],
    ['NoWorker', { pendingActivities: [failing] }, { progress: null }],
    ['Retrying', { pendingActivities: [failing] }, { creates: problemOf('Paused'), needPerson: 1 }],
    ['Paused', {}, { creates: problemOf('Paused'), progress: progressOf({ problem: problemOf('Retrying') }) }],
    ['Retrying', {}, { progress: progressOf({ problem: problemOf('Retrying') }), needPerson: 1 }],
    ['NeedsPerson', {}, { needPerson: 3 }],
  ])('is %s before what its rows and steps have besides', async (code, described, more) => {
    expect((await asked(described, more))?.code).toBe(code);
  });
});
