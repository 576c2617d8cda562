import { join } from 'node:path';
import type { BatchHandle } from '../../src/client/batch/batch-handle';
import { rowWorkflowId } from '../../src/contract/workflow-ids';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';
import { PlainClient } from '../integration/reference-service/plain-client';
import { FaultStack } from './fault-stack';
import { microsFor, startPricedRows, sumOf, whenCreated, writePrices } from './priced-rows';
import { acceptedCreates, attendRows } from './soak-batch/attend-rows';

/** More of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 36);
const concurrency = 6;

const folder = temporaryFolder();
let stack: FaultStack;
beforeAll(async () => {
  const prices = join(folder.path, 'prices.json');
  writePrices(prices);
  stack = await FaultStack.open({ LONGHAUL_PRICES_FILE: prices });
}, 300_000);
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** What the service itself says that its tasks cost. */
async function costsAtTheService(): Promise<number[]> {
  const plain = new PlainClient(stack.parts.service);
  const created = stack.parts.service.ledger
    .entries({ endpoint: 'create' })
    .flatMap(({ requestId }) => requestId ?? []);
  return await Promise.all(created.map(async (requestId) => microsFor((await plain.detail(requestId))['cost_times'])));
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

describe('the budget of a batch whose rows cost differently', () => {
  it('holds while the worker is killed twice and Temporal once and a row was adopted, and the rest runs once it is raised', async () => {
    const budget = 500_000;
    answerLate('row-3');
    const batch = await startPricedRows(stack, { id: 'budget', rowCount, concurrency, budget: '0.5EUR' });
    const isCreated = (): boolean => acceptedCreates(stack).has(rowWorkflowId('budget', 'row-3'));
    await eventually(isCreated, { withinMs: 120_000, what: 'the create of the fourth row' });
    await stack.killWorkerAndStartAgain();
    await whenCreated(stack, 8);
    await stack.killTemporalAndStartAgain();
    const settled = await whenReached(batch);
    const costs = await costsAtTheService();
    const sum = sumOf(costs);

    expect(settled).toBe(sum);
    expect(sum).toBeLessThanOrEqual(budget + concurrency * Math.max(...costs));
    expect(sum).toBeGreaterThan(budget - Math.max(...costs));
    expect(costs.length).toBeLessThan(rowCount);

    await stack.killWorkerAndStartAgain();
    expect(await whenReached(batch)).toBe(sum);
    expect(stack.parts.service.ledger.total('create')).toBe(costs.length);

    await batch.setBudget('1000EUR');
    const result = await batch.result();
    const all = await costsAtTheService();
    expect(all).toHaveLength(rowCount);
    expect(result).toMatchObject({ success: rowCount, costs: { sums: [{ currency: 'EUR', micros: sumOf(all) }] } });
  }, 500_000);
});
