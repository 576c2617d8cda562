import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
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
    {
      ...{ withinMs: 90_000, everyMs: 250 },
      what: 'each worker to see the other’s archive',
    },
  );
  const { exitCode, stdout } = await doctor();
  expect(exitCode).not.toBe(0);
  expect(stdout).toMatch(/FAIL\s+Archive of the workers: 2 archives are kept by the workers of this task queue/);
});

it('a worker does not start with an archive that was exchanged for an empty one, the doctor says so and reconcile compares nothing, until it is said that it replaces the other', async () => {
  const taskQueue = `${stack.taskQueue}-alone`;
  const first = await stack.startWorker(stack.env, taskQueue);
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  await (await longhaul.start({ webAppId: 5, inputs: {} })).result();
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
