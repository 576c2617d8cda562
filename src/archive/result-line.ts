import { basename } from 'node:path';
import * as v from 'valibot';
import type { NewTaskInput } from '../contract/task-input';
import { rowWorkflowId } from '../contract/workflow-ids';
import { pickPlace, type RowPlace } from '../core/batch/row-place';
import { redactUrl } from '../core/uri';
import {
  allCreates,
  createsWithoutResult,
  rowFailureSchema,
  rowOutputSchema,
  type RowRecord,
  sumOfCreates,
} from './row-end';
import { costTimes, count, isoTime, money, parseStored } from './stored';

const seconds = v.nullable(v.number());

const lineSchema = v.object({
  /** As the row gave it. */
  key: v.string(),
  line: count,
  sheetRow: v.optional(count),
  status: v.picklist(['Success', 'Failed', 'Canceled', 'NotStarted']),
  workflowId: v.string(),
  requestId: v.nullable(v.string()),
  failure: v.nullable(v.pipe(rowFailureSchema, v.readonly())),
  outputs: v.pipe(v.array(v.pipe(rowOutputSchema, v.readonly())), v.readonly()),
  /** Of all; `outputs` has the first 20, the manifest every one. */
  outputCount: count,
  failedOutputCount: v.optional(count, 0),
  manifest: v.nullable(v.string()),
  /** ISO-8601; null for a row that was never started. */
  startedAt: v.nullable(isoTime),
  endedAt: v.nullable(isoTime),
  seconds,
  queuedSeconds: v.optional(seconds, null),
  costTimes: v.optional(costTimes, {}),
  /** Of all its attempts; null when it is not known. */
  cost: v.optional(v.nullable(money), null),
  /** Of attempts that brought no result; null when none is known. */
  costWithoutResult: v.nullable(money),
  /** The name of the row's first input file; null when it has none, or that is not at hand. */
  file: v.optional(v.nullable(v.string()), null),
  /** Of a table, by column; empty where the rows are no table, or are not at hand. */
  cells: v.optional(v.pipe(v.array(v.pipe(v.tuple([v.string(), v.string()]), v.readonly())), v.readonly()), []),
});

/** One line of `results.jsonl`. */
export type ResultLine = Readonly<v.InferOutput<typeof lineSchema>>;

interface ReportedRow extends RowPlace {
  readonly key: string;
  readonly originalKey?: string | null;
  readonly input?: NewTaskInput;
  readonly cells?: readonly string[];
}

/** Without a record the row was never started. */
export function toResultLine(
  batchId: string,
  row: ReportedRow,
  record: RowRecord | undefined,
  columns: readonly string[] = [],
): ResultLine {
  const file = Object.values(row.input?.inputs ?? {}).find((value) => typeof value === 'object')?.file;
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
    cost: record === undefined ? null : sumOfCreates(allCreates(record)),
    costWithoutResult: record === undefined ? null : sumOfCreates(createsWithoutResult(record)),
    file: file === undefined ? null : basename(redactUrl(file)),
    cells: columns.map((column, index) => [column, row.cells?.[index] ?? '']),
  };
}

/** `undefined` for a text that is no such line. */
export function parseResultLine(text: string): ResultLine | undefined {
  return parseStored(lineSchema, text);
}
