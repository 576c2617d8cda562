import { isRecord } from '../domain/is-record';
import { maxRowOutputs, maxRowWords, type RowEnd, type RowOutput, type RowUploads } from './batch-rows';

/**
 * Reads what the signal `rowEnded` brought: anybody may send anything, and what a batch once took in stands in its record.
 * Undefined for what is no end of a row. Pure. What older tasks do not tell is filled in; what is no field of an end is
 * left out.
 */
export function readRowEnd(value: unknown): RowEnd | undefined {
  if (!isRecord(value)) return undefined;
  const { key, status, requestId, createNumber, failure, outputs, outputCount, manifest, startedAt, endedAt } = value;
  const { outputBytes = 0, failedOutputCount = 0, uploads = null } = value;
  const isWhole =
    isText(key) &&
    isStatus(status) &&
    isTextOrNull(requestId) &&
    isCount(createNumber) &&
    isFailure(failure) &&
    isOutputs(outputs) &&
    isCount(outputCount) &&
    isCount(outputBytes) &&
    isCount(failedOutputCount) &&
    isTextOrNull(manifest) &&
    isUploads(uploads) &&
    isMoment(startedAt) &&
    isMoment(endedAt);
  if (!isWhole) return undefined;
  return {
    ...{ key, status, requestId, createNumber, failure, outputs, outputCount, outputBytes, manifest, uploads },
    ...{ startedAt, endedAt, ...(failedOutputCount > 0 && { failedOutputCount }) },
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isStatus(value: unknown): value is RowEnd['status'] {
  return value === 'Success' || value === 'Failed' || value === 'Canceled';
}

function isFailure(value: unknown): value is RowEnd['failure'] {
  if (value === null) return true;
  return isRecord(value) && isText(value['type']) && isText(value['message']) && value['message'].length <= maxRowWords;
}

function isOutputs(value: unknown): value is readonly RowOutput[] {
  return Array.isArray(value) && value.length <= maxRowOutputs && value.every(isOutput);
}

function isOutput(value: unknown): value is RowOutput {
  return isRecord(value) && isText(value['path']) && isText(value['sha256']) && isCount(value['bytes']);
}

function isUploads(value: unknown): value is RowUploads | null {
  if (value === null) return true;
  return isRecord(value) && isCount(value['files']) && isCount(value['bytes']) && isCount(value['shared']);
}

/** As `toISOString` writes it. */
function isMoment(value: unknown): value is string {
  if (!isText(value)) return false;
  const at = new Date(value);
  return !Number.isNaN(at.getTime()) && at.toISOString() === value;
}
