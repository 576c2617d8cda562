import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BatchCommands, endedOf, eventsOf } from '../support/batch-commands';
import { freePorts } from '../../tools/free-port';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';

/** The reference service's app that is done at once. */
const swatch = '5';

let stack: ProcessStack;
let batches: BatchCommands;
beforeAll(async () => {
  stack = await ProcessStack.open();
  batches = new BatchCommands(stack);
  const prices = join(stack.inputs, 'prices.json');
  writeFileSync(prices, JSON.stringify({ prices: [{ webAppId: 5, currency: 'EUR', perTask: '0.02' }] }));
  stack.env['LONGHAUL_PRICES_FILE'] = prices;
  await stack.startWorker();
});
afterAll(() => stack.close());

function rowFile(name: string, rows: number): string {
  const lines = Array.from({ length: rows }, (_, index) => `row-${index},${8 + index}`);
  return batches.rowFile(name, ['key,1:EmptyImage.width', ...lines]);
}

/** What another worker, which begins now, tells its metrics endpoint. */
async function batchesAtBudget(): Promise<number> {
  await eventually(async () => (await stack.run('batch', 'list')).stdout.includes('BudgetReached'));
  const [port = 0] = await freePorts(1);
  const worker = await stack.startWorker({ ...stack.env, LONGHAUL_METRICS: `127.0.0.1:${port}` });
  const found = await eventually(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^longhaul_batches_at_budget(?:\{[^}]*\})? (\d+)$/m.exec(text);
  });
  await worker.stop();
  return Number(found?.[1]);
}

describe('a budget on the command line', () => {
  it('stops the batch, is shown by its status, and is raised by set-budget', async () => {
    const file = rowFile('stopped.csv', 6);
    const started = await batches.run(file, '--app', swatch, '--budget', '0.07EUR', '--detach');
    expect(started).toMatchObject({ exitCode: 0 });
    const status = await eventually(async () => {
      const { stdout } = await stack.run('batch', 'status', 'stopped');
      return stdout.includes('BudgetReached') && stdout;
    });
    expect(status).toContain('0.06 EUR of 0.07 EUR spent; no more rows are started');
    expect(status).toContain('longhaul batch set-budget stopped AMOUNT');
    expect(batches.spent().creates).toBe(3);
    expect(await batchesAtBudget()).toBe(1);

    expect(await stack.run('batch', 'set-budget', 'stopped', '20')).toMatchObject({ exitCode: 2 });
    expect(await stack.run('batch', 'set-budget', 'stopped', '9USD')).toMatchObject({ exitCode: 2 });
    const raised = await stack.run('batch', 'set-budget', 'stopped', '9EUR');
    expect(raised).toMatchObject({ exitCode: 0 });
    expect(raised.stdout).toContain('The budget is 9.00 EUR from now on');
    expect(await batches.run(file, '--app', swatch)).toMatchObject({ exitCode: 0 });
    expect(batches.spent().creates).toBe(6);
  });

  it('is refused before anything is paid where a price is not known, by the command and by the worker', async () => {
    const before = batches.spent().creates;
    const file = rowFile('unpriced.csv', 2);
    const byCommand = await batches.run(file, '--app', '1', '--budget', '1EUR', '--dry-run');
    expect(byCommand).toMatchObject({ exitCode: 2 });
    expect(byCommand.stderr).toMatch(/no price is known for 2 rows.*row 2 \(key "row-0", app 1\)/);
    const { LONGHAUL_PRICES_FILE: prices, ...env } = stack.env;
    try {
      delete stack.env['LONGHAUL_PRICES_FILE'];
      const byWorker = await batches.run(file, '--app', '1', '--budget', '1EUR');
      expect(byWorker).toMatchObject({ exitCode: 2 });
      expect(byWorker.stderr).toContain('BudgetUnusable');
    } finally {
      Object.assign(stack.env, env, { LONGHAUL_PRICES_FILE: prices });
    }
    expect(batches.spent().creates).toBe(before);
  });
});

describe('an estimate', () => {
  it('of the whole file follows a few rows, and stands in the next check', async () => {
    const file = rowFile('estimated.csv', 40);
    const options = ['--app', swatch, '--id', 'estimated'];
    const tried = await batches.run(file, ...options, '--first', '3', '--json');
    if (tried.exitCode !== 0) throw new Error(tried.stdout.slice(-900) + tried.stderr.slice(-600));
    // Three of the forty rows are paid.
    const costs = [{ currency: 'EUR', median: 740_000, p90: 740_000 }];
    expect(eventsOf(tried).slice(-2)).toMatchObject([
      { event: 'estimate', rows: 37, restsOn: 3, costs },
      { event: 'ended', success: 3 },
    ]);
    expect(endedOf(tried).apps).toMatchObject([{ webAppId: 5, rows: 3 }]);

    const checked = await batches.run(file, ...options, '--dry-run');
    expect(checked.stdout).toMatch(
      /estimate +0\.\d\d EUR for \d\d rows, by their fixed prices; at least .* runs 100 rows at a time, by \d+ earlier rows/,
    );
    expect(checked.stdout.match(/^ {2}estimate/gm)).toHaveLength(1);
    const knowing = await batches.run(file, ...options, '--dry-run', '--budget', '0.10EUR');
    expect(knowing.stdout).toMatch(
      /^ {2}estimate +0\.74 EUR for 37 rows, by their fixed prices; .*\n {2}estimate +the budget of 0\.10 EUR, of which 0\.06 EUR is spent, lets 2 rows start$/m,
    );
    const unknown = await batches.run(file, '--app', '1', '--id', 'of-another-app', '--dry-run');
    expect(unknown.stdout).toMatch(/estimate +nothing is known: no earlier row of app 1 is known/);
  });
});
