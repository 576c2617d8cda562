import type { TaskResult } from '../contract/task-result';

/**
 * What a failure of each type says for a program, in the first of its details; types that are not here say nothing more
 * than their message. Durable: names and meanings stay.
 */
export interface FailureDetails {
  /** Every problem of the input. */
  readonly InputInvalid: { readonly problems: readonly string[] };
  /** The keys of the inputs that name the file. */
  readonly InputUnusable: { readonly inputs: readonly string[] };
  /** How the service refused; `code` is its own, null when it gave none. */
  readonly TaskRejected: { readonly httpStatus: number; readonly code: number | null };
  /** Which create of this task it was, from 1. */
  readonly CreateUncertain: { readonly createNumber: number };
  /** The result, with the outputs that there are. */
  readonly TaskFailed: { readonly result: TaskResult };
  readonly SuccessNoOutputs: { readonly result: TaskResult };
  /** Of a task that ended after it was stopped for its deadline. */
  readonly DeadlineExceeded: { readonly result: TaskResult };
  readonly TaskNotFound: { readonly requestId: string };
  readonly ResultLost: { readonly requestId: string };
  readonly ArchiveIncomplete: { readonly requestId: string };
  /** Null when the service never told a request id. */
  readonly StopUnconfirmed: { readonly requestId: string | null };
  /** How many rows changed, and the first of them. */
  readonly RowsChanged: {
    readonly changed: number;
    readonly changedRows: readonly { readonly line: number; readonly key: string }[];
  };
}
