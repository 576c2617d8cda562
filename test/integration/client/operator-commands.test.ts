import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { runCommandLine } from '../../../src/commands/program';
import { findProblems, lookedAtLine } from '../../../src/commands/task/list';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { FakeContext } from '../../support/fake-context';
import { ClientEnvironment, smallInput } from './client-environment';
import { refusedCreate } from '../../support/refused-create';

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

/** Runs one command line to its end. */
async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({
    TEMPORAL_ADDRESS: environment.address,
    LONGHAUL_WEB_UI_URL: 'http://localhost:8233',
  });
  await runCommandLine(args, context);
  return context;
}

async function statusOf(key: string): Promise<string> {
  return (await environment.longhaul.task(key).status()).status;
}

/** Starts a task, and waits until it is in this state. */
async function start(status: string, tags: readonly string[] = []): Promise<string> {
  const key = randomUUID();
  environment.service.requestId = randomUUID();
  await environment.longhaul.start({ ...smallInput, key }, { tags });
  await eventually(async () => (await statusOf(key)) === status, { what: `the task to be ${status}` });
  return key;
}

function startUncertain(tags: readonly string[] = []): Promise<string> {
  environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
  return start('CreateUncertain', tags);
}

function terminate(key: string): Promise<unknown> {
  return environment.temporal.workflow.getHandle(`task:${key}`).terminate('by the test');
}

describe('longhaul stop of a task whose create is uncertain', () => {
  it('asks for the decision first, with the commands, and leaves the task waiting', async () => {
    const key = await startUncertain();
    const { exitCode, stderr } = await run('stop', key);
    expect(exitCode).toBe(5);
    expect(stderr.text).toMatch(/^Not asked to stop\. Decide first: /);
    expect(stderr.text).toContain(`  longhaul resolve ${key} --recreate   # the service does not show it`);
    expect(stderr.text).toContain(`longhaul stop ${key} --force`);

    const json = await run('stop', key, '--json');
    expect(json.exitCode).toBe(5);
    expect(JSON.parse(json.stdout.text)).toMatchObject({ status: 'CreateUncertain', stopRequests: [] });
    await run('resolve', key, '--abandon');
  });

  it('ends it undecided with --force', async () => {
    const key = await startUncertain();
    const { exitCode, stderr } = await run('stop', key, '--force', '--wait');
    expect(exitCode).toBe(5);
    expect(stderr.text).toContain('StopUnconfirmed');
  });
});

describe('longhaul stop of a task whose archive is incomplete', () => {
  it.each(['stop', 'cancel'])('says of %s that it is over at the service, and what to decide', async (verb) => {
    environment.service.script = [seen('Success')];
    environment.service.archiveFailures = [ApplicationFailure.nonRetryable('gone', 'ArchiveUnavailable')];
    const key = await start('ArchiveIncomplete');
    const { exitCode, stderr } = await run(verb, key);
    expect(exitCode).toBe(5);
    expect(stderr.text).toMatch(new RegExp(`^Not asked to ${verb}\\. The task is over at the service, and paid`));
    expect(stderr.text).toContain(`  longhaul rearchive ${key}   # `);
    expect(stderr.text).not.toContain('--force');
    await run('resolve', key, '--abandon');
  });
});

describe('longhaul list', () => {
  it('says when it left tasks out, beside the list and beside its JSON', async () => {
    environment.service.script = [seen('Success')];
    const tag = `cut:${randomUUID()}`;
    await start('Success', [tag]);
    await start('Success', [tag]);
    const both = await eventually(async () => {
      const context = await run('list', '--tag', tag);
      return context.stdout.text.split('\n').length === 4 ? context : undefined;
    });
    expect(both?.stderr.text).toBe('');

    const cut = await run('list', '--tag', tag, '--limit', '1');
    expect(cut.stdout.text.split('\n')).toHaveLength(3);
    expect(cut.stderr.text).toBe('the first 1; more: --limit 100\n');
    const json = await run('list', '--tag', tag, '--limit', '1', '--json');
    expect(JSON.parse(json.stdout.text)).toMatchObject({ tasks: [{ tags: [tag] }] });
  });

  it('says in words that there is nothing, and in JSON by an empty list', async () => {
    const tag = `none:${randomUUID()}`;
    expect((await run('list', '--tag', tag)).stdout.text).toBe('no tasks\n');
    expect((await run('list', '--tag', tag, '--needs-person')).stdout.text).toBe('no tasks\n');
    expect(JSON.parse((await run('list', '--tag', tag, '--json')).stdout.text)).toEqual({ tasks: [] });
  });

  it('of a state is without those that were cut off in it, which --failure lists', async () => {
    environment.service.script = [seen('Running')];
    const tag = `cut-off:${randomUUID()}`;
    const key = await start('Running', [tag]);
    const listed = async (...more: string[]): Promise<string> => (await run('list', '--tag', tag, ...more)).stdout.text;
    await eventually(async () => (await listed('--status', 'Running')).includes(key));
    await terminate(key);
    await eventually(async () => (await listed('--status', 'Running')) === 'no tasks\n');
    expect(await listed('--failure', 'WorkflowTerminated', '--status', 'Running')).toContain('Running (terminated)');

    const status = (await run('status', key)).stdout.text;
    expect(status).toMatch(/\n {2}service +Running, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n/);
  });
});

describe('longhaul list --problem', () => {
  const words = /createTask: .*HTTP 503.*busy/;
  const busy = refusedCreate(503, 'busy', { retryAfterMs: 60_000 });

  it('is of the tasks of which a step fails and is tried again, and says since when and why', async () => {
    const tag = `problem:${randomUUID()}`;
    environment.service.script = [seen('Running')];
    const running = await start('Running', [tag]);
    expect(await run('list', '--problem', '--tag', tag)).toMatchObject({
      ...{ exitCode: 0, stdout: { text: 'no tasks\n' } },
    });

    environment.service.createOutcomes = [busy];
    const key = await start('Creating', [tag]);
    const found = await eventually(async () => {
      const context = await run('list', '--problem', '--tag', tag);
      return context.exitCode === 5 ? context : undefined;
    });
    expect(found?.stdout.text).toMatch(new RegExp(`^Creating \\(Retrying\\) .* task:${key} `, 'm'));
    expect(found?.stdout.text).toMatch(new RegExp(`^task:${key}: Retrying since .* UTC.*: ${words.source}`, 'm'));
    expect(found?.stdout.text).not.toContain(running);
    expect(found?.stderr.text).toBe('');

    const { tasks } = JSON.parse((await run('list', '--problem', '--tag', tag, '--json')).stdout.text) as {
      tasks: unknown[];
    };
    expect(tasks).toMatchObject([{ workflowId: `task:${key}`, problem: { code: 'Retrying' } }]);
    for (const one of [key, running]) await run('stop', one, '--wait');
  });

  it('says when more tasks run than it looked at', async () => {
    const tag = `many:${randomUUID()}`;
    environment.service.script = [seen('Running')];
    const first = await start('Running', [tag]);
    const second = await start('Running', [tag]);
    const look = (most: number) => findProblems(environment.longhaul, { tags: [tag] }, 20, most);
    await eventually(async () => (await look(1)).lookedAt === 1, { what: 'both in a list' });
    expect(await look(2)).toEqual({ tasks: [], isCut: false, lookedAt: null });
    expect(lookedAtLine(1_000)).toMatch(/^looked at the first 1,000 tasks that run, and more run: /);
    for (const one of [first, second]) await run('stop', one, '--wait');
  });
});

describe('longhaul stop of a task whose workflow is over', () => {
  it('says that the task of one that was terminated may run on, and how it is followed and stopped', async () => {
    environment.service.script = [seen('Running')];
    const key = await start('Running');
    const { requestId } = environment.service;
    await terminate(key);
    const { exitCode, stderr } = await run('stop', key);
    expect(stderr.text).toContain(
      `task:${key} is over (terminated), and its task may run on at the service, and be paid`,
    );
    expect(stderr.text).toContain(
      `  longhaul adopt ${requestId} --detach\n  longhaul stop adopt-${requestId} --wait\n`,
    );
    expect(exitCode).toBe(5);
  });

  it('says of one that ended that it takes no more requests', async () => {
    environment.service.script = [seen('Success')];
    const { exitCode, stderr } = await run('stop', await start('Success'));
    expect(stderr.text).toMatch(/is over already and takes no more requests/);
    expect(exitCode).toBe(2);
  });
});

describe('longhaul resolve of a task whose create is uncertain', () => {
  it('says that requests to end it are kept and apply from now on, and nothing where there were none', async () => {
    for (const verbs of [['cancel', 'interrupt'], []]) {
      const key = await startUncertain();
      for (const verb of verbs) await run(verb, key);
      const { stderr } = await run('resolve', key, '--adopt', randomUUID());
      const words = `It was asked to cancel and to interrupt before, which is kept and applies from now on: longhaul status ${key}\n`;
      expect(stderr.text).toBe(verbs.length === 0 ? '' : words);
      await terminate(key);
    }
  });

  it('gives it up, which a list tells from one that still waits', async () => {
    const tag = `given-up:${randomUUID()}`;
    const keys = [await startUncertain([tag]), await startUncertain([tag])] as const;
    await run('resolve', keys[0], '--abandon');
    const lines = await eventually(async () => {
      const { stdout } = await run('list', '--tag', tag);
      return stdout.text.includes('(failed)') ? stdout.text.trim().split('\n') : undefined;
    });
    const stateOf = (key: string): string | undefined => lines?.find((line) => line.includes(key))?.split(/ {2,}/)[0];
    expect(keys.map(stateOf)).toEqual(['CreateUncertain (failed)', 'CreateUncertain']);
    await run('resolve', keys[1], '--abandon');
  });
});

describe('longhaul open', () => {
  it('prints the page of what exists, and refuses what does not as status does', async () => {
    environment.service.script = [seen('Success')];
    const key = await start('Success');
    const known = await run('open', key);
    expect([known.exitCode, known.stdout.text]).toEqual([0, expect.stringContaining(`/workflows/task%3A${key}\n`)]);

    const unknown = await run('open', randomUUID());
    expect(unknown).toMatchObject({ exitCode: 2, stdout: { text: '' } });
    expect((await run('open', 'batch:no-such-batch')).exitCode).toBe(2);
  });
});
