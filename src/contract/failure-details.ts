import * as v from 'valibot';
import type { ChangedRow, RenamedRows } from './batch/batch-activities';
import { listOf } from './schema';
import { type TaskFacts, taskResultSchema } from './task-result';

// An `ApplicationFailure` of one of these types has one detail at most, an object; later versions may add fields.

const text = v.string();
const count = v.number();
const ofTask = v.object({ requestId: text });
/** The result as far as there is one: outputs that the task has are archived. */
const withResult = v.object({ result: taskResultSchema });
const rows = v.array(v.object({ key: text, originalKey: v.optional(text), line: count, sheetRow: v.optional(count) }));
const renamed = v.object({
  newRows: count,
  firstNew: rows,
  missingRows: count,
  firstMissing: v.array(v.object({ key: text })),
});

const schemas = {
  InputInvalid: v.object({
    /** Each names a field, its value and the remedy. */
    problems: listOf(text),
  }),
  InputUnusable: v.object({
    /** The keys of `inputs` that the file was for. */
    inputs: listOf(text),
  }),
  TaskRejected: v.object({
    httpStatus: count,
    /** The code in the service's reply; null when it had none. */
    code: v.nullable(count),
  }),
  CreateUncertain: v.object({ createNumber: count }),
  TaskFailed: withResult,
  SuccessNoOutputs: withResult,
  /** Of a task that ended after it was stopped for its deadline. */
  DeadlineExceeded: withResult,
  TaskNotFound: ofTask,
  ResultLost: ofTask,
  ArchiveIncomplete: ofTask,
  StopUnconfirmed: v.object({
    /** Null when it was never known. */
    requestId: v.nullable(text),
  }),
  RowsChanged: v.object({
    changed: count,
    /** The first of them. */
    changedRows: v.custom<readonly ChangedRow[]>((value) => v.is(rows, value)),
    /** Null: no keys are new while keys on record are missing. */
    renamed: v.nullable(v.custom<RenamedRows>((value) => v.is(renamed, value))),
  }),
};

/** The first detail of a failure, for programs; types without one say no more than their message. Durable. */
export type FailureDetails = { readonly [Type in keyof typeof schemas]: v.InferOutput<(typeof schemas)[Type]> };

export function isFailureDetails<Type extends keyof FailureDetails>(
  type: Type,
  value: unknown,
): value is FailureDetails[Type] {
  // From JavaScript it may be a type without details.
  return Object.hasOwn(schemas, type) && v.is(schemas[type], value);
}

type OfTask = TaskFacts & FailureDetails['TaskNotFound'];
type WithResult = TaskFacts & FailureDetails['TaskFailed'];

/** Other types, such as `ServiceUnavailable`, are tried again, and end as `DeadlineExceeded`, which quotes the last. */
export interface TaskFailureDetails {
  readonly InputInvalid: FailureDetails['InputInvalid'];
  readonly InputUnusable: TaskFacts & Partial<FailureDetails['InputUnusable']>;
  readonly AccountUnknown: TaskFacts;
  readonly NotAllowed: TaskFacts;
  readonly ServiceRefused: TaskFacts;
  readonly ServiceReplyInvalid: TaskFacts;
  readonly StorageRefused: TaskFacts;
  readonly ArchiveUnavailable: TaskFacts;
  readonly BudgetUnusable: TaskFacts;
  readonly InputChanged: TaskFacts;
  readonly WorkerLost: TaskFacts;
  readonly TaskRejected: TaskFacts & FailureDetails['TaskRejected'];
  readonly CreateUncertain: TaskFacts;
  readonly TaskFailed: WithResult;
  readonly TaskNotFound: OfTask;
  /** With a result when the task existed and its stop was confirmed. */
  readonly DeadlineExceeded: Partial<WithResult>;
  readonly StopUnconfirmed: TaskFacts &
    FailureDetails['StopUnconfirmed'] & {
      /** The service's own word, as last seen. */
      readonly serviceStatus?: string | null;
    };
  readonly SuccessNoOutputs: WithResult;
  readonly ArchiveIncomplete: OfTask;
  readonly ResultLost: Partial<OfTask>;
}

type NoDetails = Readonly<Record<string, unknown>>;

/** The batch's tasks are workflows of their own, and go on. */
export interface BatchFailureDetails {
  readonly InputInvalid: FailureDetails['InputInvalid'];
  readonly InputUnusable: {
    /** Where the prepared rows are. */
    readonly file?: string;
  };
  readonly RowsChanged: FailureDetails['RowsChanged'];
  readonly BudgetUnusable: NoDetails;
  readonly ArchiveUnavailable: NoDetails;
  readonly BatchFailed: NoDetails;
}

export type TaskFailureType = keyof TaskFailureDetails;
export type BatchFailureType = keyof BatchFailureDetails;

export type TaskFailure = {
  readonly [Type in TaskFailureType]: {
    readonly type: Type;
    /** What was wrong with which value, and what to do; for people. */
    readonly message: string;
    /** The first of Temporal's details, and the only one. */
    readonly details: TaskFailureDetails[Type];
  };
}[TaskFailureType];

export type BatchFailure = {
  readonly [Type in BatchFailureType]: {
    readonly type: Type;
    readonly message: string;
    /** The first of Temporal's details, and the only one; absent when there are none. */
    readonly details?: BatchFailureDetails[Type];
  };
}[BatchFailureType];
