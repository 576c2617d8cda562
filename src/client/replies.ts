import * as z from 'zod';
import type { BatchProgress, BatchResult } from '../contract/batch/batch-messages';
import type { BatchFailureDetails, TaskFailureDetails } from '../contract/failure-details';
import type { TaskResult } from '../contract/task-result';
import type { TaskStatus } from '../contract/task-messages';

/** Of the fields that details of a failure may have, those without which `detailsOf` gives none. */
type With<Details, Field extends keyof Details> = {
  readonly [Name in Field]-?: Exclude<Details[Name], undefined>;
};

/**
 * What a failure of each type says for a program, in the first of its details; types that are not here say nothing more
 * than their message. Durable: names and meanings stay.
 */
export interface FailureDetails {
  readonly InputInvalid: With<TaskFailureDetails['InputInvalid'], 'problems'>;
  readonly InputUnusable: With<TaskFailureDetails['InputUnusable'], 'inputs'>;
  readonly TaskRejected: With<TaskFailureDetails['TaskRejected'], 'httpStatus' | 'code'>;
  readonly CreateUncertain: With<TaskFailureDetails['CreateUncertain'], 'createNumber'>;
  readonly TaskFailed: With<TaskFailureDetails['TaskFailed'], 'result'>;
  readonly SuccessNoOutputs: With<TaskFailureDetails['SuccessNoOutputs'], 'result'>;
  /** Of a task that ended after it was stopped for its deadline. */
  readonly DeadlineExceeded: With<TaskFailureDetails['DeadlineExceeded'], 'result'>;
  readonly TaskNotFound: With<TaskFailureDetails['TaskNotFound'], 'requestId'>;
  readonly ResultLost: With<TaskFailureDetails['ResultLost'], 'requestId'>;
  readonly ArchiveIncomplete: With<TaskFailureDetails['ArchiveIncomplete'], 'requestId'>;
  readonly StopUnconfirmed: With<TaskFailureDetails['StopUnconfirmed'], 'requestId'>;
  readonly RowsChanged: With<BatchFailureDetails['RowsChanged'], 'changed' | 'changedRows' | 'renamed'>;
}

/*
 * Results and answers as Temporal hands them on. Any program may run workflows under the names and ids of Longhaul's, so
 * their shape is checked before anything is read of them. Fields that earlier versions did not have may be missing.
 */

const text = z.string();
const count = z.number();
const moment = z.string().refine((value) => !Number.isNaN(Date.parse(value)));
const counts = z.record(text, count);

const money = z.object({ currency: text, micros: count });

const uploads = z.object({ files: count, bytes: count, shared: count });

const taskResult = z.object({
  workflowId: text,
  requestId: text.nullable(),
  status: z.enum(['Success', 'Failed', 'Canceled']),
  outputs: z.array(
    z.object({ path: text, sha256: text, bytes: count, ext: text, errorType: text, index: count.optional() }),
  ),
  outputCount: count.optional(),
  outputBytes: count.optional(),
  failedOutputs: z.array(z.object({ index: count, errorType: text, message: text.nullable() })).optional(),
  failedOutputCount: count.optional(),
  manifest: text.nullable(),
  costTimes: counts,
  cost: money.nullable().optional(),
  startedAt: moment.optional(),
  createNumber: count.optional(),
  uploads: uploads.optional(),
  timestamps: z.record(text, z.object({ iso: moment.nullable(), raw: text })),
});

const taskStatus = z.object({
  status: text,
  since: moment,
  startedAt: moment,
  requestId: text.nullable(),
  serviceStatus: text.nullable(),
  serviceStatusAt: moment.optional(),
  queuePosition: count.nullable(),
  polls: count,
  failedPolls: count,
  createRequests: count,
  waitingFor: text,
  nextStep: text,
  problem: text.nullable(),
  stopRequests: z.array(z.object({ verb: text, askedAt: moment, outcome: text, words: text })),
});

const spread = z.object({ median: count, p90: count });
const appFigures = z.object({
  webAppId: count,
  rows: count,
  ms: spread.nullable(),
  cost: spread.extend({ currency: text }).nullable(),
});

const placedKey = { key: text, originalKey: text.optional(), line: count, sheetRow: count.optional() };

const report = z.object({
  jsonl: text,
  csv: text,
  html: text.optional(),
  costs: z
    .object({
      sums: z.array(money),
      withoutResult: z.array(money),
      knownRows: count,
      unknownRows: count,
      goneRows: z.object({ rows: count, sums: z.array(money), unknownRows: count }).optional(),
    })
    .optional(),
  apps: z.array(appFigures).optional(),
  success: count,
  failed: count,
  canceled: count,
  notStarted: count,
  outputs: count,
  outputBytes: count,
  failedOutputs: count.optional(),
  uploads,
  failures: counts,
  slowest: z.array(z.object({ ...placedKey, ms: count })),
  unsuccessful: z.array(z.object({ ...placedKey, type: text, message: text })),
});

const rowsOnRecord = z.object({ success: count, failed: count, canceled: count, gone: count });

const batchResult = report.extend({
  batchId: text,
  rows: count,
  badRows: count,
  ending: z.enum(['completed', 'drained', 'stopped']),
  onRecord: rowsOnRecord.optional(),
});

const budgetView = z.object({
  budget: money,
  settled: money,
  expected: money,
  perRow: money,
  unknown: count,
  places: count,
});

const heldUp = z.object({ rows: count, since: moment, key: text.optional(), activity: text, words: text });

const batchProgress = z.object({
  batchId: text,
  state: text,
  source: text.nullable(),
  startedAt: moment,
  rows: count,
  badRows: count,
  success: count,
  failed: count,
  canceled: count,
  running: count,
  waiting: count,
  concurrency: count,
  pausedAt: moment.optional(),
  toRetry: count.optional(),
  rowStates: z.object({ asOf: moment, counts, heldUp: heldUp.optional() }).optional(),
  perMinute: count.nullable(),
  expectedEnd: moment.nullable(),
  lastMovedAt: moment.nullish(),
  failures: counts,
  attempt: z.object({ number: count, of: count }).optional(),
  costs: z.object({ sums: z.array(money), unknown: count }).optional(),
  budget: budgetView.nullish(),
  dailyBudget: z.object({ account: text, words: text, untilMs: count }).optional(),
  uploads,
  lastFailures: z.array(z.object({ ...placedKey, message: text })),
  problem: text.nullable(),
  report: report.nullable(),
  onRecord: rowsOnRecord.optional(),
});

const known = z.object({ requestId: text });
const withResult = z.object({ result: taskResult });

/** What the details of a failure of each type are, as far as its type says it. */
const failureDetails: { readonly [Type in keyof FailureDetails]: z.ZodType } = {
  InputInvalid: z.object({ problems: z.array(text) }),
  InputUnusable: z.object({ inputs: z.array(text) }),
  TaskRejected: z.object({ httpStatus: count, code: count.nullable() }),
  CreateUncertain: z.object({ createNumber: count }),
  TaskFailed: withResult,
  SuccessNoOutputs: withResult,
  DeadlineExceeded: withResult,
  TaskNotFound: known,
  ResultLost: known,
  ArchiveIncomplete: known,
  StopUnconfirmed: z.object({ requestId: text.nullable() }),
  RowsChanged: z.object({
    changed: count,
    changedRows: z.array(z.object(placedKey)),
    renamed: z
      .object({
        newRows: count,
        firstNew: z.array(z.object(placedKey)),
        missingRows: count,
        firstMissing: z.array(z.object({ key: text })),
      })
      .nullable(),
  }),
};

/** Whether this can be the details of a failure of this type. */
export function isFailureDetails<Type extends keyof FailureDetails>(
  type: Type,
  value: unknown,
): value is FailureDetails[Type] {
  // From JavaScript it may be a type without details.
  return Object.hasOwn(failureDetails, type) && failureDetails[type].safeParse(value).success;
}

/** Whether this can be the result of a task. */
export function isTaskResult(value: unknown): value is TaskResult {
  return taskResult.safeParse(value).success;
}

/** Whether this can be a task's answer to `status`. */
export function isTaskStatus(value: unknown): value is TaskStatus {
  return taskStatus.safeParse(value).success;
}

/** Whether this can be the result of a batch. */
export function isBatchResult(value: unknown): value is BatchResult {
  return batchResult.safeParse(value).success;
}

/** Whether this can be a batch's answer to `progress`. */
export function isBatchProgress(value: unknown): value is BatchProgress {
  return batchProgress.safeParse(value).success;
}
