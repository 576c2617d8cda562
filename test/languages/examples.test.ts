import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { TaskResult } from '../../src/contract/task-result';
import type { TaskStatus } from '../../src/contract/task-messages';
import { schemaProblems } from '../support/contract-schema';
import { eventually } from '../support/eventually';
import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { type ExampleEnd, type Language, languages, runExample } from './language';

/* Every example as a backend engineer would run it: a process of its own, against a real worker. */

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

/** The reference service's apps. */
const [swatch, finish] = [5, 1];
const tuning = { ...fastTuning, createTimeoutMs: 3_000 };
const quick = { webAppId: swatch, inputs: { '2:Wait.seconds': 0 }, tuning };
const long = { webAppId: swatch, inputs: { '2:Wait.seconds': 3_600 }, tuning };

const creates = (): number => stack.service.ledger.total('create');

/** How a task stands, by Temporal's own client. */
function statusOf(key: string): Promise<TaskStatus> {
  return stack.client.workflow.getHandle(`task:${key}`).query<TaskStatus>('status');
}

async function whenStatusIs(key: string, status: TaskStatus['status']): Promise<TaskStatus> {
  await eventually(async () => (await statusOf(key)).status === status, { withinMs: 60_000, what: `to be ${status}` });
  return await statusOf(key);
}

function resultOf({ exitCode, stderr, last }: ExampleEnd): TaskResult {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(schemaProblems('TaskResult', last)).toBe('');
  return last as TaskResult;
}

describe.each(languages)('$name', (language: Language) => {
  const run = (...call: Parameters<Language['toCommand']>): Promise<ExampleEnd> => runExample(stack, language, ...call);
  const start = (key: string, task: object): Promise<ExampleEnd> => run('start-task', [key, JSON.stringify(task)]);

  /** A task that runs for longer than any test, and what the example that started it prints. */
  async function startLong(): Promise<{ key: string; end: Promise<ExampleEnd> }> {
    const key = randomUUID();
    const end = start(key, long);
    await whenStatusIs(key, 'Running');
    return { key, end };
  }

  it('starts a task with a file, and reads what the archive has of it', async () => {
    const inputs = { '1:LoadImage.image': { file: 'rocket.jpg' }, '2:ImageScale.width': 64 };
    const { outputs, manifest } = resultOf(await start(randomUUID(), { webAppId: finish, inputs, tuning }));
    expect(outputs).toHaveLength(1);
    expect(await readFile(outputs[0]?.path ?? '')).toHaveLength(outputs[0]?.bytes ?? -1);
    expect(await readFile(manifest ?? '', 'utf8')).toContain(outputs[0]?.sha256);
  });

  it('finds the same task by its key, pays once, and refuses another input', async () => {
    const key = randomUUID();
    const first = resultOf(await start(key, quick));
    const before = creates();
    expect(resultOf(await start(key, quick))).toEqual(first);
    const other = await start(key, { ...quick, inputs: { '2:Wait.seconds': 1 } });
    expect(other).toMatchObject({ exitCode: 2, stdout: '' });
    expect(other.stderr).toContain(key);
    expect(creates()).toBe(before);
  });

  it('follows a task by its status, until its result', async () => {
    const key = randomUUID();
    const started = start(key, { ...quick, inputs: { '2:Wait.seconds': 3 } });
    await whenStatusIs(key, 'Running');
    const followed = await run('follow-task', [key]);
    const statuses = followed.lines.slice(0, -1) as TaskStatus[];
    expect(statuses.map((status) => schemaProblems('TaskStatus', status)).join('')).toBe('');
    expect(statuses.map(({ status }) => status)).toEqual(expect.arrayContaining(['Running', 'Success']));
    expect(resultOf(followed)).toEqual(resultOf(await started));
  });

  it('stops a task, and is given its end as a result once the stop is confirmed', async () => {
    const { key, end } = await startLong();
    const { requestId } = await statusOf(key);
    expect(await run('stop-task', [key, 'stop'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(resultOf(await end)).toMatchObject({ status: 'Canceled', requestId });
    expect(stack.service.tasks.find(requestId ?? '')?.status).toBe('Canceled');
  });

  it('interrupts a task that runs, which a cancel does not', async () => {
    const { key, end } = await startLong();
    expect(await run('stop-task', [key, 'cancel'])).toMatchObject({ exitCode: 0, stderr: '' });
    const refused = async (): Promise<boolean> => (await statusOf(key)).stopRequests[0]?.outcome === 'notApplicable';
    await eventually(refused, { what: 'the cancel not to apply' });
    expect(await run('stop-task', [key, 'interrupt'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(resultOf(await end)).toMatchObject({ status: 'Canceled' });
  });

  it('adopts a task by its request id, twice the same, and pays nothing', async () => {
    const { requestId } = resultOf(await start(randomUUID(), quick));
    const before = creates();
    const adopted = resultOf(await run('adopt-task', [requestId ?? '']));
    expect(adopted).toMatchObject({ status: 'Success', requestId, workflowId: `task:adopt-${requestId}` });
    expect(resultOf(await run('adopt-task', [requestId ?? '']))).toEqual(adopted);
    expect(creates()).toBe(before);
  });

  describe('an uncertain create', () => {
    /** A task whose create was carried out by the service, whose reply was lost. */
    async function startUncertain(): Promise<{ key: string; end: Promise<ExampleEnd>; requestId: string }> {
      const key = randomUUID();
      const before = creates();
      stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
      const end = start(key, quick);
      expect(schemaProblems('TaskStatus', await whenStatusIs(key, 'CreateUncertain'))).toBe('');
      const create = stack.service.ledger.entries({ endpoint: 'create' })[before];
      return { key, end, requestId: create?.requestId ?? '' };
    }

    it('is resolved with the request id, after one that the service does not know was refused in words', async () => {
      const { key, end, requestId } = await startUncertain();
      const before = creates();
      const wrong = await run('decide-task', [key, 'adopt', 'never-heard-of']);
      expect(wrong).toMatchObject({ exitCode: 1, stdout: '' });
      expect(wrong.stderr).toContain('never-heard-of');
      const none = await run('decide-task', [key, 'adopt']);
      expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('requestId') as string });
      const right = await run('decide-task', [key, 'adopt', requestId]);
      expect(right).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(requestId) as string });
      expect(resultOf(await end)).toMatchObject({ status: 'Success', requestId });
      expect(creates()).toBe(before);
    });

    it('is created again when a person accepts that', async () => {
      const { key, end, requestId } = await startUncertain();
      const before = creates();
      expect(await run('decide-task', [key, 'recreate'])).toMatchObject({ exitCode: 0, stderr: '' });
      const result = resultOf(await end);
      expect(result).toMatchObject({ status: 'Success', createNumber: 2 });
      expect(result.requestId).not.toBe(requestId);
      expect(creates()).toBe(before + 1);
    });
  });
});

describe('what surprises a backend', () => {
  const python = languages.find(({ name }) => name === 'Python');
  if (python === undefined) throw new Error('Python is missing.');

  it.each([
    ['null for a field that is not set', { ...quick, account: null }, 'account is null'],
    ['NaN, which is no JSON', { ...quick, inputs: { '2:Wait.seconds': 'NaN' } }, 'cannot be decoded'],
  ])('%s ends as InputInvalid, and such a run answers no query', async (_what, task, words) => {
    const key = randomUUID();
    const args = [key, JSON.stringify(task).replace('"NaN"', 'NaN')];
    const { exitCode, last } = await runExample(stack, python, 'start-task', args);
    expect({ exitCode, last }).toMatchObject({
      exitCode: 1,
      last: { type: 'InputInvalid', message: expect.stringContaining(words) as string },
    });
    await expect(statusOf(key)).rejects.toThrow(/did not register a handler/);
  });
});
