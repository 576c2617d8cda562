import type { BatchFailureDetails, TaskFailureDetails } from '../contract/failure-details';

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
  readonly RowsChanged: With<BatchFailureDetails['RowsChanged'], 'changed' | 'changedRows'>;
}
