import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { temporaryFolder } from '../../support/temporary-folder';
import { ClientEnvironment } from './client-environment';

/* What commands say of what they leave to workers, where there is none. */

const folder = temporaryFolder();
let environment: ClientEnvironment;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
  mkdirSync(join(folder.path, 'archive'));
});
afterAll(async () => {
  await environment.close();
  folder.remove();
});

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({
    TEMPORAL_ADDRESS: environment.address,
    LONGHAUL_SERVICE_URL: 'http://127.0.0.1:9',
    LONGHAUL_API_KEY: 'test-key',
    LONGHAUL_ARCHIVE: join(folder.path, 'archive'),
  });
  await runCommandLine(args, context);
  return context;
}

function warningOf(taskQueue: string): string {
  return `warning: No worker polls the task queue "${taskQueue}", so what was started or asked there waits: start a worker there with "longhaul worker --task-queue ${taskQueue}"; if one runs, "longhaul doctor --task-queue ${taskQueue}" says what it lacks.\n`;
}

describe('without a worker', () => {
  it('run --detach, and then reconcile, say that the task waits for one', async () => {
    const nobody = `nobody-${randomUUID()}`;
    const started = await run('run', '7', '--task-queue', nobody, '--detach');
    expect(started).toMatchObject({ exitCode: 0 });
    expect(started.stderr.text).toContain(warningOf(nobody));

    const compared = await run('reconcile', '--task-queue', nobody);
    expect(compared.stderr.text).toContain(warningOf(nobody));
    expect(compared.stdout.text).toContain('All safe');
    await run('stop', started.stdout.text.trim());
  });

  it('reconcile says that what it advises would wait, also beside JSON', async () => {
    const nobody = `nobody-${randomUUID()}`;
    const ids = join(folder.path, 'ids.txt');
    writeFileSync(ids, 'never-heard-of\n');
    const found = await run('reconcile', '--task-queue', nobody, '--from', ids, '--json');
    expect(found.exitCode).toBe(5);
    expect(JSON.parse(found.stdout.text)).toMatchObject({ isSafe: false });
    expect(found.stderr.text).toContain(warningOf(nobody));
  });

  it('sweep install says that no sweep will begin, and sweep status that none goes on', async () => {
    const nobody = `nobody-${randomUUID()}`;
    try {
      expect((await run('sweep', 'install', '--task-queue', nobody)).stderr.text).toBe(warningOf(nobody));
      expect((await run('sweep', 'status', '--task-queue', nobody)).stderr.text).toBe(warningOf(nobody));
    } finally {
      await run('sweep', 'remove', '--task-queue', nobody);
    }
  });
});

describe('a batch', () => {
  it('that was terminated needs a person, by the exit code of its status; one that waits for a worker does not', async () => {
    const id = `b-${randomUUID()}`;
    const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };
    const { workflowId } = await environment.longhaul.startBatch({ id, rows });
    expect((await run('batch', 'status', id)).exitCode).toBe(0);
    await environment.temporal.workflow.getHandle(workflowId).terminate('by hand');
    const context = await run('batch', 'status', id);
    expect(context.stdout.text).toContain('Cut off (terminated)');
    expect(context.exitCode).toBe(5);
  });
});

describe('with a worker', () => {
  it('none of this is said', async () => {
    const { taskQueue } = environment;
    const started = await run('run', '7', '--task-queue', taskQueue, '--detach');
    expect(started.stderr.text).not.toContain('warning');
    const compared = await run('reconcile', '--task-queue', taskQueue);
    expect(compared.stderr.text).not.toContain('warning');
  });
});
