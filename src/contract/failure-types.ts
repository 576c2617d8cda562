/** The `type` of failures in histories, with its meaning; durable (docs/reference/contract.md; a test compares). */
export const failureTypes = {
  /** The task's input is malformed; the message lists every problem. */
  InputInvalid: 'InputInvalid',
  /** An input file cannot be used: missing, outside the allowed roots, not a file, changed while it was read. */
  InputUnusable: 'InputUnusable',
  /** The task names an account that the worker does not know. */
  AccountUnknown: 'AccountUnknown',
  /** The task chose what the worker's operator does not allow. */
  NotAllowed: 'NotAllowed',
  /** The service refuses the account: its API key (specification, section 5), balance or permission; tried again. */
  AccountRefused: 'AccountRefused',
  /** The service refused a request for good, in its own words. */
  ServiceRefused: 'ServiceRefused',
  /** The service could not be reached or failed; tried again. */
  ServiceUnavailable: 'ServiceUnavailable',
  /** The service answered something that its specification does not allow; tried again. */
  ServiceReplyInvalid: 'ServiceReplyInvalid',
  /** The object storage refused an upload for good. */
  StorageRefused: 'StorageRefused',
  /** The object storage could not be reached, failed, or the temporary credentials ended; tried again. */
  StorageUnavailable: 'StorageUnavailable',
  /** The archive cannot be written; tried again. */
  ArchiveUnavailable: 'ArchiveUnavailable',
  /** An output could not be fetched whole; tried again with a fresh link. */
  OutputUnavailable: 'OutputUnavailable',
  /** The service said no to what the create asked for; nothing was paid. */
  TaskRejected: 'TaskRejected',
  /** Whether the service created the task is not known, and a policy or a person chose not to wait. */
  CreateUncertain: 'CreateUncertain',
  /** The service ended the task as `Failed`. */
  TaskFailed: 'TaskFailed',
  /** The service does not know the request id (any more). */
  TaskNotFound: 'TaskNotFound',
  /** A deadline passed; the task was stopped, and the stop confirmed. */
  DeadlineExceeded: 'DeadlineExceeded',
  /** A stop was asked for and the service did not confirm that the task ended. */
  StopUnconfirmed: 'StopUnconfirmed',
  /** The service reports success and lists no output. */
  SuccessNoOutputs: 'SuccessNoOutputs',
  /** A person abandoned an archive that misses outputs. */
  ArchiveIncomplete: 'ArchiveIncomplete',
  /** The results expired at the service before every output was archived. */
  ResultLost: 'ResultLost',
  /** Rows of a batch differ from what was run under their keys. */
  RowsChanged: 'RowsChanged',
  /** A batch or an account has a budget, and a task whose price is not known in its currency. */
  BudgetUnusable: 'BudgetUnusable',
  /** The daily budget of the account has no room for the task; tried again, at midnight UTC at the latest. */
  DailyBudgetReached: 'DailyBudgetReached',
  /** The key was used before with another input: by a row's task, or by the task of a create record. */
  InputChanged: 'InputChanged',
  /** Attempts ended without a report, several in a row: their workers died, and the work itself may be the reason. */
  WorkerLost: 'WorkerLost',
  /** A step of a batch failed for good; its tasks go on by themselves. */
  BatchFailed: 'BatchFailed',
  /** The worker has no webhook of this name; tried again. */
  WebhookUnknown: 'WebhookUnknown',
  /** The receiver of a webhook did not take it; tried again, unless it said that it is gone for good. */
  WebhookUndelivered: 'WebhookUndelivered',
} as const;

/** Not a real failure: the worker that watched a task was shutting down, and another one goes on. */
export const workerStopping = 'WorkerStopping';

/** Not a real failure: a create waits for those before it, within the limits of its account. */
export const waitsForTurn = 'WaitsForTurn';

/** One of {@link failureTypes}. */
export type FailureType = (typeof failureTypes)[keyof typeof failureTypes];

/** Failures of a row that another attempt may fix (docs/reference/errors.md), and that left nothing running. */
export const retryableFailures: readonly FailureType[] = [
  'ServiceUnavailable',
  'ServiceReplyInvalid',
  'StorageUnavailable',
  'ArchiveUnavailable',
  'OutputUnavailable',
  'TaskFailed',
  'DeadlineExceeded',
  'SuccessNoOutputs',
];

/** What a task was given is refused: nothing was paid, and the same input is refused again. */
export const refusedInputs: readonly FailureType[] = ['InputInvalid', 'InputUnusable', 'TaskRejected'];

/** Failures of a task that the service had, which another input may fix: to run its row again may be paid anew. */
export const mayNeedOtherInput: readonly FailureType[] = [
  'ServiceRefused',
  'TaskFailed',
  'DeadlineExceeded',
  'SuccessNoOutputs',
];

/** The service may have the task, or still run it: ask `longhaul reconcile` before it is run again. */
export const mayExistUnfollowed: readonly FailureType[] = ['CreateUncertain', 'StopUnconfirmed'];

/** Failures of a task that was never created, if it has no request id: it was refused, and nothing was paid. */
export const unpaidRefusals: readonly FailureType[] = [
  ...refusedInputs,
  'AccountUnknown',
  'NotAllowed',
  'StorageRefused',
  'BudgetUnusable',
];
