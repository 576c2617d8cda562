import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchHandle } from '../../src/client/batch/batch-handle';
import { rowWorkflowId } from '../../src/contract/workflow-ids';
import { prepareRows, readRows, rowFileAt } from '../../src/rows';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';
import { PlainClient } from '../integration/reference-service/plain-client';
import { FaultStack } from './fault-stack';
import { acceptedCreates, attendRows } from './soak-batch/attend-rows';
import { faultTuning } from './task-under-test';

/** More of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 36);
const concurrency = 6;
const swatch = 5;
/** Of the price below, in millionths: independent of how Longhaul computes. */
const microsFor = ({ total_cost_time: ms = NaN }: Readonly<Record<string, number>>): number => 20_000 + 30 * ms;

const folder = temporaryFolder();
let stack: FaultStack;
beforeAll(async () => {
  const prices = join(folder.path, 'prices.json');
  const price = { currency: 'EUR', perTask: '0.02', perMillisecond: '0.00003', costTime: 'total_cost_time' };
  writeFileSync(prices, JSON.stringify({ prices: [{ webAppId: swatch, ...price }] }));
  stack = await FaultStack.open({ LONGHAUL_PRICES_FILE: prices });
}, 300_000);
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** Rows whose costs differ: each runs for another time at the service. */
async function startBatch(budget: string): Promise<BatchHandle> {
  const file = join(stack.parts.inputs, 'rows.jsonl');
  const lines = Array.from({ length: rowCount }, (_, index) => {
    const inputs = { '2:Wait.seconds': ((index * 7) % 10) / 10 };
    return `${JSON.stringify({ key: `row-${index}`, inputs, tuning: faultTuning })}\n`;
  });
  writeFileSync(file, lines.join(''));
  const { rows } = await prepareRows(readRows(rowFileAt(file), { common: { webAppId: swatch } }), {
    folder: stack.parts.inputs,
    name: 'budget',
  });
  if (rows === null) throw new Error('no row is good');
  const tuning = { refillMs: 100, pollEveryMs: 2_000, retryMaxMs: 1_000, recordRows: 5, continueAsNewAfterEvents: 100 };
  return await stack.parts.longhaul.startBatch({ id: 'budget', rows, concurrency, budget, tuning });
}

/** What the service itself says that its tasks cost. */
async function costsAtTheService(): Promise<number[]> {
  const plain = new PlainClient(stack.parts.service);
  const created = stack.parts.service.ledger
    .entries({ endpoint: 'create' })
    .flatMap(({ requestId }) => requestId ?? []);
  const costs = created.map(async (requestId) => {
    const { cost_times } = await plain.detail(requestId);
    return microsFor(cost_times as Record<string, number>);
  });
  return await Promise.all(costs);
}

/** A row whose create was on its way when its worker was killed runs, at a cost, until a person has decided. */
async function whenReached(batch: BatchHandle): Promise<number> {
  const settled = await eventually(
    async () => {
      await attendRows(stack, batch.id);
      const { progress } = await batch.status();
      return progress?.state === 'BudgetReached' && (progress.budget?.settled.micros ?? undefined);
    },
    { withinMs: 200_000, everyMs: 200, what: 'the budget to be reached' },
  );
  return Number(settled);
}

/** The answer of its create is late, so that a kill leaves it uncertain. */
function answerLate(row: string): void {
  const order = { endpoint: 'create', scenario: { name: 'stall', ms: 6_000 } } as const;
  stack.parts.service.scenarios.add({ ...order, correlation: rowWorkflowId('budget', row) });
}

async function whenCreated(creates: number): Promise<void> {
  const { ledger } = stack.parts.service;
  await eventually(() => ledger.total('create') >= creates, { withinMs: 120_000, what: `${creates} creates` });
}

describe('the budget of a batch whose rows cost differently', () => {
  it('holds while the worker is killed twice and Temporal once and a row was adopted, and the rest runs once it is raised', async () => {
    const budget = 500_000;
    answerLate('row-3');
    const batch = await startBatch('0.5EUR');
    const isCreated = (): boolean => acceptedCreates(stack).has(rowWorkflowId('budget', 'row-3'));
    await eventually(isCreated, { withinMs: 120_000, what: 'the create of the fourth row' });
    await stack.killWorker();
    await stack.startWorker();
    await whenCreated(8);
    await stack.temporal.kill();
    await stack.temporal.startAgain();
    const settled = await whenReached(batch);
    const costs = await costsAtTheService();
    const sum = costs.reduce((total, micros) => total + micros, 0);

    expect(settled).toBe(sum);
    expect(sum).toBeLessThanOrEqual(budget + concurrency * Math.max(...costs));
    expect(sum).toBeGreaterThan(budget - Math.max(...costs));
    expect(costs.length).toBeLessThan(rowCount);

    await stack.killWorker();
    await stack.startWorker();
    expect(await whenReached(batch)).toBe(sum);
    expect(stack.parts.service.ledger.total('create')).toBe(costs.length);

    await batch.setBudget('1000EUR');
    const result = await batch.result();
    const all = await costsAtTheService();
    const total = all.reduce((one, other) => one + other, 0);
    expect(all).toHaveLength(rowCount);
    expect(result).toMatchObject({ success: rowCount, costs: { sums: [{ currency: 'EUR', micros: total }] } });
  }, 500_000);
});
