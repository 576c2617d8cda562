import type { ChangedRow, RenamedRows } from './batch/batch-activities';
import type { TaskFacts, TaskResult } from './task-result';

/*
 * What a backend meets when a task or a batch did not succeed: a Temporal `ApplicationFailure` with one of these types.
 * Its details have one entry at most, an object of the fields below; later versions may add fields.
 */

/** Names its task at the service. */
interface OfTask extends TaskFacts {
  readonly requestId: string;
}

/** The result as far as there is one: outputs that the task has are archived. */
interface WithResult extends TaskFacts {
  readonly result: TaskResult;
}

/**
 * The details of each type with which a task can end. The types that are not here, such as
 * `ServiceUnavailable`, are those of steps that are tried again: when the time for them is over, the task ends as
 * `DeadlineExceeded`, and its message has the last of them.
 */
export interface TaskFailureDetails {
  readonly InputInvalid: {
    /** Each names a field, its value and the remedy. */
    readonly problems: readonly string[];
  };
  readonly InputUnusable: TaskFacts & {
    /** The keys of `inputs` that the file was for. */
    readonly inputs?: readonly string[];
  };
  readonly AccountUnknown: TaskFacts;
  readonly NotAllowed: TaskFacts;
  readonly ServiceRefused: TaskFacts;
  readonly ServiceReplyInvalid: TaskFacts;
  readonly StorageRefused: TaskFacts;
  readonly ArchiveUnavailable: TaskFacts;
  readonly BudgetUnusable: TaskFacts;
  readonly InputChanged: TaskFacts;
  readonly WorkerLost: TaskFacts;
  readonly TaskRejected: TaskFacts & {
    readonly httpStatus: number;
    /** The code in the service's reply; null when it had none. */
    readonly code: number | null;
  };
  readonly CreateUncertain: TaskFacts;
  readonly TaskFailed: WithResult;
  readonly TaskNotFound: OfTask;
  /** With a result when the task existed and its stop was confirmed. */
  readonly DeadlineExceeded: Partial<WithResult>;
  readonly StopUnconfirmed: TaskFacts & {
    /** Null when it was never known. */
    readonly requestId: string | null;
    /** The service's own word, as last seen. */
    readonly serviceStatus?: string | null;
  };
  /** With a result; workflows of earlier versions have none where the service listed no output at all. */
  readonly SuccessNoOutputs: Partial<WithResult>;
  readonly ArchiveIncomplete: OfTask;
  readonly ResultLost: Partial<OfTask>;
}

/** Nothing beside the message. */
type NoDetails = Readonly<Record<string, unknown>>;

/** The details of each type with which a batch can end. Its tasks are workflows of their own, and go on. */
export interface BatchFailureDetails {
  readonly InputInvalid: TaskFailureDetails['InputInvalid'];
  readonly InputUnusable: {
    /** Where the prepared rows are. */
    readonly file?: string;
  };
  readonly RowsChanged: {
    readonly changed: number;
    /** The first of them. */
    readonly changedRows: readonly ChangedRow[];
    /** Null: no keys are new while keys on record are missing. */
    readonly renamed: RenamedRows | null;
  };
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
