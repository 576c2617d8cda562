import { type AppFigures, type AppSamples, type RowSample, toFigures } from '../money/estimate';
import { isCount, isRecord, parseJson } from '../core/json';
import { isMoney } from '../money/money';

/** So many batches are kept of an app, the latest ones. */
const maxBatches = 10;
const maxSamples = 1_000;
/** Several times the bytes that such a file ever has; a larger one is none. */
export const maxAppSamplesBytes = 4 * 1024 * 1024;

/** Rows of an app in one batch, as the file has them. */
interface SampledBatch extends Omit<AppSamples, 'webAppId'> {
  readonly batchId: string;
}

/** The archive's name of what rows of an app took and cost: for estimates, so it may be removed at any time. */
export function appSamplesName(webAppId: number): string {
  return `.estimates/${webAppId}.json`;
}

/** The file's text with this batch's rows instead of those that it had of it before, as the latest. */
export function withBatch(text: string | undefined, batchId: string, app: AppSamples): string {
  const { rows, samples } = app;
  const others = parseBatches(text).filter((one) => one.batchId !== batchId);
  const own = { batchId, rows, samples };
  return `${JSON.stringify({ batches: [own, ...others].slice(0, maxBatches) })}\n`;
}

/** What rows of the app took and cost, by the text of its file; null when it tells nothing. */
export function parseFigures(webAppId: number, text: string | undefined): AppFigures | null {
  const batches = parseBatches(text);
  return batches.length === 0 ? null : toFigures(webAppId, batches);
}

/** A file that is damaged or missing tells nothing. */
function parseBatches(text: string | undefined): readonly SampledBatch[] {
  const file = parseJson(text ?? '');
  const batches = isRecord(file) && Array.isArray(file['batches']) ? (file['batches'] as unknown[]) : [];
  return batches.every(isSampledBatch) ? batches : [];
}

function isSampledBatch(value: unknown): value is SampledBatch {
  if (!isRecord(value) || typeof value['batchId'] !== 'string' || !isCount(value['rows'])) return false;
  const { samples } = value;
  return Array.isArray(samples) && samples.length <= maxSamples && samples.every(isSample);
}

function isSample(value: unknown): value is RowSample {
  if (!isRecord(value)) return false;
  const { ms, cost } = value;
  return (ms === null || isCount(ms)) && (cost === null || isMoney(cost));
}
