import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';

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
