import * as v from 'valibot';
import { type AppFigures, type AppSamples, toFigures } from '../money/estimate';
import { count, money, parseStored } from './stored';

/** The latest batches of an app that are kept. */
const maxBatches = 10;
const maxSamples = 1_000;
/** Several times what such a file ever has. */
export const maxAppSamplesBytes = 4 * 1024 * 1024;

const sample = v.object({ ms: v.nullable(count), cost: v.nullable(money) });
const fileSchema = v.object({
  batches: v.array(
    v.object({ batchId: v.string(), rows: count, samples: v.pipe(v.array(sample), v.maxLength(maxSamples)) }),
  ),
});

export function appSamplesName(webAppId: number): string {
  return `.estimates/${webAppId}.json`;
}

/** With this batch as the latest, in place of its earlier rows. */
export function withBatch(text: string | undefined, batchId: string, { rows, samples }: AppSamples): string {
  const others = parseStored(fileSchema, text)?.batches.filter((one) => one.batchId !== batchId) ?? [];
  return `${JSON.stringify({ batches: [{ batchId, rows, samples }, ...others].slice(0, maxBatches) })}\n`;
}

/** Null when the file tells nothing. */
export function parseFigures(webAppId: number, text: string | undefined): AppFigures | null {
  const batches = parseStored(fileSchema, text)?.batches ?? [];
  return batches.length === 0 ? null : toFigures(webAppId, batches);
}
