import { CommanderError } from 'commander';
import {
  DecisionRefusedError,
  InputChangedError,
  InputInvalidError,
  NoWorkerError,
  ReplyInvalidError,
  SweepFailedError,
  TaskFailedError,
  TaskOverError,
  UnknownTaskError,
  WorkflowStuckError,
} from '../client/errors';
import {
  NamespaceMissingError,
  RequestTooLargeError,
  SearchAttributesMissingError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
} from '../client/connection-errors';
import { ConfigError } from '../config/environment';
import { redact, redactJson } from '../core/redact';
import { ResultsError, type ResultsErrorCode } from '../archive/errors';
import { RowFileError } from '../rows';
import { type ExitCode, exitCodes } from './exit-code';

type FailureName = TaskFailedError['failureType'];

const badInputFailures: ReadonlySet<FailureName> = new Set([
  ...(['InputInvalid', 'InputUnusable', 'InputChanged', 'RowsChanged', 'BudgetUnusable'] as const),
  ...(['AccountUnknown', 'NotAllowed', 'WebhookUnknown'] as const),
]);
const personFailures: ReadonlySet<string> = new Set<FailureName>([
  ...(['WorkerLost', 'CreateUncertain', 'StopUnconfirmed', 'ArchiveIncomplete'] as const),
  ...(['WorkflowTerminated', 'WorkflowTimedOut', 'Unknown'] as const),
]);

/** Whether a person should check a task that failed so. */
export function isForPerson(failureType: string): boolean {
  return personFailures.has(failureType);
}

function exitCodeOfFailure(failureType: FailureName): ExitCode {
  if (badInputFailures.has(failureType)) return exitCodes.badInput;
  return isForPerson(failureType) ? exitCodes.needsPerson : exitCodes.failed;
}

const exitCodeByResults: Record<ResultsErrorCode, ExitCode> = {
  notYet: exitCodes.badInput,
  unwritable: exitCodes.badInput,
  missing: exitCodes.failed,
  damaged: exitCodes.failed,
  otherBatch: exitCodes.failed,
  canceled: exitCodes.canceled,
  incomplete: exitCodes.needsPerson,
};

const badInputErrors = [
  ConfigError,
  InputInvalidError,
  RowFileError,
  InputChangedError,
  UnknownTaskError,
  TaskOverError,
  DecisionRefusedError,
  RequestTooLargeError,
];
const personErrors = [WorkflowStuckError, ReplyInvalidError, SweepFailedError];
const temporalErrors = [
  TemporalUnreachableError,
  TemporalBusyError,
  TemporalRefusedError,
  NamespaceMissingError,
  SearchAttributesMissingError,
  NoWorkerError,
];

/** For a person (`message`), a shell (`exitCode`) and a program (`details`). */
export interface ExplainedFailure {
  readonly exitCode: ExitCode;
  readonly message: string;
  /** What `--json` prints under `error`, beside the message and the exit code. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The only map from errors to messages and exit codes. Redacted: they may quote a service, a storage or a history. */
export function explainFailure(error: unknown): ExplainedFailure {
  const { exitCode, message, details } = explain(error);
  return { exitCode, message: redact(message), details: redactJson(details) as ExplainedFailure['details'] };
}

function explain(error: unknown): ExplainedFailure {
  if (error instanceof CommanderError) {
    // Commander has printed its message already; help and version are errors, too.
    return { exitCode: error.exitCode === 0 ? exitCodes.success : exitCodes.badInput, message: '', details: {} };
  }
  if (error instanceof TaskFailedError) {
    const { failureType, message, workflowId, requestId, details } = error;
    const exitCode = exitCodeOfFailure(failureType);
    return {
      exitCode,
      message: `${workflowId} failed (${failureType}): ${message}`,
      details: { type: failureType, workflowId, requestId, details },
    };
  }
  if (!(error instanceof Error)) return unexpected(String(error), 'Unknown');
  const problems = 'problems' in error ? { problems: error.problems } : {};
  const explained = { message: error.message, details: { type: error.name, ...problems } };
  if (error instanceof ResultsError) {
    return { exitCode: exitCodeByResults[error.code], ...explained, details: { type: error.name, reason: error.code } };
  }
  if (badInputErrors.some((type) => error instanceof type)) return { exitCode: exitCodes.badInput, ...explained };
  if (personErrors.some((type) => error instanceof type)) return { exitCode: exitCodes.needsPerson, ...explained };
  if (temporalErrors.some((type) => error instanceof type)) {
    return { exitCode: exitCodes.temporalNotReady, ...explained };
  }
  return unexpected(error.stack ?? error.message, error.name);
}

function unexpected(message: string, type: string): ExplainedFailure {
  return { exitCode: exitCodes.unexpected, message: `Unexpected: ${message}`, details: { type } };
}
