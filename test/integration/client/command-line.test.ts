import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../../src/commands/program';
import type { TaskResult } from '../../../src/contract/task-result';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { FakeContext } from '../../support/fake-context';
import { ClientEnvironment } from './client-environment';
import { refusedCreate } from '../../support/refused-create';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});

afterAll(() => environment.close());

beforeEach(() => {
  const { service } = environment;
  service.calls.creates = [];
  service.createOutcomes = [];
  service.requestId = randomUUID();
  service.script = [seen('Success')];
});

function open(more: NodeJS.ProcessEnv = {}): FakeContext {
  return new FakeContext({ TEMPORAL_ADDRESS: environment.address, ...more });
}

/** Runs one command line to its end. */
async function run(...args: string[]): Promise<FakeContext> {
  const context = open();
  await runCommandLine(args, context);
  return context;
}

function runTask(key: string, ...more: string[]): string[] {
  return ['run', '7', '--key', key, '-i', '2:ImageScale.width=512', '--task-queue', environment.taskQueue, ...more];
}

function jsonOf(context: FakeContext): Record<string, unknown> {
  return JSON.parse(context.stdout.text) as Record<string, unknown>;
}

describe('longhaul run', () => {
  it('follows a task to its archived outputs: results on standard output, progress on standard error', async () => {
    const { requestId } = environment.service;
    const { stdout, stderr, exitCode } = await run(...runTask(randomUUID()));

    expect(exitCode).toBe(0);
    expect(stdout.text).toMatch(/^Success {2}task:/);
    expect(stdout.text).toContain(`output 0     archive/${requestId}/0.png  (1 B, sha256 ab)`);
    expect(stderr.text).toMatch(/^Started task:.*\n0:0\d {2}\w+/);
    expect(environment.service.calls.creates[0]?.inputs).toEqual({ '2:ImageScale.width': 512 });
  });

  it('prints one JSON object, the result as the client has it', async () => {
    const key = randomUUID();
    const context = await run(...runTask(key, '--json'));

    const result = await environment.longhaul.task(key).result();
    expect(jsonOf(context)).toEqual(result satisfies TaskResult);
  });

  it('with the same key follows the task that exists, and refuses another input', async () => {
    const key = randomUUID();
    const first = await run(...runTask(key, '--json'));
    const second = await run(...runTask(key, '--json'));
    const other = await run(...runTask(key, '-i', '2:ImageScale.height=1'));

    expect(jsonOf(second)).toEqual(jsonOf(first));
    expect(second.stderr.text).toMatch(/^Following, for it exists already: task:/);
    expect(other.exitCode).toBe(2);
    expect(other.stderr.text).toMatch(/stands for a task with another input/);
    expect(environment.service.calls.creates).toHaveLength(1);
  });

  it('ends with 3 and the service’s words when the task is rejected, and a retry sends it again', async () => {
    const key = randomUUID();
    const rejected = refusedCreate(404, 'no such app');
    environment.service.createOutcomes = [rejected];
    const first = await run(...runTask(key, '--json'));
    const retried = await run(...runTask(key, '--retry'));

    expect(first.exitCode).toBe(3);
    expect(first.stderr.text).toMatch(/TaskRejected.*no such app/);
    expect(jsonOf(first)).toMatchObject({ error: { type: 'TaskRejected', requestId: null, exitCode: 3 } });
    expect(retried.exitCode).toBe(0);
  });

  it('with --detach only starts it', async () => {
    environment.service.script = [seen('Running')];
    const key = randomUUID();

    const context = await run(...runTask(key, '--detach', '--json'));

    expect(jsonOf(context)).toEqual({ workflowId: `task:${key}`, origin: 'started', url: null, withoutEffect: [] });
    expect(context.exitCode).toBe(0);
    await expect(run('stop', key, '--wait')).resolves.toMatchObject({ exitCode: 4 });
  });

  it('lets go at Ctrl-C, and the task goes on', async () => {
    environment.service.script = [seen('Running')];
    const key = randomUUID();
    const context = open();
    const ended = runCommandLine(runTask(key), context);
    await eventually(() => context.stderr.text.includes('Running'));

    expect(context.pressCtrlC()).toBe(true);
    await ended;

    expect(context.exitCode).toBe(130);
    expect(context.stderr.text).toContain(`longhaul status ${key} --follow`);
    expect(context.pressCtrlC()).toBe(false);
    environment.service.script = [seen('Success')];
    await expect(run('status', key, '--follow')).resolves.toMatchObject({ exitCode: 0 });
  });

  it('leaves a task that waits for a person with 5 and the commands that decide, which then do', async () => {
    const key = randomUUID();
    environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
    const parked = await run(...runTask(key));
    const wrong = await run('rearchive', key);
    const interrupted = await run('interrupt', key, '--detach');
    const adopted = await run('resolve', key, '--adopt', 'r-known', '--json');

    expect(parked.exitCode).toBe(5);
    expect(parked.stderr.text).toContain(`longhaul resolve ${key} --adopt REQUEST_ID`);
    expect(parked.stdout.text).toMatch(/CreateUncertain/);
    expect(interrupted.stderr.text).toContain('so the request waits until that is decided');
    expect(interrupted.stderr.text).toContain(`longhaul resolve ${key} --recreate`);
    expect(interrupted.stderr.text).toContain('cannot be withdrawn. To keep a task that exists: decide --abandon');
    expect(wrong).toMatchObject({ exitCode: 2 });
    expect(wrong.stderr.text).toMatch(/does not apply/);
    expect(jsonOf(adopted)).toMatchObject({ words: expect.stringContaining('r-known') as string });
    const end = await run('status', key, '--follow', '--json');
    expect(jsonOf(end)).toMatchObject({ status: 'Success', requestId: 'r-known' });
  });
});

describe('longhaul status and list', () => {
  it('show a task for people and for programs', async () => {
    const account = `cli-${randomUUID()}`;
    environment.service.script = [seen('Queuing', { queuePosition: 3 })];
    const key = randomUUID();
    await run(...runTask(key, '--detach', '--account', account));
    await eventually(async () => (await environment.longhaul.task(key).status()).queuePosition === 3);

    const status = await run('status', key);
    const json = await run('status', `task:${key}`, '--json');
    const list = await eventually(async () => {
      const context = await run('list', '--account', account, '--status', 'Queuing');
      return context.stdout.text.includes(key) ? context : undefined;
    });

    expect(status.stdout.text).toMatch(/state +Queuing, 3 ahead for 0:0\d, started 0:0\d ago\n/);
    expect(status.stdout.text).toMatch(/queries +\d+\n +creates sent +1\n/);
    expect(jsonOf(json)).toMatchObject({ workflowId: `task:${key}`, status: 'Queuing', queuePosition: 3, account });
    expect(list?.stdout.text.split('\n')).toEqual([
      expect.stringMatching(/^STATUS +STARTED \(UTC\) +TOOK +APP +TASK +REQUEST ID$/),
      expect.stringMatching(new RegExp(`^Queuing +\\d{4}-.* 7 +task:${key} +${environment.service.requestId}$`)),
      '',
    ]);
    await run('cancel', key, '--wait');
    await expect(run('cancel', key)).resolves.toMatchObject({ exitCode: 2 });
  });

  it('say that a task waits for a worker when it is asked to stop, and status that it was asked', async () => {
    const [key, nobody] = [randomUUID(), randomUUID()];
    await run('run', '7', '--key', key, '--task-queue', nobody, '--detach');

    const stopped = await run('stop', key);
    expect(stopped.exitCode).toBe(0);
    expect(stopped.stderr.text).toMatch(/^Asked task:.* to stop\..*\nNo worker (?:has )?answered/);
    const status = await run('status', key);
    expect(status.stdout.text).toContain('It was asked to stop, which a worker does as soon as one is there.');
  });

  it('show what a task left that is over, and why it failed', async () => {
    const [key, other] = [randomUUID(), randomUUID()];
    const { requestId } = environment.service;
    await run(...runTask(key));
    const { stdout } = await run('status', key);
    expect(stdout.text).toMatch(/state +Success, over after 0:0\d\n/);
    expect(stdout.text).toContain(`  output 0     archive/${requestId}/0.png  (1 B, sha256 ab)\n`);
    const json = jsonOf(await run('status', key, '--json'));
    expect(json).toMatchObject({ status: 'Success', failure: null, result: { outputs: [{ bytes: 1 }] } });

    const rejected = refusedCreate(404, 'no such app');
    environment.service.createOutcomes = [rejected];
    await run(...runTask(other));
    const failed = (await run('status', other)).stdout.text;
    expect(failed).toMatch(/\n {2}failure +TaskRejected: .*no such app/);
    expect(failed.match(/no such app/g)).toHaveLength(1);
  });

  it('name the command for a batch', async () => {
    const { exitCode, stderr } = await run('status', 'batch:photos');
    expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('See "longhaul batch status photos".')]);
  });

  it('take a state in any capital letters', async () => {
    const account = `cli-${randomUUID()}`;
    environment.service.script = [seen('Running')];
    const key = randomUUID();
    await run(...runTask(key, '--detach', '--account', account));
    const listed = await eventually(async () => {
      const { stdout } = await run('list', '--account', account, '--status', 'running');
      return stdout.text.includes(key) && stdout.text;
    });
    expect(listed).toMatch(/^Running /m);
    await run('stop', key, '--wait');
  });

  it('tell by the exit code whether tasks wait for a person', async () => {
    const account = `cli-${randomUUID()}`;
    const list = (): Promise<FakeContext> => run('list', '--account', account, '--needs-person');
    expect(await list()).toMatchObject({ exitCode: 0 });
    environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
    const key = randomUUID();
    await run(...runTask(key, '--detach', '--account', account));
    await eventually(async () => (await list()).exitCode === 5);
    await run('resolve', key, '--abandon');
    await eventually(async () => (await list()).exitCode === 0);
  });
});

describe('longhaul doctor', () => {
  it('ends with 0 when a task could run', async () => {
    await run('doctor', '--setup', '--task-queue', environment.taskQueue);
    const context = await eventually(async () => {
      const doctor = await run('doctor', '--task-queue', environment.taskQueue);
      return doctor.exitCode === 0 ? doctor : undefined;
    });

    expect(context?.stdout.text.match(/^ok {3}/gm)).toHaveLength(13);
  });

  it('ends with 6 and says what to do when no worker polls, and what it does not check', async () => {
    const taskQueue = randomUUID();
    const context = await run('doctor', '--task-queue', taskQueue, '--json');

    expect(context.exitCode).toBe(6);
    expect(jsonOf(context)).toMatchObject({ isOk: false });
    expect(context.stdout.text).toContain(`Start a worker: longhaul worker --task-queue ${taskQueue}.`);
    expect(context.stderr.text).toMatch(/^Not checked: service, storage, archive and input roots/m);
  });

  it('warns of what a worker would log of its configuration, and of nothing twice', async () => {
    const context = open({
      LONGHAUL_SERVICE_URL: 'http://127.0.0.1:1',
      LONGHAUL_API_KEY: 'a-key',
      LONGHAUL_ARCHIVE: '/dev/null/archive',
      LONGHAUL_ARCHIV: '/srv',
      NODE_EXTRA_CA_CERTS: '/no/such/ca.pem',
    });
    await runCommandLine(['doctor', '--task-queue', randomUUID()], context);

    const lines = context.stderr.text.split('\n').filter((line) => line.startsWith('warning: '));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('LONGHAUL_ARCHIV is ignored');
    expect(lines[1]).toMatch(/NODE_EXTRA_CA_CERTS is ".*ca\.pem".*ENOENT/);
  });

  it('ends with 0 by --setup although no worker polls, for workers start after that step', async () => {
    const context = await run('doctor', '--setup', '--task-queue', randomUUID());

    expect(context.exitCode).toBe(0);
    expect(context.stdout.text.match(/^ok {3}\w+( \w+)?(?=:)/gm)).toEqual([
      'ok   Temporal',
      'ok   Namespace',
      'ok   Search attributes',
      'ok   Sweep',
    ]);
    expect(context.stderr.text).toBe('');
  });
});
