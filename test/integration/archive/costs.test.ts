import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import type { CostSum } from '../../../src/archive/costs';
import { prepareRows, readRows, rowFileAt } from '../../../src/rows';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { microsFor, swatch, writeSwatchPrice } from '../../support/swatch-costs';
import { fastTuning } from '../../support/task-environment';
import { photoFolder, TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { PlainClient } from '../reference-service/plain-client';

/** More of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 40);
const tenth = Math.ceil(rowCount / 10);
const id = 'ledger';

const folder = temporaryFolder();
let stack: TaskStack;
let longhaul: Longhaul;
let unpriced: string | null;
beforeAll(async () => {
  const prices = writeSwatchPrice(folder.path);
  const env = { LONGHAUL_PRICES_FILE: prices, LONGHAUL_INPUT_ROOTS: `${folder.path}:${photoFolder}` };
  stack = await TaskStack.open({ service: { slots: 200 }, env });
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
  await runBatch(false);
  await runBatch(true);
  await runSingleTasks();
}, 900_000);
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** A tenth of the rows fails at the service, each time, and a tenth runs until it is stopped. */
async function runBatch(retryFailed: boolean): Promise<void> {
  const keys = Array.from({ length: rowCount }, (_, index) => `row-${index}`);
  const held = keys.slice(-tenth);
  const scenario = { name: 'fail', message: 'out of paint' } as const;
  stack.service.scenarios.add({ endpoint: 'create', scenario, times: retryFailed ? Math.ceil(tenth / 2) : tenth });
  const file = join(folder.path, 'rows.jsonl');
  const lines = keys.map((key) => {
    const inputs = held.includes(key) ? { '2:Wait.seconds': 3_600 } : {};
    return `${JSON.stringify({ key, inputs, tuning: fastTuning })}\n`;
  });
  writeFileSync(file, lines.join(''));
  const options = { folder: folder.path, name: id };
  const { rows } = await prepareRows(readRows(rowFileAt(file), { common: { webAppId: swatch } }), options);
  const batch = await longhaul.startBatch({ id, rows: rows!, watch: retryFailed ? 'timer' : 'activity', retryFailed });
  const stopHeld = async (): Promise<boolean> => {
    const { isOver, progress } = await batch.status();
    if (isOver) return true;
    if (progress?.waiting !== 0 || progress.running > held.length) return false;
    const heldRows = held.map((key) => longhaul.task(rowWorkflowId(id, key)));
    const views = await Promise.all(heldRows.map((row) => row.status()));
    // Stopped before its create, a row costs nothing.
    if (views.some((view) => !view.isOver && view.requestId === null)) return false;
    for (const row of heldRows) await row.stop().catch(() => undefined);
    return true;
  };
  await eventually(stopHeld, { withinMs: 400_000, what: 'only rows that are held to run' });
  await batch.result();
}

/** One that fails and succeeds when it is tried again, one that is stopped, and one of an app without a price. */
async function runSingleTasks(): Promise<void> {
  const start = (key: string, more = {}): ReturnType<Longhaul['start']> =>
    longhaul.start({ key, webAppId: swatch, inputs: {}, tuning: fastTuning, ...more });
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail', message: 'out of paint' } });
  await (await start('costs-again')).result().catch(() => undefined);
  const input = { key: 'costs-again', webAppId: swatch, inputs: {}, tuning: fastTuning };
  await (await longhaul.start(input, { retry: true })).result();
  const long = await start('costs-stopped', { inputs: { '2:Wait.seconds': 3_600 } });
  await eventually(async () => (await long.status()).serviceStatus !== null);
  await long.stop();
  await long.result();
  const photo = { '1:LoadImage.image': { file: join(photoFolder, 'rocket.jpg') } };
  unpriced = (await (await start('costs-unpriced', { webAppId: 4, inputs: photo })).result()).requestId;
}

interface AtService {
  readonly isPriced: boolean;
  readonly status: string;
  readonly micros: number;
}

/** What the service itself says of every task that it created. */
async function costsAtTheService(): Promise<AtService[]> {
  const plain = new PlainClient(stack.service);
  const created = stack.service.ledger.entries({ endpoint: 'create' }).flatMap(({ requestId }) => requestId ?? []);
  const costs = created.map(async (requestId) => {
    const { status, cost_times } = await plain.detail(requestId);
    return {
      isPriced: requestId !== unpriced,
      status,
      micros: microsFor(cost_times as Record<string, number>),
    };
  });
  return await Promise.all(costs);
}

async function costs(...args: string[]): Promise<{ readonly groups: CostSum[]; readonly total: CostSum }> {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: stack.archive });
  await runCommandLine(['costs', '--json', ...args], context);
  expect(context.stderr.text).toBe('');
  return JSON.parse(context.stdout.text) as { readonly groups: CostSum[]; readonly total: CostSum };
}

describe(`longhaul costs after two runs of ${rowCount} rows with failures, stops and retries, and single tasks`, () => {
  it('tells what the service itself says, to the last millionth, for every task that was created', async () => {
    const known = (await costsAtTheService()).filter(({ isPriced }) => isPriced);
    const sum = (of: readonly AtService[]): number => of.reduce((total, { micros }) => total + micros, 0);
    const { groups, total } = await costs();

    // The first run, those that failed or were stopped in it once more, and three single tasks.
    expect(known).toHaveLength(rowCount + 2 * tenth + 3);
    expect(total.sums).toEqual([{ currency: 'EUR', micros: sum(known) }]);
    const unsuccessful = known.filter(({ status }) => status !== 'Success');
    expect(total.withoutResult).toEqual([{ currency: 'EUR', micros: sum(unsuccessful) }]);
    for (const [outcome, status] of [
      ['succeeded', 'Success'],
      ['failed', 'Failed'],
      ['canceled', 'Canceled'],
    ]) {
      const of = known.filter((task) => task.status === status);
      const told = total.outcomes.find((one) => one.outcome === outcome);
      expect(told?.sums).toEqual([{ currency: 'EUR', micros: sum(of), tasks: of.length }]);
    }
    expect(groups.map(({ name, tasks }) => [name, tasks])).toEqual([
      [id, rowCount + 2 * tenth],
      [null, 3 + total.unknown],
    ]);
  });
});
