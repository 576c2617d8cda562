import * as v from 'valibot';
import { type AppFigures, type AppSamples, toFigures } from '../money/estimate';
import { count, money, parseStored } from './stored';

/** So many batches are kept of an app, the latest ones. */
const maxBatches = 10;
const maxSamples = 1_000;
/** Several times the bytes that such a file ever has; a larger one is none. */
export const maxAppSamplesBytes = 4 * 1024 * 1024;

const sample = v.object({ ms: v.nullable(count), cost: v.nullable(money) });
const fileSchema = v.object({
  batches: v.array(
    v.object({ batchId: v.string(), rows: count, samples: v.pipe(v.array(sample), v.maxLength(maxSamples)) }),
  ),
});

/** The archive's name of what rows of an app took and cost: for estimates, so it may be removed at any time. */
export function appSamplesName(webAppId: number): string {
  return `.estimates/${webAppId}.json`;
}

/** The file's text with this batch's rows instead of those that it had of it before, as the latest. */
export function withBatch(text: string | undefined, batchId: string, { rows, samples }: AppSamples): string {
  const others = parseStored(fileSchema, text)?.batches.filter((one) => one.batchId !== batchId) ?? [];
  return `${JSON.stringify({ batches: [{ batchId, rows, samples }, ...others].slice(0, maxBatches) })}\n`;
}

/** What rows of the app took and cost, by the text of its file; null when it tells nothing. */
export function parseFigures(webAppId: number, text: string | undefined): AppFigures | null {
  const batches = parseStored(fileSchema, text)?.batches ?? [];
  return batches.length === 0 ? null : toFigures(webAppId, batches);
}
