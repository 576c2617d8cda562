import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type WorkflowHandle, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { TaskStatus } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { forgettingMs, forgetWorkflow } from '../support/forget-workflow';
import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { type Language, languages, runExample } from './language';

/* The table "The same key" of docs/reference/contract.md, row by row: what it says is what is expected. */

interface Row {
  readonly previous: string;
  readonly policy: string;
  readonly same: string;
  readonly other: string;
  readonly malformed: string;
}

function readTable(): Row[] {
  const page = readFileSync(join(__dirname, '../../docs/reference/contract.md'), 'utf8');
  const [, table = ''] = /^(\| Previous run .*?)\n\n/ms.exec(page) ?? [];
  return table
    .split('\n')
    .slice(2)
    .map((line) => {
      const [previous = '', policy = '', same = '', other = '', malformed = ''] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('**', ''));
      return { previous, policy, same, other, malformed };
    });
}

const rows = readTable();

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open({ service: { slots: 500 } });
});
afterAll(() => stack.close());

type Task = WorkflowHandle;
type Inputs = Readonly<Record<'same' | 'other' | 'malformed', object>>;

/** The reference service's apps. */
const [swatch, brokenDarkroom] = [5, 3];
const tuning = { ...fastTuning, createTimeoutMs: 3_000 };
const withTuning = (input: object): object => ({ ...input, tuning });
const quick = withTuning({ webAppId: swatch, inputs: { '2:Wait.seconds': 0 } });
const long = withTuning({ webAppId: swatch, inputs: { '2:Wait.seconds': 3_600 } });
const failing = withTuning({ webAppId: brokenDarkroom, inputs: { '1:LoadImage.image': { file: 'rocket.jpg' } } });
const malformed = withTuning({ webAppId: swatch, inputs: 'none' });
const other = withTuning({ webAppId: swatch, inputs: { '2:Wait.seconds': 1 } });

async function start(key: string, input: object): Promise<Task> {
  const options = { taskQueue: stack.taskQueue, workflowId: `task:${key}`, args: [input] };
  return await stack.client.workflow.start('task', options);
}

const statusOf = (task: Task): Promise<TaskStatus> => task.query<TaskStatus>('status');

async function startLong(key: string): Promise<Task> {
  const task = await start(key, long);
  await eventually(async () => (await statusOf(task)).status === 'Running', { what: 'the task to run' });
  return task;
}

async function startToEnd(key: string, input: object): Promise<Task> {
  const task = await start(key, input);
  await task.result().catch(() => undefined);
  return task;
}

interface PreviousRun {
  readonly make: (key: string) => Promise<Task>;
  readonly forget?: (key: string) => Promise<void>;
  readonly inputs: Inputs;
}

/** Previous runs of each kind, by the word that the table has for it. */
const previousRuns: Readonly<Record<string, PreviousRun>> = {
  runs: { make: startLong, inputs: { same: long, other, malformed } },
  'ended as `Success`': { make: (key) => startToEnd(key, quick), inputs: { same: quick, other, malformed } },
  failed: { make: (key) => startToEnd(key, failing), inputs: { same: failing, other, malformed } },
  stopped: {
    make: async (key) => {
      const task = await startLong(key);
      await task.cancel();
      await task.result().catch(() => undefined);
      return task;
    },
    inputs: { same: long, other, malformed },
  },
  terminated: {
    make: async (key) => {
      const task = await startLong(key);
      await task.terminate('by the test');
      return task;
    },
    inputs: { same: long, other, malformed },
  },
  'ended as `InputInvalid`': {
    make: (key) => startToEnd(key, malformed),
    inputs: { same: malformed, other, malformed: withTuning({ webAppId: -1, inputs: {} }) },
  },
  forgotten: {
    make: (key) => startToEnd(key, quick),
    forget: (key) => forgetWorkflow(stack.client, `task:${key}`),
    inputs: { same: quick, other, malformed },
  },
};

/** What the cell of a policy means as options of an example. */
function policiesIn(cell: string): Record<string, string>[] {
  const names = (kind: string, text: string): Record<string, string>[] =>
    [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => ({ [kind]: name }));
  return cell.split('; ').flatMap((part): Record<string, string>[] => {
    const [conflict = '', reuse] = part.split('with reuse');
    if (reuse !== undefined) {
      return names('reuse', reuse).flatMap((one) => names('conflict', conflict).map((two) => ({ ...one, ...two })));
    }
    return names(part.startsWith('conflict') ? 'conflict' : 'reuse', part);
  });
}

/** The type of its failure; null while it runs, and when it ended otherwise. */
async function failureTypeOf(run: Task): Promise<string | null> {
  if ((await run.describe()).status.name !== 'FAILED') return null;
  const error: unknown = await run.result().catch((error: unknown) => error);
  return error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure
    ? (error.cause.type ?? null)
    : null;
}

/** What a run says of itself; null for one that refused its input, which answers nothing. */
async function statusUnlessInvalid(run: Task): Promise<TaskStatus | null> {
  return (await failureTypeOf(run)) === 'InputInvalid' ? null : await statusOf(run);
}

/** What a start came to. */
interface Started {
  readonly printed: { readonly runId?: string; readonly alreadyStarted?: string };
  readonly run: Task;
  readonly previousRunId: string;
  /** Of the previous run; null when it had none. */
  readonly requestId: string | null;
}

/** The outcome in the words with which a cell begins. */
async function outcomeOf({ printed, run, previousRunId, requestId }: Started): Promise<string> {
  if (printed.alreadyStarted !== undefined) return 'already started';
  if (printed.runId === previousRunId) return 'the task that runs';
  const settled = (): Promise<SettledStatus | undefined> => statusOnceSettled(run);
  const status = await eventually(settled, { withinMs: 60_000, what: 'the new run to know its task, or to end' });
  if (status === undefined) throw new Error('The new run is not settled.');
  if (status.requestId === null) return `\`${await failureTypeOf(run)}\``;
  if (status.requestId === requestId) return 'the same task';
  return requestId === null ? 'a first start' : `a second task (${status.requestId})`;
}

type SettledStatus = Pick<TaskStatus, 'requestId'>;

/** As soon as the run knows its task, or is over. */
async function statusOnceSettled(run: Task): Promise<SettledStatus | undefined> {
  const { status } = await run.describe();
  const { requestId } = (await statusUnlessInvalid(run)) ?? { requestId: null };
  return requestId === null && status.name === 'RUNNING' ? undefined : { requestId };
}

/** How many tasks the service was to be asked for so far. */
let expectedCreates = 0;

describe.each(languages)('$name', (language: Language) => {
  async function startAgain(
    previousName: string,
    kind: keyof Inputs,
    options: Record<string, string>,
  ): Promise<string> {
    const found = previousRuns[previousName];
    if (found === undefined) throw new Error(`There is no previous run "${previousName}".`);
    const key = randomUUID();
    const previous = await found.make(key);
    const { runId: previousRunId } = await previous.describe();
    const requestId = (await statusUnlessInvalid(previous))?.requestId ?? null;
    if (requestId !== null) expectedCreates += 1;
    await found.forget?.(key);
    const task = JSON.stringify(found.inputs[kind]);
    const end = await runExample(stack, language, 'try-policies', [key, task], options);
    expect({ exitCode: end.exitCode, stderr: end.stderr }).toEqual({ exitCode: 0, stderr: '' });
    const printed = end.last as Started['printed'];
    const run = stack.client.workflow.getHandle(`task:${key}`, printed.runId);
    const outcome = await outcomeOf({ printed, run, previousRunId, requestId });
    if (outcome === 'a first start') expectedCreates += 1;
    // What still waits for an hour is not waited for.
    await stack.client.workflow
      .getHandle(`task:${key}`)
      .terminate('the test is over')
      .catch(() => undefined);
    return outcome;
  }

  it.concurrent.each(rows)(
    'a run that $previous, $policy',
    async ({ previous, policy, ...cells }) => {
      for (const name of previous.replace(/:.*/, '').split(', ')) {
        for (const options of policiesIn(policy)) {
          for (const kind of ['same', 'other', 'malformed'] as const) {
            const outcome = await startAgain(name, kind, options);
            const start = { name, ...options, kind };
            expect({ ...start, outcome: cells[kind].slice(0, outcome.length) }).toEqual({ ...start, outcome });
          }
        }
      }
    },
    forgettingMs * 2,
  );
});

it('the table has a row for every policy of Temporal', () => {
  const named = rows.flatMap(({ policy }) => [...policy.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect([...new Set(named)].sort()).toEqual([
    ...['ALLOW_DUPLICATE', 'ALLOW_DUPLICATE_FAILED_ONLY', 'FAIL', 'REJECT_DUPLICATE'],
    ...['TERMINATE_EXISTING', 'TERMINATE_IF_RUNNING', 'USE_EXISTING'],
  ]);
  expect(rows.every(({ policy }) => policiesIn(policy).length > 0)).toBe(true);
});

it('nothing was created twice', () => {
  expect(expectedCreates).toBeGreaterThan(rows.length);
  expect(stack.service.ledger.total('create')).toBe(expectedCreates);
});

it('the SDK for Go returns the run that exists as if it had started it, unless it is told otherwise', async () => {
  const go = languages.find(({ name }) => name === 'Go');
  if (go === undefined) throw new Error('Go is missing.');
  const key = randomUUID();
  const { runId } = await (await startLong(key)).describe();
  const args = [key, JSON.stringify(other)];
  expect((await runExample(stack, go, 'try-policies', args)).last).toEqual({ alreadyStarted: runId });
  expect((await runExample(stack, go, 'try-policies', args, { silent: 'true' })).last).toEqual({ runId });
});
