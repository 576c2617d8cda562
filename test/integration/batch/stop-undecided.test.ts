import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { prepareRows, readRows, rowFileAt } from '../../../src/rows';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { fastBatchTuning } from '../../support/fake-batch';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporalAddress } from '../../support/temporal-connection';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = temporaryFolder();
let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path } });
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

describe('longhaul batch stop, while it is not known of a row whether its task was created', () => {
  it('says that the row ends undecided, and the status of the batch how that is settled', async () => {
    const id = `undecided-${randomUUID()}`;
    const file = join(folder.path, `${id}.jsonl`);
    writeFileSync(file, `${JSON.stringify({ key: 'in-doubt', inputs: {}, tuning: fastTuning })}\n`);
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const outcomes = readRows(rowFileAt(file), { common: { webAppId: 5 } });
    const { rows } = await prepareRows(outcomes, { folder: folder.path, name: id });
    if (rows === null) throw new Error('no row is good');
    const { client, taskQueue } = stack;
    await new Longhaul({ client, taskQueue }).startBatch({ id, rows, tuning: fastBatchTuning });
    await eventually(async () => (await run('list', '--batch', id, '--needs-person')).exitCode === 5, {
      withinMs: 30_000,
      what: 'the row to wait for a person',
    });

    const { stderr } = await run('batch', 'stop', id);
    expect(stderr.text).toMatch(
      /^Asked batch:\S+ to stop\.\n1 row ends undecided, as StopUnconfirmed: .*\n.*"longhaul reconcile" lists/,
    );
    const { stdout } = await run('batch', 'status', id);
    expect(stdout.text).toMatch(/^ {2}next +longhaul reconcile: of 1 row the service may have the task/m);
  });
});
