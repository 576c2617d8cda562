import { retryableFailures, unpaidRefusals } from '../failure-types';
import { isRequestId } from '../../core/create-outcome';
import { isCount, isRecord } from '../../core/json';
import { isMoney } from '../../money/money';
import { utf8Bytes } from '../../core/text';
import type { RowEnd, RowOutput, RowRecord, RowUploads } from '../../archive/row-end';
import type { Problem } from '../problem';
import type { NewTaskInput } from '../task-input';
import { readTaskFacts, type TaskResult } from '../task-result';

export type { RowEnd, RowRecord, RowUploads } from '../../archive/row-end';

export function isRetryable({ status, failure }: Pick<RowEnd, 'status' | 'failure'>): boolean {
  return status === 'Failed' && retryableFailures.some((type) => type === failure?.type);
}

/** Its first create was refused unpaid: it leaves nothing that another input would pay twice. */
export function wasRefusedUnpaid({
  createNumber,
  requestId,
  failure,
}: Pick<RowEnd, 'createNumber' | 'requestId' | 'failure'>): boolean {
  return createNumber === 1 && requestId === null && unpaidRefusals.some((type) => type === failure?.type);
}

export type RunningRow = Pick<RowRecord, 'key' | 'originalKey' | 'index' | 'line' | 'sheetRow' | 'page' | 'digest'>;

export const noUploads: RowUploads = { files: 0, bytes: 0, shared: 0 };

export function addUploads(one: RowUploads, other: RowUploads): RowUploads {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes, shared: one.shared + other.shared };
}

const maxRowOutputs = 20;
/** Bytes of the outputs in one end, as JSON: a history has hundreds of ends. @internal exported for tests */
export const maxRowOutputBytes = 16_000;
const maxRowWords = 300;
/** So many types of failure are counted by themselves; the rest as `Other`. */
export const maxFailureTypes = 50;

/** What is known of a row's task besides how it ended; the task's own words on it are better. */
export interface RowFacts {
  readonly key: string;
  readonly requestId: string | null;
  readonly createNumber: number;
  /** ISO-8601. */
  readonly startedAt: string;
  readonly endedAt: string;
}

/** How a task's workflow ended; a failure's `details` may hold the result as far as there was one. */
export type TaskEnding =
  | { readonly kind: 'result'; readonly result: TaskResult }
  | { readonly kind: 'failure'; readonly type: string; readonly message: string; readonly details: unknown }
  /** Its details are those of a failure. */
  | { readonly kind: 'canceled'; readonly details?: unknown }
  /** Terminated, or timed out by Temporal. */
  | { readonly kind: 'cutOff'; readonly message: string };

const cutOffType = 'Terminated';

/** How a row ended, by how its task's workflow ended: bounded, whatever the task's words and outputs are. Pure. */
export function toRowEnd(facts: RowFacts, ending: TaskEnding): RowEnd {
  const result = resultIn(ending);
  const { createNumber, startedAt, uploads = null } = readTaskFacts(result ?? detailsOf(ending));
  const outputs = (result?.outputs ?? []).filter(({ bytes }) => isCount(bytes));
  const { outputCount, outputBytes, failedOutputCount } = result ?? {};
  return boundedRowEnd({
    key: facts.key,
    status: statusOf(ending, result),
    requestId: result?.requestId ?? facts.requestId,
    createNumber: createNumber ?? facts.createNumber,
    failure: failureIn(ending),
    outputs: outputs.slice(0, maxRowOutputs).map(({ path, sha256, bytes }) => ({ path, sha256, bytes })),
    // A result of an earlier version has them all, and tells no counts.
    outputCount: isCount(outputCount) ? outputCount : outputs.length,
    outputBytes: isCount(outputBytes) ? outputBytes : sumOfBytes(outputs),
    ...(isCount(failedOutputCount) && failedOutputCount > 0 && { failedOutputCount }),
    manifest: result?.manifest ?? null,
    ...costFields(result),
    uploads,
    startedAt: startedAt ?? facts.startedAt,
    endedAt: facts.endedAt,
  });
}

function sumOfBytes(outputs: readonly RowOutput[]): number {
  return outputs.reduce((sum, { bytes }) => Math.min(sum + bytes, Number.MAX_SAFE_INTEGER), 0);
}

const maxCostTimes = 20;

function costFields(result: Partial<TaskResult> | undefined): Pick<RowEnd, 'costTimes' | 'cost' | 'queuedMs'> {
  const { costTimes = {}, cost = null, timestamps = {} } = result ?? {};
  const times = Object.entries(costTimes).slice(0, maxCostTimes);
  const ms = (name: string): number => Date.parse(timestamps[name]?.iso ?? '');
  const queuedMs = ms('runningAt') - ms('createdAt');
  return {
    ...(times.length > 0 && { costTimes: Object.fromEntries(times) }),
    // Of a workflow that another program ended it may be anything.
    ...(isMoney(cost) && { cost }),
    ...(isCount(queuedMs) && { queuedMs }),
  };
}

const maxTypeLength = 80;
const maxPathLength = 4_096;

/** An end as it may stand in a history and in a batch's record, whatever it is made of: no longer than some 20 KB. */
export function boundedRowEnd<End extends RowEnd>(end: End): End {
  const { requestId, failure, outputs, manifest } = end;
  return {
    ...end,
    requestId: isRequestId(requestId) ? requestId : null,
    failure: failure && { type: failure.type.slice(0, maxTypeLength), message: shortened(failure.message) },
    outputs: boundedOutputs(outputs),
    manifest: manifest === null || manifest.length > maxPathLength ? null : manifest,
  };
}

function boundedOutputs(outputs: readonly RowOutput[]): readonly RowOutput[] {
  const kept: RowOutput[] = [];
  let bytesLeft = maxRowOutputBytes;
  for (const { path, sha256, bytes } of outputs.slice(0, maxRowOutputs)) {
    const output = { path, sha256, bytes };
    bytesLeft -= utf8Bytes(JSON.stringify(output));
    if (bytesLeft < 0) break;
    kept.push(output);
  }
  return kept;
}

function statusOf(ending: TaskEnding, result: Partial<TaskResult> | undefined): RowEnd['status'] {
  if (ending.kind === 'canceled' || result?.status === 'Canceled') return 'Canceled';
  return ending.kind === 'result' && result?.status === 'Success' ? 'Success' : 'Failed';
}

function failureIn(ending: TaskEnding): RowEnd['failure'] {
  if (ending.kind === 'cutOff') return { type: cutOffType, message: shortened(ending.message) };
  return ending.kind === 'failure' ? { type: ending.type, message: shortened(ending.message) } : null;
}

function shortened(words: string): string {
  return words.length > maxRowWords ? `${words.slice(0, maxRowWords - 1)}…` : words;
}

/** The result, as far as there was one: of a task that failed it stands in the failure's details. */
export function resultIn(ending: TaskEnding): Partial<TaskResult> | undefined {
  if (ending.kind === 'result') return ending.result;
  const details = detailsOf(ending);
  const result: unknown = isRecord(details) ? details['result'] : undefined;
  return isRecord(result) ? result : undefined;
}

function detailsOf(ending: TaskEnding): unknown {
  return ending.kind === 'failure' || ending.kind === 'canceled' ? ending.details : undefined;
}

// What the batch's activities ask of the client for one row, and its answer; neither stands in a history.

/**
 * Which tasks that are over and did not succeed may be started again: none; those that were refused before anything was
 * paid; or any, which may be paid anew.
 */
export type RowRetry = 'none' | 'unpaid' | 'any';

/** A row that shall become a task, or be found as the task that it is already. */
export interface RowStart {
  readonly batchId: string;
  readonly key: string;
  /** As the row gave it; null when it gave none. */
  readonly originalKey: string | null;
  /** The whole input of its task, with what the batch adds. */
  readonly input: NewTaskInput;
  /** Of the row's own input: what tells whether a task under this key is this row's. */
  readonly digest: string;
  /** The same for every attempt of the activity, which knows by it a run that an earlier attempt started. */
  readonly startId: string;
  /** What the batch's record knows of a task under this key; null when nothing. */
  readonly previous: RowRecord | null;
  readonly retry: RowRetry;
  /** Whether a task that is over and had another input may be followed by this one; that is paid anew. */
  readonly mayReplace: boolean;
}

export interface OpenRow {
  /** Its `LonghaulStatus`. */
  readonly status: string;
  /** Null: it can go on. */
  readonly problem: Problem | null;
}

/** A row of which a run closed; the row may run again. */
export interface ClosedRow {
  readonly key: string;
  readonly runId: string;
  /** ISO-8601, by Temporal's clock. */
  readonly closedAt: string;
}

export type RowStarted =
  | { readonly state: 'running' }
  | {
      /** Found over, or refused. */
      readonly state: 'ended';
      readonly end: RowEnd;
      /** Of the input of the task that was found under the key: the row's own, unless its failure is `InputChanged`. */
      readonly digest: string;
    };
