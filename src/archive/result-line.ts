import * as z from 'zod';
import { rowWorkflowId } from '../contract/workflow-ids';
import { parseJson } from '../core/json';
import { isMoney, type Money } from '../money/money';
import { pickPlace, type RowPlace } from '../core/batch/row-place';
import { rowCost, rowCostWithoutResult, rowFailureSchema, rowOutputSchema, type RowRecord } from './row-end';

const count = z.number().int().nonnegative();
const moment = z.iso.datetime({ offset: true }).nullable();

const lineSchema = z.object({
  /** As the row gave it. */
  key: z.string(),
  line: count,
  /** In the spreadsheet; absent where the row file is no table, and from a version before. */
  sheetRow: count.optional(),
  status: z.enum(['Success', 'Failed', 'Canceled', 'NotStarted']),
  workflowId: z.string(),
  requestId: z.string().nullable(),
  failure: rowFailureSchema.readonly().nullable(),
  outputs: z.array(rowOutputSchema.readonly()).readonly(),
  /** All of them; `outputs` has the first 20, the manifest every one. */
  outputCount: count,
  /** Outputs that the service reports as failed; the manifest tells each. */
  failedOutputCount: count.default(0),
  manifest: z.string().nullable(),
  /** ISO-8601; null for a row that was never started. */
  startedAt: moment,
  endedAt: moment,
  seconds: z.number().nullable(),
  /** How long the task queued at the service; null when it did not say. */
  queuedSeconds: z.number().nullable().default(null),
  /** The service's, in milliseconds. */
  costTimes: z.record(z.string(), z.number()).readonly().default({}),
  /** Of all its attempts; null when it is not known. */
  cost: z.custom<Money>(isMoney).nullable().default(null),
  /** Of `cost`, what attempts took that brought no result; null when none is known. Absent from a version before. */
  costWithoutResult: z.custom<Money>(isMoney).nullable(),
});

/** One line of `results.jsonl`. */
export type ResultLine = Readonly<z.infer<typeof lineSchema>>;

/** A row of a batch's file. */
export interface ResultRow extends RowPlace {
  readonly key: string;
  readonly originalKey?: string | null | undefined;
}

/** A row of the batch as its result files tell it; without a record it was never started. */
export function toResultLine(batchId: string, row: ResultRow, record: RowRecord | undefined): ResultLine {
  return {
    key: row.originalKey ?? row.key,
    ...pickPlace(row),
    status: record?.status ?? 'NotStarted',
    workflowId: rowWorkflowId(batchId, row.key),
    requestId: record?.requestId ?? null,
    failure: record?.failure ?? null,
    outputs: record?.outputs ?? [],
    outputCount: record?.outputCount ?? 0,
    failedOutputCount: record?.failedOutputCount ?? 0,
    manifest: record?.manifest ?? null,
    startedAt: record?.startedAt ?? null,
    endedAt: record?.endedAt ?? null,
    seconds: record === undefined ? null : (Date.parse(record.endedAt) - Date.parse(record.startedAt)) / 1_000,
    queuedSeconds: record?.queuedMs === undefined ? null : record.queuedMs / 1_000,
    costTimes: record?.costTimes ?? {},
    cost: record === undefined ? null : rowCost(record),
    costWithoutResult: record === undefined ? null : rowCostWithoutResult(record),
  };
}

/** Reads a line of `results.jsonl`, also of earlier versions; `undefined` when it is none. */
export function parseResultLine(text: string): ResultLine | undefined {
  return lineSchema.safeParse(parseJson(text)).data;
}
