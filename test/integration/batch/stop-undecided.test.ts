import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import type { TaskResult } from '../../../src/contract/task-result';
import type { TaskView } from '../../../src/client/task/task-view';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { fastBatchTuning } from '../../support/fake-batch';
import { preparedRowFile } from '../../support/prepared-row-file';
import { TaskStack } from '../../support/task-stack';
import { temporalAddress } from '../../support/temporal-connection';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = temporaryFolder();
let stack: TaskStack;
beforeAll(async () => {
  // Nobody listens there: it makes creates name themselves.
  const callback = { LONGHAUL_CALLBACK_URL: 'http://127.0.0.1:9/', LONGHAUL_CALLBACK_TOKEN: 'x'.repeat(32) };
  stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path, ...callback } });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: temporalAddress() });
  await runCommandLine(args, context);
  return context;
}

/** Starts a batch of these rows, whose creates all lose their replies; returns its id once each waits for a person. */
async function startUncertain(...keys: readonly string[]): Promise<string> {
  const id = `undecided-${randomUUID()}`;
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' }, times: keys.length });
  const rowsOfFile = keys.map((key) => ({ key, webAppId: 5, inputs: {} }));
  const rows = await preparedRowFile(folder.path, id, rowsOfFile);
  const { client, taskQueue } = stack;
  await new Longhaul({ client, taskQueue }).startBatch({ id, rows, tuning: fastBatchTuning });
  await eventually(
    async () => {
      const { stdout } = await run('list', '--batch', id, '--needs-person', '--json');
      return (JSON.parse(stdout.text) as { tasks: unknown[] }).tasks.length === keys.length;
    },
    { withinMs: 30_000, what: 'the rows to wait for a person' },
  );
  return id;
}

describe('longhaul batch stop, while it is not known of a row whether its task was created', () => {
  it('says that the row ends undecided, and the status of the batch how that is settled', async () => {
    const id = await startUncertain('in-doubt');

    const { stderr } = await run('batch', 'stop', id);
    expect(stderr.text).toMatch(
      /^Asked batch:\S+ to stop\.\n1 row ends undecided, as StopUnconfirmed: .*\n.*"longhaul reconcile" lists/,
    );
    const { stdout } = await run('batch', 'status', id);
    expect(stdout.text).toMatch(/^ {2}next +longhaul reconcile: of 1 row the service may have the task/m);
  });
});

describe('two rows whose creates are uncertain in the same moment', () => {
  it('are never taken for each other without --force, and one command answers for those that are left', async () => {
    const before = stack.service.ledger.count({ endpoint: 'create' });
    const id = await startUncertain('one', 'two');
    const [one, two] = ['one', 'two'].map((key) => rowWorkflowId(id, key));
    const madeBy = (correlation = ''): string =>
      stack.service.ledger.entries({ endpoint: 'create', correlation })[0]?.requestId ?? '';
    const ids = join(folder.path, `${id}.txt`);
    writeFileSync(ids, `${madeBy(two)}\n${madeBy(one)}\n`);

    const view = JSON.parse((await run('status', one ?? '', '--json')).stdout.text) as TaskView;
    expect(view.otherUncertain.map(({ workflowId }) => workflowId)).toEqual([two]);
    const swapped = await run('resolve', one ?? '', '--adopt', madeBy(two));
    expect(swapped.exitCode).not.toBe(0);
    expect(swapped.stderr.text).toMatch(new RegExp(`created the task \\S+ at .* was sent at .*${two ?? ''}.*--force`));
    const all = await run('resolve', '--batch', id, '--from', ids, '--json');
    expect(all.exitCode).toBe(5);
    expect(JSON.parse(all.stdout.text)).toMatchObject({ resolved: [], left: [{}, {}] });
    expect((await run('resolve', '--batch', id, '--recreate')).exitCode).toBe(2);

    expect((await run('resolve', one ?? '', '--adopt', madeBy(one), '--force')).exitCode).toBe(0);
    await eventually(async () => (await run('resolve', '--batch', id, '--from', ids)).exitCode === 0, {
      what: 'the other row to be adopted, now that nothing else is uncertain',
    });
    for (const workflowId of [one, two]) {
      const { requestId } = await stack.client.workflow.getHandle<() => Promise<TaskResult>>(workflowId ?? '').result();
      expect(requestId).toBe(madeBy(workflowId));
    }
    expect(stack.service.ledger.count({ endpoint: 'create' }) - before).toBe(2);
  });

  it('are created once more together only by somebody who accepts that both may be paid twice', async () => {
    const before = stack.service.ledger.count({ endpoint: 'create' });
    const id = await startUncertain('one', 'two');
    const { exitCode, stdout } = await run('resolve', '--batch', id, '--recreate', '--accept-second-charge', '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ resolved: [{}, {}], left: [] });
    await eventually(() => stack.service.ledger.count({ endpoint: 'create' }) - before === 4);
  });
});
