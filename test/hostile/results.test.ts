import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rearchiveUpdate, statusQuery } from '../../src/contract/task-messages';
import type { TaskInput } from '../../src/contract/task-input';
import { contentOf, ResultsService } from '../support/results-service';
import { failureOf, fastTuning, type RunningTask, whenStatusIs } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';

const service = new ResultsService();
let stack: TaskStack;
beforeAll(async () => {
  await service.start();
  stack = await TaskStack.open({ env: { LONGHAUL_SERVICE_URL: service.url, LONGHAUL_API_KEY: 'key' } });
});
afterAll(async () => {
  await stack.close();
  await service.stop();
});
beforeEach(() => {
  service.detail = {};
  service.otherRequests.length = 0;
  service.file = (name, response) => void response.end(contentOf(name));
});

/** Follows a task that succeeded at the service. */
function follow(more: Partial<TaskInput> = {}, requestId: string = randomUUID()): Promise<RunningTask> {
  return stack.start({ adopt: { requestId }, ...more });
}

function items(...names: string[]): { outputs: Record<string, unknown>[] } {
  return { outputs: names.map((name) => service.item(name)) };
}

async function contentsOf(task: RunningTask): Promise<string[]> {
  const { outputs } = await task.result();
  return await Promise.all(outputs.map(({ path }) => readFile(path, 'utf8')));
}

describe('a task whose results are told in a way that nobody planned for', () => {
  it.each(['2001-01-01 00:00:00', '2026-02-30 99:00:00', 'soon', '9999-12-31 23:59:59'])(
    'is archived while its links work, whatever its expiry is said to be: %s',
    async (expired_at) => {
      service.detail = { expired_at };
      service.outputs = () => items('a');
      expect(await contentsOf(await follow())).toEqual([contentOf('a')]);
    },
  );

  it('has every output in the end when their list says Running for a while', async () => {
    service.questions = 0;
    service.outputs = (question) => (question < 6 ? { status: 'Running', ...items('a') } : items('a', 'b', 'c', 'd'));
    expect(await contentsOf(await follow())).toEqual(['a', 'b', 'c', 'd'].map(contentOf));
  });

  it('keeps what can be fetched while one output has no link, and is whole once it has', async () => {
    const requestId = randomUUID();
    let link: Record<string, unknown> = { object_url: undefined };
    service.outputs = () => ({ outputs: [service.item('a', link), service.item('b'), service.item('c')] });
    const task = await follow({ tuning: { ...fastTuning, archiveGraceMs: 3_000 } }, requestId);
    await whenStatusIs(task, 'ArchiveIncomplete');
    expect((await task.query(statusQuery)).problem?.message).toMatch(/1 of 3 outputs.*output 0/);
    expect(await readFile(join(stack.archive, requestId, '2.png'), 'utf8')).toBe(contentOf('c'));
    link = {};
    await task.executeUpdate(rearchiveUpdate);
    expect(await contentsOf(task)).toEqual(['a', 'b', 'c'].map(contentOf));
  });

  it('fails as SuccessNoOutputs, with the words of the service, when all of its outputs failed', async () => {
    service.outputs = () => ({ outputs: [{ error_type: 'EXECUTION_ERROR', error_msg: 'no memory' }] });
    const failure = await failureOf(await follow());
    expect(failure).toMatchObject({
      type: 'SuccessNoOutputs',
      details: [{ result: { failedOutputs: [{ errorType: 'EXECUTION_ERROR', message: 'no memory' }] } }],
    });
    expect(failure.message).toContain('no memory');
  });

  it('is lost in words when the service says that it is gone', async () => {
    service.outputs = () => 410;
    expect(await failureOf(await follow())).toMatchObject({ type: 'ResultLost' });
  });

  it('is archived under a request id of nothing but slashes', async () => {
    service.outputs = () => items('a');
    expect(await contentsOf(await follow({}, '/'.repeat(200)))).toEqual([contentOf('a')]);
  });
});

describe('a start with Temporal’s client alone whose outputs could never be named', () => {
  it.each<[string, Record<string, unknown>]>([
    ['a template that is none', { batch: { id: 'b', key: 'k', names: { template: '{index', columns: {} } } }],
    [
      'a column that is missing',
      { batch: { id: 'b', key: 'k', names: { template: '{key}/{city}-{index}', columns: {} } } },
    ],
    ['a folder of too many bytes', { archive: '山'.repeat(120) }],
  ])('is refused before anything is paid: %s', async (_what, more) => {
    const task = await stack.client.workflow.start('task', {
      taskQueue: stack.taskQueue,
      workflowId: 'batch' in more ? 'batch:b:k' : `task:${randomUUID()}`,
      args: [{ webAppId: 1, inputs: {}, ...more }],
    });
    expect(await failureOf(task)).toMatchObject({ type: 'InputInvalid' });
    expect(service.otherRequests).toEqual([]);
  });
});
