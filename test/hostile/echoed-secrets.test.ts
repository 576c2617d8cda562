import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cancelSignal, statusQuery } from '../../src/contract/task-messages';
import { redact } from '../../src/core/redact';
import { eventually } from '../support/eventually';
import {
  descriptionOf,
  type Evidence,
  filesOf,
  historyOf,
  metadataOf,
  temporaryFiles,
  textsOf,
} from '../support/evidence';
import { findForbidden, type Forbidden } from '../support/find-forbidden';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { fastTuning, type RunningTask } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { echoEndpoints, EchoService, failureKinds, handedOut } from './echo-service';

const apiKey = `echo/key+${randomBytes(12).toString('hex')}`;
const callbackToken = `echo-callback+${randomBytes(12).toString('hex')}`;
const folder = temporaryFolder();
const evidence: Evidence[] = [];
const ends: unknown[] = [];
const tasks = new Map<string, RunningTask>();
let service: EchoService;
let stack: TaskStack;

/** So many that a small machine follows them. */
const tasksAtOnce = 30;

/** One task for each failure of each endpoint, and some that meet none. */
const names = [
  'success',
  ...echoEndpoints.flatMap((endpoint) => failureKinds.map((kind) => `${endpoint}-${kind}`)),
  ...['fails', 'odd-status', 'idIsKey'],
];

beforeAll(async () => {
  mkdirSync(join(folder.path, 'inputs'));
  service = await EchoService.start();
  stack = await TaskStack.open({
    env: {
      LONGHAUL_SERVICE_URL: service.url,
      LONGHAUL_API_KEY: apiKey,
      LONGHAUL_CALLBACK_URL: 'http://127.0.0.1:9/callback',
      LONGHAUL_CALLBACK_TOKEN: callbackToken,
      LONGHAUL_INPUT_ROOTS: join(folder.path, 'inputs'),
      LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0',
    },
  });
  // A worker knows a credential once it was given it: the first task's upload reads those that all replies echo.
  const [first = '', ...left] = names;
  await run(first);
  const runNext = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) await run(name);
  };
  await Promise.all(Array.from({ length: tasksAtOnce }, runNext));
  await gather();
}, 900_000);
afterAll(async () => {
  await stack.close();
  await service.close();
  folder.remove();
});

async function start(name: string): Promise<RunningTask> {
  const file = join(folder.path, 'inputs', `${name}.png`);
  writeFileSync(file, name);
  return await stack.client.workflow.start('task', {
    taskQueue: stack.taskQueue,
    workflowId: `task:${name}-${randomUUID()}`,
    workflowExecutionTimeout: '300 seconds',
    args: [
      {
        webAppId: 1,
        inputs: { '1:LoadImage.image': { file, as: 'url' } },
        tuning: { ...fastTuning, archiveGraceMs: 60_000 },
        deadlines: { total: '280 s' },
        // What cannot be known is given up, so that every task ends.
        onUncertain: 'fail',
        uncertainWait: '1 s',
      },
    ],
  });
}

/** To its end, or to where only a person can go on. */
async function run(name: string): Promise<void> {
  const task = await start(name);
  tasks.set(name, task);
  if (name.startsWith('cancel-')) {
    await eventually(async () => (await task.query(statusQuery)).serviceStatus === 'Queuing', {
      withinMs: 200_000,
      everyMs: 500,
      what: `${name} to be seen in the queue`,
    });
    await task.signal(cancelSignal);
  }
  await eventually(
    async () => {
      // Heartbeats and failures of activities show only while they are pending.
      evidence.push(...(await descriptionOf(task)));
      const { status } = await task.describe();
      if (status.name !== 'RUNNING') return true;
      return (await task.query(statusQuery)).status === 'ArchiveIncomplete';
    },
    { withinMs: 200_000, everyMs: 500, what: `the end of ${name}` },
  );
  const { status } = await task.describe();
  if (status.name === 'RUNNING') return;
  ends.push(
    await task.result().catch((error: unknown) => [String(error), error instanceof Error && error.cause, error]),
  );
}

function taskOf(name: string): RunningTask {
  const task = tasks.get(name);
  if (task === undefined) throw new Error(`There is no task ${name}.`);
  return task;
}

async function gather(): Promise<void> {
  for (const task of tasks.values()) {
    evidence.push(...(await historyOf(task)), ...(await descriptionOf(task)), ...(await metadataOf(task)));
  }
  const address = process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'];
  const env = { ...process.env, TEMPORAL_ADDRESS: address };
  const commands: CommandEnd[] = [await runLonghaul(['list', '--limit', '200', '--json'], env)];
  for (const name of ['success', 'outputs-http403', 'create-http401', 'detail-rubbish']) {
    const key = taskOf(name).workflowId.replace('task:', '');
    commands.push(await runLonghaul(['status', key, '--json'], env), await runLonghaul(['status', key], env));
  }
  evidence.push(
    ...textsOf(commands, 'the commands'),
    ...textsOf(ends, 'the results and errors'),
    ...textsOf(stack.log, 'the log'),
    { where: 'health', text: await (await stack.health()).text() },
    // What a result file holds is the service's own, and stays as it made it.
    ...filesOf(stack.archive).filter(({ where }) => !where.endsWith('.png') || where.startsWith('name of ')),
    ...temporaryFiles(),
  );
}

/** As it is, and as escapes hide it: a text is looked at decoded, too. */
function secret(name: string, value: string): Forbidden {
  const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
  return { name, what: (text) => forms.some((form) => text.includes(form)) };
}

const secrets: Forbidden[] = [
  secret('the API key', apiKey),
  secret('the callback token', callbackToken),
  ...Object.entries(handedOut).map(([name, value]) => secret(name, value)),
  { name: 'a bearer token', what: /Bearer(?:\s|%20)+(?!\[redacted\])(?!%5Bredacted)\S/i },
];

describe('a service that writes every secret that it knows wherever it can', () => {
  it('met each kind of failure at each endpoint', () => {
    const expected = names.filter((name) => /^(?!odd)\w+-\w+$/.test(name));
    expect(expected.filter((name) => !service.met.includes(name))).toEqual([]);
  });

  it('had its tasks followed to their ends', () => {
    expect(ends.length).toBeGreaterThan(names.length / 2);
    expect(JSON.stringify(ends)).toContain('"status":"Success"');
  });

  it('left no secret in histories, descriptions, the log, health, the archive, temporary files or output of commands', () => {
    expect([...new Set(findForbidden(evidence, secrets))].slice(0, 20)).toEqual([]);
  });
});

describe('the search', () => {
  it('saw what each place holds when nothing is wrong', () => {
    const seen = (where: RegExp): boolean => evidence.some((one) => where.test(one.where) && one.text !== '');
    expect(
      [/event 1 /, /description/, /metadata/, /commands/, /results/, /the log/, /health/].filter((w) => !seen(w)),
    ).toEqual([]);
    expect(evidence.some(({ text }) => text.includes('"manifestVersion"'))).toBe(true);
    expect(evidence.some(({ text }) => text.includes('[redacted]'))).toBe(true);
    expect(stack.log.some((line) => line.includes('"level":"warn"'))).toBe(true);
  });

  it.each<[string, string]>([
    ['as it is', `a ${apiKey} b`],
    ['percent-encoded', encodeURIComponent(apiKey)],
    ['in JSON', JSON.stringify({ echo: handedOut.accessKeySecret })],
    ['in base64', Buffer.from(`key: ${apiKey}`).toString('base64')],
    ['of an upload, in base64', Buffer.from(`key: ${handedOut.accessKeySecret}`).toString('base64')],
    ['in a bearer line', 'Authorization: Bearer something'],
  ])(
    'finds a secret that was planted, %s; and redaction takes it out unless it is one of an upload in base64',
    (how, text) => {
      expect(findForbidden([{ where: 'here', text }], secrets)).not.toEqual([]);
      const left = findForbidden([{ where: 'here', text: redact(text) }], secrets);
      expect(left.length > 0).toBe(how === 'of an upload, in base64');
    },
  );
});
