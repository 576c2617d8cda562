import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { Longhaul } from '../../../src/client/longhaul';
import type { BatchResult } from '../../../src/contract/batch/batch-messages';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { parseMoney } from '../../../src/money/money';
import type { ReportRow } from '../../../src/archive/report/report-data';
import { eventually } from '../../support/eventually';
import { preparedRowFile } from '../../support/prepared-row-file';
import { microsFor, swatch, writeSwatchPrice } from '../../support/swatch-costs';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { PlainClient } from '../reference-service/plain-client';

/** More of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 20);
const id = 'costs';

const folder = temporaryFolder();
let stack: TaskStack;
let result: BatchResult;
beforeAll(async () => {
  const prices = writeSwatchPrice(folder.path);
  const env = { LONGHAUL_PRICES_FILE: prices, LONGHAUL_INPUT_ROOTS: folder.path };
  stack = await TaskStack.open({ service: { slots: 200 }, env });
  result = await runBatch();
}, 600_000);
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** A tenth of the rows fails at the service, and a tenth runs there until it is stopped. */
async function runBatch(): Promise<BatchResult> {
  const { client, taskQueue, service } = stack;
  const tenth = Math.ceil(rowCount / 10);
  const keys = Array.from({ length: rowCount }, (_, index) => `row-${index}`);
  // The first ones that are created fail; the last ones run until they are stopped.
  const held = keys.slice(-tenth);
  service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail', message: 'out of paint' }, times: tenth });
  const rowsOfFile = keys.map((key) => {
    return { key, webAppId: swatch, inputs: held.includes(key) ? { '2:Wait.seconds': 3_600 } : {} };
  });
  const rows = await preparedRowFile(folder.path, id, rowsOfFile);
  const longhaul = new Longhaul({ client, taskQueue });
  // Half of the rows at a time: the held ones, the last of the file, start when the ones that fail are created.
  const batch = await longhaul.startBatch({ id, rows, concurrency: Math.ceil(rowCount / 2) });
  const heldRows = held.map((key) => longhaul.task(rowWorkflowId(id, key)));
  const isHeldAlone = async (): Promise<boolean> => {
    const { progress } = await batch.status();
    if (progress?.waiting !== 0 || progress.running !== held.length) return false;
    const views = await Promise.all(heldRows.map((row) => row.status()));
    // Stopped before its create, a row costs nothing.
    return views.every(({ requestId }) => requestId !== null);
  };
  await eventually(isHeldAlone, { withinMs: 300_000, what: 'only the rows that are held to run' });
  for (const row of heldRows) await row.stop();
  return await batch.result();
}

/** What the service itself says of every task that it created. */
async function costsAtTheService(): Promise<Map<string, { readonly status: string; readonly micros: number }>> {
  const plain = new PlainClient(stack.service);
  const created = stack.service.ledger.entries({ endpoint: 'create' }).flatMap(({ requestId }) => requestId ?? []);
  const costs = created.map(async (requestId) => {
    const { status, cost_times } = await plain.detail(requestId);
    return [requestId, { status, micros: microsFor(cost_times as Record<string, number>) }] as const;
  });
  return new Map(await Promise.all(costs));
}

describe(`the costs of a batch of ${rowCount} rows, of which some fail and some are stopped`, () => {
  it('are those of the service, to the last millionth, in every place that tells them', async () => {
    const known = [...(await costsAtTheService()).values()];
    const sum = (of: typeof known): number => of.reduce((total, { micros }) => total + micros, 0);
    const expected = sum(known);
    const withoutResult = sum(known.filter(({ status }) => status !== 'Success'));

    expect(known).toHaveLength(rowCount);
    expect(new Set(known.map(({ status }) => status))).toEqual(new Set(['Success', 'Failed', 'Canceled']));
    expect(result.costs).toEqual({
      sums: [{ currency: 'EUR', micros: expected }],
      withoutResult: [{ currency: 'EUR', micros: withoutResult }],
      knownRows: rowCount,
      unknownRows: 0,
    });

    const csv = parse<Record<string, string>>(readFileSync(result.csv, 'utf8'), { columns: true });
    const amounts = csv.map(({ cost, currency }) => parseMoney(`${cost ?? ''}${currency ?? ''}`)?.micros ?? NaN);
    expect(amounts.reduce((total, micros) => total + micros, 0)).toBe(expected);

    const html = readFileSync(result.html ?? '', 'utf8');
    const [, data = '[]'] = /id="rows">([^]*?)<\/script>/.exec(html) ?? [];
    const rows = JSON.parse(data) as ReportRow[];
    expect(rows.reduce((total, { cost }) => total + (cost?.[1] ?? NaN), 0)).toBe(expected);
  });

  it('stand in the result and the manifest of a single task, too', async () => {
    const [requestId, { micros }] = [...(await costsAtTheService())].find(([, { status }]) => status === 'Success')!;
    const lines = readFileSync(result.jsonl, 'utf8').trim().split('\n');
    const line = lines
      .map((text) => JSON.parse(text) as Record<string, string>)
      .find((one) => one['requestId'] === requestId);
    const task = stack.client.workflow.getHandle(rowWorkflowId(id, line?.['key'] ?? ''));
    const manifest = JSON.parse(readFileSync(line?.['manifest'] ?? '', 'utf8')) as unknown;

    expect(await task.result()).toMatchObject({ cost: { currency: 'EUR', micros } });
    expect(manifest).toMatchObject({ cost: { currency: 'EUR', micros } });
  });
});
