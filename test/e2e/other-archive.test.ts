import { readFileSync } from 'node:fs';
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

it('an archive that was exchanged for an empty one is said to be that at the start of its worker and by the doctor', async () => {
  const taskQueue = `${stack.taskQueue}-alone`;
  const first = await stack.startWorker(stack.env, taskQueue);
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  await (await longhaul.start({ webAppId: 5, inputs: {} })).result();
  await first.stop();
  const env = { ...stack.env, LONGHAUL_ARCHIVE: join(stack.archive, '../an-empty-archive') };
  const doctor = async (settings: NodeJS.ProcessEnv = env) =>
    (await runLonghaul(['doctor', '--task-queue', taskQueue], settings)).stdout;

  const words = /FAIL Archive of the tasks: the tasks of the task queue .* have another archive.*\n.*LONGHAUL_ARCHIVE/;
  await eventually(async () => words.test(await doctor()), { withinMs: 30_000, what: 'the doctor to say so' });
  expect(await doctor(stack.env)).not.toContain('Archive of the tasks');
  await stack.startWorker(env, taskQueue);

  const log = readFileSync(stack.logFiles.at(-1) ?? '', 'utf8');
  expect(log).toMatch(/"level":"warn".*this archive is new: .*; the tasks of the task queue .* have another archive/);
  expect(await doctor()).toMatch(words);
  await (await longhaul.start({ webAppId: 5, inputs: {} })).result();
  await eventually(async () => !words.test(await doctor()), { withinMs: 30_000, what: 'the doctor to be content' });
});
