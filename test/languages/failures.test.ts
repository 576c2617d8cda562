import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TaskFailure, TaskFailureType } from '../../src/contract/failure-details';
import { createRecordName } from '../../src/contract/workflow-ids';
import type { TaskStatus } from '../../src/contract/task-messages';
import { contractSchema, schemaProblems } from '../support/contract-schema';
import { eventually } from '../support/eventually';
import { startHttpServer, type TestHttpServer } from '../support/start-http-server';
import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { type ExampleEnd, type Language, languages, runExample } from './language';
import { runPoisonousTask } from './lost-worker';

/* Every type with which a task can end, as a backend meets it: provoked at a real worker, read by the example. */

const folder = temporaryFolder();
let stack: TaskStack;
/** Its worker forbids what a task may choose elsewhere. */
let strictStack: TaskStack;
/** In front of the reference service: its upload tokens name a bucket that does not exist, or below `/mixed` another file. */
let misleading: TestHttpServer;
const poisonous = new Map<Language, Promise<ExampleEnd>>();
/** Days are kept by namespace, which other tests use as well. */
const press = `press-${randomUUID()}`;

beforeAll(async () => {
  misleading = await startHttpServer(({ url, headers }, response) => {
    const { authorization = '' } = headers;
    const isMixed = url.startsWith('/mixed');
    void fetch(`${stack.service.url}${url.replace('/mixed', '')}`, { headers: { authorization } })
      .then((reply) => reply.text())
      .then((text) => {
        const mislead = (): string => text.replace(/"bucket":"[^"]+"/, '"bucket":"elsewhere"');
        response.end(isMixed ? text.replace(/\.jpg"/, '.mp4"') : mislead());
      });
  });
  const apiKey = 'key-of-a-reference-account';
  const accounts = {
    ...{ stranger: { apiKey: 'a-key-that-is-wrong' }, [press]: { apiKey } },
    vault: { apiKey, serviceUrl: misleading.url },
    mixed: { apiKey, serviceUrl: `${misleading.url}/mixed` },
  };
  const prices = { prices: [], dailyBudgets: [{ account: press, amount: '1EUR' }] };
  const [accountsFile, pricesFile] = [join(folder.path, 'accounts.json'), join(folder.path, 'prices.json')];
  writeFileSync(accountsFile, JSON.stringify(accounts));
  writeFileSync(pricesFile, JSON.stringify(prices));
  const env = { LONGHAUL_ACCOUNTS_FILE: accountsFile, LONGHAUL_PRICES_FILE: pricesFile };
  // A minute each, most of it spent waiting for heartbeats: beside the other tests.
  for (const language of languages) poisonous.set(language, runPoisonousTask(language));
  for (const end of poisonous.values()) end.catch(() => undefined);
  stack = await TaskStack.open({ service: { accounts: [{ id: 'local', apiKey }] }, env });
  strictStack = await TaskStack.open({ env: { LONGHAUL_REFUSE: 'tuning' } });
});
afterAll(async () => {
  await Promise.allSettled(poisonous.values());
  await stack.close();
  await strictStack.close();
  await misleading.close();
  folder.remove();
});
afterEach(() => {
  stack.service.scenarios.clear();
});

/** The reference service's apps. */
const [swatch, finish, brokenDarkroom] = [5, 1, 3];
const photo = { '1:LoadImage.image': { file: 'rocket.jpg' } };
const quick = { webAppId: swatch, inputs: {} };
const long = { webAppId: swatch, inputs: { '2:Wait.seconds': 3_600 } };
const withPhoto = { webAppId: finish, inputs: photo };
const tuning = { ...fastTuning, createTimeoutMs: 3_000 };

/** How a task comes to its failure. */
interface Provocation {
  readonly task?: object;
  /** Whose worker runs it. @default the common one */
  readonly on?: () => TaskStack;
  /** Before it starts. */
  readonly arrange?: (key: string) => Promise<void> | void;
  /** While it runs. */
  readonly meanwhile?: (key: string, language: Language) => Promise<unknown>;
  /** Instead of a start. */
  readonly run?: (language: Language) => Promise<ExampleEnd>;
}

const refuse = (endpoint: 'upload-token' | 'detail' | 'interrupt', reason: 'badParameter' | 'taskNotFound'): void => {
  stack.service.scenarios.add({ endpoint, scenario: { name: 'refuse', reason }, times: Infinity });
};

/** By Temporal's own client. */
async function runToEnd(key: string, task: object): Promise<unknown> {
  const { client, taskQueue } = stack;
  const options = { taskQueue, workflowId: `task:${key}`, args: [{ ...task, tuning }] };
  return await client.workflow.execute('task', options).catch((error: unknown) => error);
}

/** Somebody else's create record, where the archive takes two names for the same. */
function plantRecord(key: string): void {
  const file = join(stack.archive, createRecordName(`task:${key}`, 1));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ workflowId: `task:${key.toUpperCase()}`, requestId: null }));
}

async function whenIncomplete(key: string): Promise<void> {
  const task = stack.client.workflow.getHandle(`task:${key}`);
  const isIncomplete = async (): Promise<boolean> =>
    (await task.query<TaskStatus>('status')).status === 'ArchiveIncomplete';
  await eventually(isIncomplete, { what: 'the archive to be incomplete' });
}

const provocations: Record<TaskFailureType, Provocation> = {
  InputInvalid: { task: { ...quick, webAppId: 0 } },
  InputUnusable: { task: { webAppId: finish, inputs: { '1:LoadImage.image': { file: 'missing.jpg' } } } },
  AccountUnknown: { task: { ...withPhoto, account: 'nobody' } },
  NotAllowed: { task: quick, on: () => strictStack },
  ServiceRefused: {
    task: withPhoto,
    arrange: () => {
      refuse('upload-token', 'badParameter');
    },
  },
  ServiceReplyInvalid: { task: { ...withPhoto, account: 'mixed' } },
  StorageRefused: { task: { ...withPhoto, account: 'vault' } },
  ArchiveUnavailable: { task: quick, arrange: plantRecord },
  BudgetUnusable: { task: { ...quick, account: press } },
  InputChanged: {
    task: quick,
    arrange: async (key) => {
      await runToEnd(key, { webAppId: brokenDarkroom, inputs: photo });
    },
  },
  WorkerLost: { run: (language) => poisonous.get(language) ?? runPoisonousTask(language) },
  TaskRejected: { task: { ...quick, webAppId: 999 } },
  CreateUncertain: {
    task: { ...quick, onUncertain: 'fail' },
    arrange: () => {
      stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    },
  },
  TaskFailed: { task: { webAppId: brokenDarkroom, inputs: photo } },
  TaskNotFound: {
    task: quick,
    arrange: () => {
      refuse('detail', 'taskNotFound');
    },
  },
  DeadlineExceeded: { task: { ...long, deadlines: { run: '1 second' } } },
  StopUnconfirmed: {
    task: { ...long, deadlines: { run: '1 second' }, tuning: { ...tuning, stopGraceMs: 500 } },
    arrange: () => {
      refuse('interrupt', 'badParameter');
    },
  },
  SuccessNoOutputs: {
    task: quick,
    arrange: () => {
      stack.service.scenarios.add({ endpoint: 'outputs', scenario: { name: 'no-outputs' }, times: Infinity });
    },
  },
  ArchiveIncomplete: {
    task: { ...quick, tuning: { ...tuning, archiveGraceMs: 1_000 } },
    arrange: () => {
      stack.service.scenarios.add({ endpoint: 'outputs', scenario: { name: 'expired-links' }, times: Infinity });
    },
    meanwhile: async (key, language) => {
      await whenIncomplete(key);
      expect(await runExample(stack, language, 'decide-task', [key, 'abandon'])).toMatchObject({ exitCode: 0 });
    },
  },
  ResultLost: {
    run: async (language) => {
      const { requestId } = (await runToEnd(randomUUID(), quick)) as { requestId: string };
      stack.service.scenarios.add({
        endpoint: 'detail',
        scenario: { name: 'refuse', reason: 'outputGone' },
        requestId,
      });
      return await runExample(stack, language, 'adopt-task', [requestId]);
    },
  },
};

async function provoke(language: Language, provocation: Provocation): Promise<ExampleEnd> {
  const { task, on = () => stack, arrange, meanwhile, run } = provocation;
  if (run !== undefined) return await run(language);
  const key = randomUUID();
  await arrange?.(key);
  const end = runExample(on(), language, 'start-task', [key, JSON.stringify({ tuning, ...task })]);
  await meanwhile?.(key, language);
  return await end;
}

describe.each(languages)('$name', (language: Language) => {
  it.each(Object.entries(provocations))(
    'reads %s, its words and its details, as the schema has them',
    async (type, provocation) => {
      const { exitCode, stderr, last } = await provoke(language, provocation);
      expect({ exitCode, type: (last as TaskFailure | undefined)?.type, stderr }).toMatchObject({ exitCode: 1, type });
      expect(schemaProblems('TaskFailure', last)).toBe('');
      expect(last).toMatchObject({ message: expect.stringMatching(/\w+ \w+/) as string });
    },
    180_000,
  );
});

it('every type of the schema is provoked', () => {
  const { anyOf } = contractSchema.definitions['TaskFailure'] as {
    anyOf: { properties: { type: { const: string } } }[];
  };
  expect(Object.keys(provocations).sort()).toEqual(anyOf.map(({ properties }) => properties.type.const).sort());
});
