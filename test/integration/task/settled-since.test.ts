import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { forgetWorkflow, forgettingMs } from '../../support/forget-workflow';
import { whenListedAsEnded } from '../../support/listed-end';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

/* What `longhaul status` says of a task whose workflow was terminated, and how it ends, for cron. */

const folder = temporaryFolder();
let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'], ...env });
  await runCommandLine(args, context);
  return context;
}

const workerEnv = (): NodeJS.ProcessEnv => ({
  LONGHAUL_SERVICE_URL: stack.service.url,
  LONGHAUL_API_KEY: stack.service.apiKey,
  LONGHAUL_ARCHIVE: stack.archive,
});

/** With `--force`: the uncertain creates of the other tests were sent within the same seconds. */
async function settle(answer: string): Promise<void> {
  const args = ['reconcile', '--task-queue', stack.taskQueue, '--settle', answer, '--force'];
  expect((await run(args, workerEnv())).exitCode).not.toBe(2);
}

/** The key of a task that was terminated while it was uncertain whether its create made the given task. */
async function terminatedUncertain(): Promise<{ readonly key: string; readonly requestId: string }> {
  const key = randomUUID();
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
  const task = await longhaul.start({ key, webAppId: 5, inputs: {}, tuning: fastTuning });
  await eventually(async () => (await task.status()).status === 'CreateUncertain');
  const requestId = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
  await stack.client.workflow.getHandle(task.workflowId).terminate('by hand');
  await whenListedAsEnded(stack.client, task.workflowId, 'TERMINATED');
  return { key, requestId };
}

const status = (key: string, archive: string | undefined = stack.archive): Promise<FakeContext> =>
  run(['status', key], archive === '' ? {} : { LONGHAUL_ARCHIVE: archive });

describe('the status of a task that was terminated while its create was uncertain', () => {
  it('says where it is seen whether that was settled, and needs a person, as long as it is not known', async () => {
    const { key } = await terminatedUncertain();
    for (const context of [await status(key, ''), await status(key)]) {
      expect(context.exitCode).toBe(5);
      expect(context.stdout.text).toContain('its create record says whether that was settled since');
      expect(context.stdout.text).toMatch(/longhaul reconcile tells/);
      expect(context.stderr.text).toBe('');
    }
  });

  it('says that it made none, once that is settled', async () => {
    const { key } = await terminatedUncertain();
    await settle(`task:${key}/1=none`);
    const { exitCode, stdout } = await status(key);
    expect(exitCode).toBe(0);
    expect(stdout.text).toContain('it is settled that none made a task. Nothing is paid.');
    expect(stdout.text).not.toContain('reconcile');
    expect((await status(key, '')).exitCode).toBe(5);
  });

  it('names the task that it made, once that is settled, then who follows it', async () => {
    const { key, requestId } = await terminatedUncertain();
    await settle(`task:${key}/1=${requestId}`);
    const settled = await status(key);
    expect(settled.exitCode).toBe(5);
    expect(settled.stdout.text).toContain(`By its create record, it made the task ${requestId}.`);
    expect(settled.stdout.text).toMatch(new RegExp(`longhaul adopt ${requestId} follows`));

    const adopted = await longhaul.adopt(requestId, { tuning: fastTuning });
    await adopted.result();
    const followed = await eventually(async () => {
      const context = await status(key);
      return context.exitCode === 0 ? context : undefined;
    });
    expect(followed?.stdout.text).toMatch(new RegExp(`adopted by +${adopted.workflowId}`));
    const { exitCode, stdout } = await run(['status', key, '--json'], { LONGHAUL_ARCHIVE: stack.archive });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ requestId, adoptedBy: adopted.workflowId });
  });

  it('is as without an archive where that is not the one of its worker, and says so', async () => {
    const { key } = await terminatedUncertain();
    const { exitCode, stdout, stderr } = await status(key, folder.path);
    expect(exitCode).toBe(5);
    expect(stderr.text).toMatch(/^warning: What became of the task since is not known: [^]*LONGHAUL_ARCHIVE/);
    expect(stdout.text).not.toContain('Nothing is paid');
  });
});

describe('the status of a task', () => {
  it(
    'that was terminated while it ran needs a person until its outputs are archived, whoever did that',
    async () => {
      const key = randomUUID();
      const inputs = { '2:Wait.seconds': 1 };
      const task = await longhaul.start({ key, webAppId: 5, inputs, tuning: fastTuning });
      const requestId = await eventually(async () => (await task.status()).requestId ?? undefined);
      expect((await status(key)).exitCode).toBe(0);
      await stack.client.workflow.getHandle(task.workflowId).terminate('by hand');
      const cutOff = await status(key);
      expect(cutOff.exitCode).toBe(5);
      expect(cutOff.stdout.text).toContain('nothing follows the task');

      const adopted = await longhaul.adopt(requestId ?? '', { tuning: fastTuning });
      await adopted.result();
      await forgetWorkflow(stack.client, adopted.workflowId);
      const archived = await eventually(async () => {
        const context = await status(key);
        return context.stdout.text.includes('adopted by') ? undefined : context;
      });
      expect(archived?.exitCode).toBe(0);
      expect(archived?.stdout.text).toContain(`Its outputs are archived: ${stack.archive}/${requestId}/manifest.json`);
    },
    forgettingMs,
  );

  it('that waits for a decision needs a person', async () => {
    const key = randomUUID();
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await longhaul.start({ key, webAppId: 5, inputs: {}, tuning: fastTuning });
    await eventually(async () => (await task.status()).status === 'CreateUncertain');
    expect(await run(['status', key])).toMatchObject({ exitCode: 5 });
    await task.abandon();
  });
});
