import * as v from 'valibot';
import type { BatchProgress, BatchResult } from '../contract/batch/batch-messages';
import { problemSchema } from '../contract/problem';
import { dictionary, moment } from '../contract/schema';

// Any program may run workflows under Longhaul's names and ids, so an answer's shape is checked before it is read.

const text = v.string();
const count = v.number();
const counts = dictionary(count);
const money = v.object({ currency: text, micros: count });
const sums = v.array(money);
const uploads = v.object({ files: count, bytes: count, shared: count });
const spread = { median: count, p90: count };
const row = { key: text, originalKey: v.optional(text), line: count, sheetRow: v.optional(count) };
const rowsOnRecord = v.optional(v.object({ success: count, failed: count, canceled: count, gone: count }));

const goneRows = v.object({ rows: count, sums, unknownRows: count });
const report = v.object({
  jsonl: text,
  csv: text,
  html: v.optional(text),
  costs: v.optional(
    v.object({ sums, withoutResult: sums, knownRows: count, unknownRows: count, goneRows: v.optional(goneRows) }),
  ),
  apps: v.optional(
    v.array(
      v.object({
        webAppId: count,
        rows: count,
        ms: v.nullable(v.object(spread)),
        cost: v.nullable(v.object({ ...spread, currency: text })),
      }),
    ),
  ),
  success: count,
  failed: count,
  canceled: count,
  notStarted: count,
  outputs: count,
  outputBytes: count,
  failedOutputs: v.optional(count),
  uploads,
  failures: counts,
  slowest: v.array(v.object({ ...row, ms: count })),
  unsuccessful: v.array(v.object({ ...row, type: text, message: text })),
});

const batchResult = v.object({
  ...report.entries,
  batchId: text,
  rows: count,
  badRows: count,
  ending: v.picklist(['completed', 'drained', 'stopped']),
  onRecord: rowsOnRecord,
});

const budget = v.object({
  budget: money,
  settled: money,
  expected: money,
  perRow: money,
  unknown: count,
  places: count,
});
const rowProblem = v.object({ rows: count, key: text, originalKey: v.nullish(text), problem: problemSchema });

const batchProgress = v.object({
  batchId: text,
  state: text,
  source: v.nullable(text),
  startedAt: moment,
  rows: count,
  badRows: count,
  success: count,
  failed: count,
  canceled: count,
  running: count,
  waiting: count,
  concurrency: count,
  pausedAt: v.optional(moment),
  toRetry: v.optional(count),
  rowStates: v.optional(v.object({ asOf: moment, counts, problem: v.optional(rowProblem) })),
  perMinute: v.nullable(count),
  expectedEnd: v.nullable(moment),
  lastMovedAt: v.nullish(moment),
  failures: counts,
  attempt: v.optional(v.object({ number: count, of: count })),
  costs: v.optional(v.object({ sums, unknown: count })),
  budget: v.nullish(budget),
  dailyBudget: v.optional(v.object({ account: text, words: text, untilMs: count })),
  uploads,
  lastFailures: v.array(v.object({ ...row, message: text })),
  problem: v.nullable(problemSchema),
  report: v.nullable(report),
  onRecord: rowsOnRecord,
});

export function isBatchResult(value: unknown): value is BatchResult {
  return v.is(batchResult, value);
}

export function isBatchProgress(value: unknown): value is BatchProgress {
  return v.is(batchProgress, value);
}
