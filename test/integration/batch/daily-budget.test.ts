import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Longhaul } from '../../../src/client/longhaul';
import type { BatchHandle } from '../../../src/client/batch/batch-handle';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { temporalAddress } from '../../support/temporal-connection';
import { eventually } from '../../support/eventually';
import { preparedRowFile } from '../../support/prepared-row-file';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const swatch = 5;
/** Days are kept by namespace, which other tests use as well. */
const [studio, press] = [`studio-${randomUUID()}`, `press-${randomUUID()}`] as const;

const folder = temporaryFolder();
let stack: TaskStack;
beforeAll(async () => {
  const [prices, accounts] = ['prices.json', 'accounts.json'].map((name) => join(folder.path, name));
  const dailyBudgets = [
    { account: studio, amount: '0.05EUR' },
    { account: press, amount: '1EUR' },
  ];
  const content = { prices: [{ webAppId: swatch, currency: 'EUR', perTask: '0.02' }], dailyBudgets };
  writeFileSync(prices ?? '', JSON.stringify(content));
  const key = { apiKey: 'key-of-a-reference-account' };
  writeFileSync(accounts ?? '', JSON.stringify({ [studio]: key, [press]: key }));
  const env = { LONGHAUL_PRICES_FILE: prices, LONGHAUL_ACCOUNTS_FILE: accounts, LONGHAUL_INPUT_ROOTS: folder.path };
  stack = await TaskStack.open({ service: { slots: 50, accounts: [{ id: 'local', ...key }] }, env });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

function longhaul(): Longhaul {
  const { client, taskQueue } = stack;
  return new Longhaul({ client, taskQueue });
}

/** Starts rows of these accounts, in their order. */
async function startRows(id: string, accounts: readonly string[], webAppId = swatch): Promise<BatchHandle> {
  const rowsOfFile = accounts.map((account, index) => ({ key: `row-${index}`, account, inputs: {}, webAppId }));
  const rows = await preparedRowFile(folder.path, id, rowsOfFile);
  return await longhaul().startBatch({ id, rows });
}

/** What `longhaul` prints. */
async function commandOutput(...args: readonly string[]): Promise<string> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: temporalAddress() });
  await runCommandLine(args, context);
  return `${context.stdout.text}${context.stderr.text}`;
}

describe('a batch of an account with a daily budget', () => {
  it('starts as many rows as fit, waits with the others, and a second one starts none', async () => {
    const before = stack.service.ledger.total('create');
    const first = await startRows('first', ['default', studio, studio, studio, 'default']);
    await eventually(async () => (await first.status()).progress?.state === 'DailyBudgetReached');
    const { progress } = await first.status();
    expect(progress).toMatchObject({ success: 3, running: 0, waiting: 2 });
    expect(progress?.dailyBudget?.words).toContain(
      `The daily budget of the account "${studio}" is reached: 0.04 EUR of 0.05 EUR`,
    );

    const second = await startRows('second', [studio]);
    await eventually(async () => (await second.status()).progress?.state === 'DailyBudgetReached', {});
    expect(stack.service.ledger.total('create') - before).toBe(3);
    const budget = await commandOutput('budget', studio);
    expect(budget).toMatch(
      /settled +0\.04 EUR for 2 tasks\n +reserved +0\.00 EUR .+\n +left +0\.01 EUR\n +waiting +tasks/,
    );
    expect(await commandOutput('budget', studio, '--day', '2020-01-01')).toContain('no task has asked');
    await first.drain();
    await second.stop();
    expect(await first.result()).toMatchObject({ ending: 'drained', success: 3, notStarted: 2 });
    expect(await second.result()).toMatchObject({ success: 0, notStarted: 1 });
  });

  it('ends before it pays anything where an app has no price, and so does a single task', async () => {
    const before = stack.service.ledger.total('create');
    const batch = await startRows('unpriced', ['default', press], 1);
    await expect(batch.result()).rejects.toMatchObject({
      ...{ failureType: 'BudgetUnusable', message: expect.stringContaining('In line 2 (key "row-1")') as string },
    });
    const task = await longhaul().start({ account: press, webAppId: 1, inputs: {}, tuning: fastTuning });
    await expect(task.result()).rejects.toMatchObject({ failureType: 'BudgetUnusable' });
    expect(stack.service.ledger.total('create')).toBe(before);
  });
});
