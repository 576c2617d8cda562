import { type FailureDetails, isFailureDetails } from '../contract/failure-details';
import type { FailureType } from '../contract/failure-types';
import type { Problem } from '../contract/problem';
import { workflowTaskQueue } from '../contract/task-queues';
import { batchIdOf, taskKeyOf } from '../contract/workflow-ids';
import { optionProblems, type OptionRules } from '../core/option-rules';
import { boundedText, showValue } from '../core/text';

/** Base of the errors that Longhaul's client throws; anything else is a bug. */
export abstract class LonghaulError extends Error {}

abstract class WorkflowError extends LonghaulError {
  readonly workflowId: string;

  constructor(workflowId: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.workflowId = workflowId;
  }
}

/** Thrown before anything is sent: the input is malformed. Every problem names field, value and remedy. */
export class InputInvalidError extends LonghaulError {
  override readonly name = 'InputInvalidError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[], what: 'task' | 'batch' | 'sweep' | 'arguments' = 'task') {
    const given = what === 'arguments' ? what : `${what}’s input`;
    super([`The ${given} cannot be used:`, ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/** Throws {@link InputInvalidError} with every problem of the options. */
export function checkOptions<Options>(options: unknown, rules: OptionRules<Options>): void {
  const problems = optionProblems(options, rules);
  if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
}

/**
 * Thrown by `start` and `adopt` when the key stands for another input, and by `startBatch` when a batch of this id runs
 * with other rows. Nothing was started.
 */
export class InputChangedError extends WorkflowError {
  override readonly name = 'InputChangedError';
  /** Of the task, or the id of the batch. */
  readonly key: string;
  /** Fields that differ, such as `inputs["2:ImageScale.width"]` or a batch's `rows`; empty if that cannot be told. */
  readonly differing: readonly string[];

  /** @internal */
  constructor(key: string, workflowId: string, message: string, differing: readonly string[]) {
    super(workflowId, message);
    this.key = key;
    this.differing = differing;
  }

  /** @internal */
  static ofTask(
    key: string,
    workflowId: string,
    isComparable: boolean,
    differing: readonly string[] = [],
  ): InputChangedError {
    const more = differing.length > maxNames ? ` and ${differing.length - maxNames} more` : '';
    const names = differing.slice(0, maxNames).map((name) => boundedText(name, 120));
    const what = differing.length === 0 ? '' : ` It differs in ${names.join(', ')}${more}.`;
    // A key has 80 characters at most.
    const remedy = `Give this input a key of its own, such as "${key.slice(0, 78)}-2"`;
    const message = isComparable
      ? `The key "${key}" stands for a task with another input (${workflowId}), which runs or has ended.${what} ${remedy}, or the previous input for that task.`
      : `The key "${key}" stands for a workflow whose input cannot be read (${workflowId}), so it cannot be compared. ${remedy}.`;
    return new InputChangedError(key, workflowId, message, differing);
  }

  /**
   * @internal
   * @param which - what is known of the rows that it runs with.
   */
  static ofBatch(id: string, workflowId: string, which: readonly string[]): InputChangedError {
    const known = which.length === 0 ? '' : ` (${which.map((one) => boundedText(one, 200)).join(', ')})`;
    const message = `${workflowId} runs with other rows${known}; nothing was started. Start these when it is over: rows that are the same are not paid again. As a batch with an id of its own, every row is paid.`;
    return new InputChangedError(id, workflowId, message, ['rows']);
  }
}

const maxNames = 5;

/** How a workflow can end without a durable failure type. */
export type UntypedEnding = 'WorkflowTerminated' | 'WorkflowTimedOut' | 'Unknown';

/** Thrown by `result` when the task did not end as `Success` or `Canceled`. Switch on `failureType`. */
export class TaskFailedError extends WorkflowError {
  override readonly name = 'TaskFailedError';
  readonly failureType: FailureType | UntypedEnding;
  /** Null when the task never got one. */
  readonly requestId: string | null;
  /** For programs, unchecked; {@link detailsOf} has it by the type of the failure. */
  readonly details: unknown;

  constructor(
    ending: Pick<TaskFailedError, 'failureType' | 'workflowId' | 'requestId' | 'details' | 'message'>,
    options?: ErrorOptions,
  ) {
    super(ending.workflowId, ending.message, options);
    this.failureType = ending.failureType;
    this.requestId = ending.requestId;
    this.details = ending.details;
  }

  /** Such as the partial `result`; undefined for a failure of another type, or one that has only its message. */
  detailsOf<Type extends keyof FailureDetails>(type: Type): FailureDetails[Type] | undefined {
    const { failureType, details } = this;
    return failureType === type && isFailureDetails(type, details) ? details : undefined;
  }
}

function workflowKind(workflowId: string): 'task' | 'batch' {
  return batchIdOf(workflowId) === undefined ? 'task' : 'batch';
}

/** Thrown when Temporal has no workflow with this id: never started, or older than the namespace's retention. */
export class UnknownTaskError extends WorkflowError {
  override readonly name = 'UnknownTaskError';

  constructor(workflowId: string, namespace: string, options?: ErrorOptions) {
    const id = batchIdOf(workflowId);
    let hint = 'See "longhaul list".';
    if (taskKeyOf(workflowId) !== undefined)
      hint = 'See "longhaul list"; a row of a batch is batch:ID:KEY, and a batch is in "longhaul batch list".';
    if (id !== undefined) {
      hint = `Its id is the name of its row file without the ending, unless it was given another id (--id); if one ended here before, what it left is in its archive, under batches/${id}.`;
    }
    super(
      workflowId,
      `There is no ${workflowKind(workflowId)} ${workflowId} in the namespace "${namespace}": it was never started there, or it ended longer ago than the namespace keeps. ${hint}`,
      options,
    );
  }
}

/** Thrown by every request to a task that is over already. */
export class TaskOverError extends WorkflowError {
  override readonly name = 'TaskOverError';

  constructor(workflowId: string, options?: ErrorOptions) {
    super(
      workflowId,
      `The ${workflowKind(workflowId)} ${workflowId} is over already and takes no more requests; its status tells how it ended and what is left to do.`,
      options,
    );
  }
}

/**
 * Thrown by `adopt`, `recreate`, `abandon` and `rearchive` when the task does not wait for that decision, and by
 * `retryFailed` and `retryUnpaid` when the batch cannot be started again now.
 */
export class DecisionRefusedError extends WorkflowError {
  override readonly name = 'DecisionRefusedError';

  constructor(workflowId: string, words: string, options?: ErrorOptions) {
    super(workflowId, `${workflowId}: ${words}`, options);
  }
}

interface NoWorkerOptions extends ErrorOptions {
  readonly taskQueue?: string | undefined;
  /** Of its payloads; null where they are not encrypted, absent where that is not known. */
  readonly encryptionKey?: string | null;
}

/** Thrown when only a worker can answer and none does. The request may still be handled when one comes back. */
export class NoWorkerError extends WorkflowError {
  override readonly name = 'NoWorkerError';
  /** Where the workflow waits for a worker; null: not known. */
  readonly taskQueue: string | null;

  constructor(workflowId: string, { taskQueue, encryptionKey, ...options }: NoWorkerOptions = {}) {
    const remedy =
      taskQueue === undefined
        ? 'Start one with "longhaul worker"; if one runs, "longhaul doctor" says what it lacks.'
        : noWorkerRemedy(taskQueue, encryptionKey);
    super(workflowId, `No worker answered for ${workflowId}. ${remedy}`, options);
    this.taskQueue = taskQueue ?? null;
  }
}

/** For a command, after a space; empty for the default task queue. */
export function taskQueueOption(taskQueue: string): string {
  // Another program may have started a workflow on a queue of any name: only a plain one can be copied into a shell.
  const isNamed = taskQueue !== workflowTaskQueue && /^[\w.][\w.-]*$/.test(taskQueue);
  return isNamed ? ` --task-queue ${taskQueue}` : '';
}

/** With the commands for this task queue, and what a worker there must have. */
function noWorkerRemedy(taskQueue: string, encryptionKey: string | null = null): string {
  const key =
    encryptionKey === null
      ? ''
      : ` Its payloads are encrypted: workers there need the key ${showValue(encryptionKey)} (LONGHAUL_CODEC_KEYS_FILE).`;
  return `It waits on the task queue ${showValue(taskQueue)}: ${startWorkerWords(taskQueue)}${key}`;
}

/** The problem of a workflow that no worker answered for. */
export function silenceProblem(of: {
  readonly taskQueue: string;
  readonly isCancelRequested: boolean;
  readonly encryptionKey: string | null;
}): Problem {
  const stop = of.isCancelRequested ? ' It was asked to stop, which a worker does as soon as one is there.' : '';
  return {
    code: 'NoWorker',
    message: `No worker answered in time, and without one it makes no progress; this is what Temporal itself knows.${stop}`,
    since: null,
    remedy: noWorkerRemedy(of.taskQueue, of.encryptionKey),
  };
}

export function noPollerWords(taskQueue: string): string {
  return `No worker polls the task queue ${showValue(taskQueue)}, so what was started or asked there waits: ${startWorkerWords(taskQueue)}`;
}

function startWorkerWords(taskQueue: string): string {
  const option = taskQueueOption(taskQueue);
  return `start a worker there with "longhaul worker${option}"; if one runs, "longhaul doctor${option}" says what it lacks.`;
}

/** Thrown when the workflow tasks of a workflow fail or time out, so that it answers no query or update. */
export class WorkflowStuckError extends WorkflowError {
  override readonly name = 'WorkflowStuckError';

  constructor(workflowId: string, what: string, options?: ErrorOptions) {
    super(workflowId, `${workflowId} is stuck. ${what}`, options);
  }
}

/** Thrown when data of a workflow cannot be decoded or does not have Longhaul's shape. */
export class ReplyInvalidError extends WorkflowError {
  override readonly name = 'ReplyInvalidError';

  constructor(workflowId: string, what: string, options?: ErrorOptions) {
    super(
      workflowId,
      `${what} of ${workflowId} cannot be read. Was the workflow started or ended by another program, or with a payload codec? See its history in Temporal’s Web UI.`,
      options,
    );
  }
}

/** Thrown by `sweeps.run` when a sweep does not complete: it failed, or was canceled or terminated. */
export class SweepFailedError extends WorkflowError {
  override readonly name = 'SweepFailedError';

  constructor(workflowId: string, words: string, options?: ErrorOptions) {
    super(workflowId, `The sweep ${workflowId} did not complete: ${words}`, options);
  }
}
