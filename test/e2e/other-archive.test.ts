import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Longhaul } from '../../src/client/longhaul';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { runLonghaul } from '../support/run-longhaul';

let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open();
});
afterAll(async () => {
  await stack.close();
});

it('workers of one task queue that keep two archives say so in their logs, and the doctor fails', async () => {
  await stack.startWorker();
  const doctor = () => stack.run('doctor', '--task-queue', stack.taskQueue);
  expect((await doctor()).stdout).not.toContain('Archive of the workers');

  await stack.startWorker({ ...stack.env, LONGHAUL_ARCHIVE: join(stack.archive, '../another-archive') });

  await eventually(
    () =>
      stack.logFiles.every((file) =>
        readFileSync(file, 'utf8').includes('"msg":"workers of this task queue keep another archive'),
      ),
    { ...{ withinMs: 90_000, everyMs: 250 }, what: 'each worker to see the other’s archive' },
  );
  const { exitCode, stdout } = await doctor();
  expect(exitCode).not.toBe(0);
  expect(stdout).toMatch(/FAIL\s+Archive of the workers: 2 archives are kept by the workers of this task queue/);
});

it('a worker does not start with an archive that was exchanged for an empty one, the doctor says so and reconcile compares nothing, until it is said that it replaces the other', async () => {
  const taskQueue = `${stack.taskQueue}-alone`;
  const first = await stack.startWorker(stack.env, taskQueue);
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const tuning = { continueAsNewAfterEvents: 40, poll: { minMs: 50, maxMs: 50 } };
  const task = await longhaul.start({ webAppId: 5, inputs: {}, tuning });
  const { workflowId } = task;
  const describe = () => stack.client.workflow.getHandle(workflowId).describe();
  const { runId } = await describe();
  await eventually(async () => (await describe()).runId !== runId, { what: 'the task to continue as new' });
  stack.service.release((await task.status()).requestId ?? '');
  await task.result();
  await first.stop();
  const folder = join(stack.archive, '../an-empty-archive');
  mkdirSync(folder);
  const env = { ...stack.env, LONGHAUL_ARCHIVE: folder };
  const doctor = async (settings: NodeJS.ProcessEnv = env) =>
    (await runLonghaul(['doctor', '--task-queue', taskQueue], settings)).stdout;

  const words = /FAIL Archive of the tasks: the tasks of the task queue .* have another archive.*\n.*LONGHAUL_ARCHIVE/;
  await eventually(async () => words.test(await doctor()), { withinMs: 30_000, what: 'the doctor to say so' });
  expect(await doctor(stack.env)).not.toContain('Archive of the tasks');
  const refused = await runLonghaul(['worker', '--task-queue', taskQueue], env);

  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.stderr).toMatch(
    /LONGHAUL_ARCHIVE: .*an-empty-archive: the tasks .* have another archive \(([0-9a-f]{8})\)/,
  );
  const compared = await runLonghaul(['reconcile', '--task-queue', taskQueue], env);
  expect(compared).toMatchObject({ exitCode: 2, stdout: '' });
  expect(compared.stderr).toMatch(/LONGHAUL_ARCHIVE: .*an-empty-archive: the tasks .* have another archive/);
  const [, replaced = ''] = /LONGHAUL_REPLACES_ARCHIVE=([0-9a-f]{8})/.exec(refused.stderr) ?? [];
  expect(readdirSync(folder)).toEqual([]);
  const replacing = { ...env, LONGHAUL_REPLACES_ARCHIVE: replaced };
  expect(await doctor(replacing)).not.toContain('Archive of the tasks');
  await stack.startWorker(replacing, taskQueue);
  await (await longhaul.start({ webAppId: 5, inputs: {} })).result();
  await eventually(async () => !words.test(await doctor()), { withinMs: 30_000, what: 'the doctor to be content' });
  expect(await doctor(stack.env)).toMatch(words);
});

it('the archive of a task is that of the worker which created it, whichever worker took its last workflow task', async () => {
  const taskQueue = `${stack.taskQueue}-mixed`;
  const envOf = (name: string): NodeJS.ProcessEnv => ({
    ...stack.env,
    LONGHAUL_ARCHIVE: join(stack.archive, `../${name}`),
  });
  const environments = [envOf('archive-a'), envOf('archive-b')];
  const workers = await Promise.all(environments.map((env) => stack.startWorker(env, taskQueue)));
  const archiveIn = (identity: string) => identity.replace(/.*\/archive-/, '');
  const longhaul = new Longhaul({ client: stack.client, taskQueue });

  const found = await eventually(
    async () => {
      const task = await longhaul.start({ webAppId: 5, inputs: {} });
      await task.result();
      const { events } = await stack.client.workflow.getHandle(task.workflowId).fetchHistory();
      const create = events?.find(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'createTask',
      );
      const identities = events?.map(({ activityTaskStartedEventAttributes: started, ...event }) => ({
        created: String(started?.scheduledEventId) === String(create?.eventId) ? started?.identity : undefined,
        decided: event.workflowTaskCompletedEventAttributes?.identity,
      }));
      const created = archiveIn(identities?.findLast((one) => one.created)?.created ?? '');
      const decided = archiveIn(identities?.findLast((one) => one.decided)?.decided ?? '');
      return created === decided ? undefined : ([created, decided] as const);
    },
    { withinMs: 60_000, everyMs: 10, what: 'a task that one worker created and the other ended' },
  );
  const [creator, lastWorker] = found ?? [];
  await Promise.all(workers.map((worker) => worker.stop()));
  const ids = environments.map((env) => readFileSync(`${env['LONGHAUL_ARCHIVE']}/.archive-id`, 'utf8').slice(0, 8));
  const envWith = (id: string | undefined): NodeJS.ProcessEnv => environments[ids.indexOf(id ?? '')] ?? {};

  await eventually(
    async () => {
      const { stdout } = await runLonghaul(['doctor', '--task-queue', taskQueue], envWith(lastWorker));
      return stdout.includes(`have another archive (${creator})`);
    },
    { withinMs: 30_000, what: 'the doctor to say where the create record is' },
  );
  const refused = await runLonghaul(['worker', '--task-queue', taskQueue], envWith(lastWorker));
  expect(refused).toMatchObject({ exitCode: 2 });
  await stack.startWorker(envWith(creator), taskQueue);
});

it('a copy of the archive without its hidden files is refused, and the whole copy is taken', async () => {
  const taskQueue = `${stack.taskQueue}-moved`;
  const first = await stack.startWorker(stack.env, taskQueue);
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  await (await longhaul.start({ webAppId: 5, inputs: {} })).result();
  await first.stop();
  const folder = join(stack.archive, '../a-moved-archive');
  const copy = (filter: (name: string) => boolean): void => {
    for (const name of readdirSync(stack.archive).filter(filter)) {
      cpSync(join(stack.archive, name), join(folder, name), { recursive: true });
    }
  };
  const env = { ...stack.env, LONGHAUL_ARCHIVE: folder };

  copy((name) => !name.startsWith('.'));
  const refused = await runLonghaul(['worker', '--task-queue', taskQueue], env);
  expect(refused).toMatchObject({ exitCode: 2 });
  expect(refused.stderr).toMatch(/have another archive.*copy its hidden files, too/s);

  copy((name) => name.startsWith('.'));
  await stack.startWorker(env, taskQueue);
});

it('an archive that goes away under a worker which has not used it yet gets nothing in its place: no result, no create, no sweep', async () => {
  const taskQueue = `${stack.taskQueue}-away`;
  const place = join(stack.archive, '../a-mounted-archive');
  mkdirSync(place);
  const env = { ...stack.env, LONGHAUL_ARCHIVE: place };
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  const first = await stack.startWorker(env, taskQueue);
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const held = await longhaul.start({ webAppId: 5, inputs: {} });
  const requestId = await eventually(async () => (await held.status()).requestId ?? '', {
    what: 'the task to be created',
  });
  await first.stop();
  const creates = (): number => stack.service.ledger.entries({ endpoint: 'create' }).length;
  const before = creates();

  await stack.startWorker(env, taskQueue);
  // As an unmounted disk leaves its mount point.
  renameSync(place, `${place}.away`);
  mkdirSync(place);
  stack.service.release(requestId);
  const other = await longhaul.start({ webAppId: 5, inputs: {} });
  const isHeldUp = (task: typeof held, activity: string) => async (): Promise<boolean> => {
    const { message = '' } = (await task.status()).problem ?? {};
    return message.startsWith(`${activity}: `) && message.includes('not the one that was there before');
  };
  const patiently = { withinMs: 60_000, everyMs: 250 };
  await eventually(isHeldUp(held, 'archiveOutputs'), { ...patiently, what: 'the result to wait for its archive' });
  await eventually(isHeldUp(other, 'createTask'), { ...patiently, what: 'the create to wait for its archive' });
  const sweep = longhaul.sweeps.run({});
  const query = `WorkflowType = "sweep" AND TaskQueue = "${taskQueue}"`;
  const isSweepHeldUp = async (): Promise<boolean> => {
    for await (const { workflowId } of stack.client.workflow.list({ query })) {
      const { pendingActivities } = (await stack.client.workflow.getHandle(workflowId).describe()).raw;
      return (pendingActivities?.[0]?.lastFailure?.message ?? '').includes('not the one that was there before');
    }
    return false;
  };
  await eventually(isSweepHeldUp, { ...patiently, what: 'the sweep to wait for the archive' });
  expect(readdirSync(place)).toEqual([]);
  expect(creates()).toBe(before);

  rmSync(place, { recursive: true });
  renameSync(`${place}.away`, place);
  for (const task of [held, other]) {
    const { status, outputs } = await task.result();
    expect(status).toBe('Success');
    expect(outputs.map(({ path }) => readFileSync(path).length > 0)).toEqual([true]);
  }
  expect(await sweep).toMatchObject({ unsafe: {} });
});
