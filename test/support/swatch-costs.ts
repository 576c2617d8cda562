import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const swatch = 5;

const price = { currency: 'EUR', perTask: '0.02', perMillisecond: '0.000003', costTime: 'total_cost_time' };

/** Of that price, in millionths: independent of how Longhaul computes. */
export function microsFor({ total_cost_time: ms }: Readonly<Record<string, number>>): number {
  return ms === undefined ? NaN : 20_000 + 3 * ms;
}

/** Writes the price of a swatch into a folder; returns the file's path. */
export function writeSwatchPrice(folder: string): string {
  const file = join(folder, 'prices.json');
  writeFileSync(file, JSON.stringify({ prices: [{ webAppId: swatch, ...price }] }));
  return file;
}
