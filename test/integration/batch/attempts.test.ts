import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScenarioRule } from '../../../reference-service/scenarios/scenario-book';
import { Longhaul } from '../../../src/client/longhaul';
import type { BatchInput } from '../../../src/contract/batch/batch-input';
import type { BatchResult } from '../../../src/contract/batch/batch-messages';
import { preparedRowFile } from '../../support/prepared-row-file';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const swatch = 5;

const folder = temporaryFolder();
let stack: TaskStack;
beforeAll(async () => {
  const prices = join(folder.path, 'prices.json');
  writeFileSync(prices, JSON.stringify({ prices: [{ webAppId: swatch, currency: 'EUR', perTask: '0.02' }] }));
  const env = { LONGHAUL_PRICES_FILE: prices, LONGHAUL_INPUT_ROOTS: folder.path };
  stack = await TaskStack.open({ service: { slots: 50 }, env });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});
beforeEach(() => {
  stack.service.scenarios.clear();
});

/** Rows by key, each with the width of its picture. */
async function runBatch(id: string, widths: Record<string, number>, more: Partial<BatchInput>): Promise<BatchResult> {
  const { client, taskQueue } = stack;
  const rowsOfFile = Object.entries(widths).map(([key, width]) => {
    return { key, webAppId: swatch, inputs: { '1:EmptyImage.width': width } };
  });
  const rows = await preparedRowFile(folder.path, id, rowsOfFile);
  const batch = await new Longhaul({ client, taskQueue }).startBatch({ id, rows, ...more });
  return await batch.result();
}

/** What the service does to the next creates. */
function nextCreates(scenario: ScenarioRule['scenario'], times: number): void {
  stack.service.scenarios.add({ endpoint: 'create', scenario, times });
}

const fails: ScenarioRule['scenario'] = { name: 'fail', message: 'out of paint' };
const creates = (): number => stack.service.ledger.total('create');

describe('rows with three attempts', () => {
  it('that fail at the service are created anew, and every attempt counts as cost', async () => {
    nextCreates(fails, 3);
    const result = await runBatch('attempts', { a: 8, b: 8, c: 8, d: 8 }, { attempts: 3, concurrency: 1 });

    expect(result).toMatchObject({ success: 4, failed: 0 });
    expect(creates()).toBe(7);
    expect(result.costs).toEqual({
      sums: [{ currency: 'EUR', micros: 7 * 20_000 }],
      withoutResult: [{ currency: 'EUR', micros: 3 * 20_000 }],
      ...{ knownRows: 4, unknownRows: 0 },
    });
  });

  it('that fail each time are left after the third, and not tried again by the next run', async () => {
    const before = creates();
    nextCreates(fails, 9);
    const options: Partial<BatchInput> = { attempts: 3 };
    expect(await runBatch('exhausted', { a: 8 }, options)).toMatchObject({ failed: 1, costs: { knownRows: 1 } });
    expect(creates() - before).toBe(3);

    expect(await runBatch('exhausted', { a: 8 }, options)).toMatchObject({ failed: 1 });
    expect(creates() - before).toBe(3);
  });
});

describe('a row that was rejected unpaid', () => {
  it('runs again when its cells were corrected, as often as that takes, without leave to change paid rows', async () => {
    const before = creates();
    const reject = (): void => {
      nextCreates({ name: 'refuse', reason: 'badParameter' }, 1);
    };
    reject();
    const options: Partial<BatchInput> = { concurrency: 1 };
    expect(await runBatch('corrected', { a: 8, b: 8 }, options)).toMatchObject({
      ...{ success: 1, failures: { TaskRejected: 1 } },
    });
    reject();
    expect(await runBatch('corrected', { a: 9, b: 8 }, options)).toMatchObject({
      ...{ success: 1, failures: { TaskRejected: 1 } },
    });
    expect(await runBatch('corrected', { a: 10, b: 8 }, options)).toMatchObject({ success: 2, failed: 0 });
    const paid = stack.service.ledger.entries({ endpoint: 'create' }).slice(before);
    expect(paid.filter(({ requestId }) => requestId !== undefined)).toHaveLength(2);

    await expect(runBatch('corrected', { a: 11, b: 8 }, options)).rejects.toMatchObject({ failureType: 'RowsChanged' });
  });

  it('runs again as it is when only such rows are asked for, and leaves a new one unstarted', async () => {
    nextCreates({ name: 'refuse', reason: 'badParameter' }, 1);
    expect(await runBatch('unpaid', { a: 8, b: 8 }, { concurrency: 1 })).toMatchObject({ success: 1, failed: 1 });
    const before = creates();
    const again = await runBatch('unpaid', { a: 8, b: 8, c: 8 }, { retryUnpaid: true });
    expect(again).toMatchObject({ ending: 'completed', success: 2, failed: 0, notStarted: 1 });
    expect(creates() - before).toBe(1);
  });
});
