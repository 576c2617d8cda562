import { join } from 'node:path';
import { TemporalAccountDays } from '../../src/client/account-days';
import type { BatchHandle } from '../../src/client/batch/batch-handle';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { searchAttributes } from '../../src/contract/search-attributes';
import { utcDay } from '../../src/money/day-operations';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';
import { PlainClient } from '../integration/reference-service/plain-client';
import { FaultStack } from './fault-stack';
import { microsFor, startPricedRows, sumOf, swatch, whenCreated, writePrices } from './priced-rows';
import { attendRows } from './soak-batch/attend-rows';
import { faultTuning } from './task-under-test';

/** Of each of the two batches; more of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 24);
const concurrency = 4;
const limit = 500_000;

const folder = temporaryFolder();
const pricesFile = join(folder.path, 'prices.json');
let stack: FaultStack;
beforeAll(async () => {
  writePrices(pricesFile, '0.5EUR');
  stack = await FaultStack.open({ LONGHAUL_PRICES_FILE: pricesFile });
}, 300_000);
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** What the service itself says that its tasks cost, by the day on which it created them. */
async function costsAtTheService(): Promise<ReadonlyMap<string, readonly number[]>> {
  const plain = new PlainClient(stack.parts.service);
  const costs = new Map<string, number[]>();
  for (const { requestId, at } of stack.parts.service.ledger.entries({ endpoint: 'create' })) {
    if (requestId === undefined) continue;
    // Whatever was created ends within a second or two; until then it has no cost.
    const micros = await eventually(
      async () => {
        const cost = microsFor((await plain.detail(requestId))['cost_times']);
        return !Number.isNaN(cost) && cost;
      },
      { what: `the end of ${requestId}` },
    );
    const day = utcDay(new Date(at).getTime());
    costs.set(day, [...(costs.get(day) ?? []), Number(micros)]);
  }
  return costs;
}

/**
 * Until no batch can start a row. A row whose create was on its way when its worker was killed runs, at a cost, until a
 * person has decided; created once more, it may wait for the budget, too, in `Creating`, and keeps its place.
 */
async function whenReached(...batches: readonly BatchHandle[]): Promise<void> {
  const { client } = stack.parts;
  for (const { id } of batches) {
    const running = `WorkflowType = "task" AND ${searchAttributes.batch.name} = "${id}" AND ExecutionStatus = "Running"`;
    await eventually(
      async () => {
        for (const batch of batches) await attendRows(stack, batch.id);
        const { progress } = await stack.parts.longhaul.batch(id).status();
        if (progress?.state === 'DailyBudgetReached') return true;
        const others = `${running} AND ${searchAttributes.status.name} != "Creating"`;
        return progress?.dailyBudget !== undefined && (await client.workflow.count(others)).count === 0;
      },
      { withinMs: 200_000, everyMs: 200, what: `the daily budget to be reached by ${id}` },
    );
  }
}

/** Creates of the next day have its budget. */
function createdUntil(day: string): number {
  const entries = stack.parts.service.ledger.entries({ endpoint: 'create' });
  return entries.filter(({ at }) => utcDay(Date.parse(at)) <= day).length;
}

/** Each day by itself: a test may run at midnight. */
async function expectBound(): Promise<void> {
  const costs = await costsAtTheService();
  const most = Math.max(...[...costs.values()].flat());
  for (const ofDay of costs.values()) {
    expect(sumOf(ofDay)).toBeLessThanOrEqual(limit + 2 * concurrency * most);
  }
  // As much as fits is used.
  expect(sumOf([...costs.values()].flat())).toBeGreaterThan(limit - most - 2 * concurrency * most);
}

/** What the day itself knows is what the service says. */
async function whenSettled(): Promise<void> {
  const { client, taskQueue } = stack.parts;
  const days = new TemporalAccountDays({ client, taskQueue, address: 'here', webUiUrl: null });
  for (const [day, costs] of await costsAtTheService()) {
    const what = `${sumOf(costs)} to be settled on ${day}`;
    const isSettled = async (): Promise<boolean> => {
      return (await days.view({ account: 'default', day }))?.settledMicros === sumOf(costs);
    };
    await eventually(isSettled, { withinMs: 60_000, what });
  }
}

/**
 * Single tasks until one waits for the budget: what rows that ran at an unknown cost left over of it is theirs, as a
 * batch that was refused asks again after five minutes only.
 */
async function startUntilRefused(): Promise<TaskHandle> {
  const { client, longhaul } = stack.parts;
  for (let number = 1; number <= rowCount; number += 1) {
    const key = `alone-${number}`;
    const task = await longhaul.start({ key, webAppId: swatch, inputs: {}, tuning: faultTuning });
    const became = await eventually(
      async () => {
        const { raw, status } = await client.workflow.getHandle(`task:${key}`).describe();
        if (status.name !== 'RUNNING') return status.name;
        const [pending] = raw.pendingActivities ?? [];
        const isRefused = pending?.lastFailure?.message?.includes(
          'The daily budget of the account "default" is reached',
        );
        return isRefused === true && ('refused' as const);
      },
      { withinMs: 60_000, what: `${key} to wait for the daily budget, or to be done` },
    );
    if (became === 'refused') return task;
    await whenSettled();
  }
  throw new Error('the daily budget has room for as many tasks as a batch has rows');
}

describe('two batches on one account’s daily budget', () => {
  it('stay within it while the worker is killed twice and Temporal once, and go on once it is raised', async () => {
    const startRows = (id: string): Promise<BatchHandle> => startPricedRows(stack, { id, rowCount, concurrency });
    const batches = [await startRows('one'), await startRows('two')];
    await whenCreated(stack, 4);
    await stack.killWorkerAndStartAgain();
    await whenCreated(stack, 8);
    await stack.killTemporalAndStartAgain();
    await whenReached(...batches);
    await expectBound();
    await whenSettled();

    const day = utcDay(Date.now());
    expect(createdUntil(day)).toBeLessThan(2 * rowCount);
    await stack.killWorkerAndStartAgain();
    // One that is no row waits as well, and can be stopped before it is paid.
    const task = await startUntilRefused();
    const creates = createdUntil(day);
    await task.stop();
    expect(await task.result()).toMatchObject({ status: 'Canceled', requestId: null });
    await whenReached(...batches);
    expect(createdUntil(day)).toBe(creates);

    writePrices(pricesFile, '1000EUR');
    await stack.stopWorkerAndStartAgain();
    for (const batch of batches) await batch.resume();
    for (const batch of batches) {
      await eventually(
        async () => {
          await attendRows(stack, batch.id);
          return (await batch.status()).isOver;
        },
        // A row whose create met the budget asks again after five minutes.
        { withinMs: 400_000, everyMs: 500, what: `${batch.id} to end` },
      );
      expect(await batch.result()).toMatchObject({ success: rowCount });
    }
    await whenSettled();
  }, 600_000);
});
