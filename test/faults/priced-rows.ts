import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchHandle } from '../../src/client/batch/batch-handle';
import { prepareRows, readRows, rowFileAt } from '../../src/rows';
import { eventually } from '../support/eventually';
import type { FaultStack } from './fault-stack';
import { faultTuning } from './task-under-test';

/** The reference service's app that is done at once and wants no file. */
export const swatch = 5;

/** What a task costs by {@link writePrices}, in millionths: independent of how Longhaul computes. */
export function microsFor(costTimes: unknown): number {
  const { total_cost_time: ms = NaN } = costTimes as Readonly<Record<string, number>>;
  return 20_000 + 30 * ms;
}

export function writePrices(file: string, dailyBudget?: string): void {
  const price = { currency: 'EUR', perTask: '0.02', perMillisecond: '0.00003', costTime: 'total_cost_time' };
  const dailyBudgets = dailyBudget === undefined ? undefined : [{ account: 'default', amount: dailyBudget }];
  writeFileSync(file, JSON.stringify({ prices: [{ webAppId: swatch, ...price }], dailyBudgets }));
}

/** Rows whose costs differ: each runs for another time at the service. */
export async function startPricedRows(
  { parts: { inputs: folder, longhaul } }: FaultStack,
  { id, rowCount, ...limits }: { id: string; rowCount: number; concurrency: number; budget?: string },
): Promise<BatchHandle> {
  const file = join(folder, `${id}.jsonl`);
  const lines = Array.from({ length: rowCount }, (_, index) => {
    const inputs = { '2:Wait.seconds': ((index * 7) % 10) / 10 };
    return `${JSON.stringify({ key: `row-${index}`, inputs, tuning: faultTuning })}\n`;
  });
  writeFileSync(file, lines.join(''));
  const { rows } = await prepareRows(readRows(rowFileAt(file), { common: { webAppId: swatch } }), { folder, name: id });
  if (rows === null) throw new Error('no row is good');
  const tuning = { refillMs: 100, pollEveryMs: 2_000, retryMaxMs: 1_000, recordRows: 5, continueAsNewAfterEvents: 100 };
  return await longhaul.startBatch({ id, rows, ...limits, tuning });
}

/** Until the service was asked for so many creates. */
export async function whenCreated({ parts: { service } }: FaultStack, creates: number): Promise<void> {
  const what = `${creates} creates`;
  await eventually(() => service.ledger.total('create') >= creates, { withinMs: 120_000, what });
}

export function sumOf(costs: readonly number[]): number {
  return costs.reduce((total, micros) => total + micros, 0);
}
