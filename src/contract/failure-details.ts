import * as v from 'valibot';
import type { ChangedRow, RenamedRows } from './batch/batch-activities';
import { listOf } from './schema';
import { type TaskFacts, taskResultSchema } from './task-result';

/*
 * What a backend meets when a task or a batch did not succeed: a Temporal `ApplicationFailure` with one of these types.
 * Its details have one entry at most, an object of the fields below; later versions may add fields.
 */

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

/**
 * What a failure of each type says for a program, in the first of its details; types that are not here say nothing more
 * than their message. Durable: names and meanings stay.
 */
export type FailureDetails = { readonly [Type in keyof typeof schemas]: v.InferOutput<(typeof schemas)[Type]> };

/** Whether this can be the details of a failure of this type. */
export function isFailureDetails<Type extends keyof FailureDetails>(
  type: Type,
  value: unknown,
): value is FailureDetails[Type] {
  // From JavaScript it may be a type without details.
  return Object.hasOwn(schemas, type) && v.is(schemas[type], value);
}

type OfTask = TaskFacts & FailureDetails['TaskNotFound'];
type WithResult = TaskFacts & FailureDetails['TaskFailed'];

/**
 * The details of each type with which a task can end. The types that are not here, such as `ServiceUnavailable`, are
 * those of steps that are tried again: when the time for them is over, the task ends as `DeadlineExceeded`, and its
 * message has the last of them.
 */
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

/** Nothing beside the message. */
type NoDetails = Readonly<Record<string, unknown>>;

/** The details of each type with which a batch can end. Its tasks are workflows of their own, and go on. */
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

/** A type with which a task can end. */
export type TaskFailureType = keyof TaskFailureDetails;
/** A type with which a batch can end. */
export type BatchFailureType = keyof BatchFailureDetails;

/** The failure of a task, as any SDK shows it. */
export type TaskFailure = {
  readonly [Type in TaskFailureType]: {
    readonly type: Type;
    /** What was wrong with which value, and what to do; for people. */
    readonly message: string;
    /** The first of Temporal's details, and the only one. */
    readonly details: TaskFailureDetails[Type];
  };
}[TaskFailureType];

/** The failure of a batch, as any SDK shows it. */
export type BatchFailure = {
  readonly [Type in BatchFailureType]: {
    readonly type: Type;
    /** What was wrong, and what to do; for people. */
    readonly message: string;
    /** The first of Temporal's details, and the only one; absent when there are none. */
    readonly details?: BatchFailureDetails[Type];
  };
}[BatchFailureType];
