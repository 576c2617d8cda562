import { failureTypes } from '../contract/failure-types';
import { resultIn, type TaskEnding } from '../contract/batch-rows';
import type { AdoptedTaskInput, NewTaskInput, TaskInput } from '../contract/task-input';
import type { TaskResult } from '../contract/task-result';
import type { KnownRun } from './former-run';

/** What must be known of the task that is tried again, from Temporal or from a batch's record. */
export type FormerCreate = Pick<KnownRun, 'createNumber' | 'requestId'>;

/** What `retry` does about a closed run: leave it as it is, or start another with this input. */
export type RetryPlan =
  { readonly action: 'keep' } | { readonly action: 'start'; readonly input: TaskInput; readonly createNumber: number };

/** Failures that are the service's last word: the task is over there, and its outputs cannot be had any more. */
const lostAtTheService: readonly string[] = [failureTypes.ResultLost, failureTypes.SuccessNoOutputs];

/**
 * Decides what a retry may do, so that no task is paid twice and none is left behind (design, "The same key never
 * makes a second task"). Pure.
 *
 * - A success is kept: there is nothing to retry.
 * - No request id, or one that the service does not know: the same create again, under the same number. If the former
 *   one was sent after all, its create record stops the second.
 * - The task is over at the service: a new create, which is paid anew, as `retry` asks for.
 * - Otherwise the task may still run, or its outputs may still be there: the new run takes it over.
 */
export function planRetry(input: TaskInput, former: FormerCreate, ending: TaskEnding): RetryPlan {
  const { createNumber } = former;
  const result = resultIn(ending);
  if (ending.kind === 'result' && ending.result.status === 'Success') return { action: 'keep' };
  if ('adopt' in input) return { action: 'start', input, createNumber };
  const requestId = former.requestId ?? result?.requestId ?? null;
  if (requestId === null || isUnknownToTheService(ending)) return startAgain(input, createNumber);
  if (isOverAtTheService(ending, result)) return startAgain(input, createNumber + 1);
  return { action: 'start', input: takeOver(input, requestId, createNumber), createNumber };
}

function startAgain(input: NewTaskInput, createNumber: number): RetryPlan {
  return { action: 'start', input: { ...input, createNumber }, createNumber };
}

/** The id may be a mistyped one of a person; the create record knows the one that its own create was answered with. */
function isUnknownToTheService(ending: TaskEnding): boolean {
  return ending.kind === 'failure' && ending.type === failureTypes.TaskNotFound;
}

function isOverAtTheService(ending: TaskEnding, result: Partial<TaskResult> | undefined): boolean {
  switch (ending.kind) {
    case 'result':
      return true;
    case 'canceled':
      // The workflow ends so only after the service confirmed the stop.
      return true;
    case 'failure': {
      const isEnded = result?.status === 'Failed' || result?.status === 'Canceled';
      return ending.type === failureTypes.TaskFailed || isEnded || lostAtTheService.includes(ending.type);
    }
    case 'cutOff':
      return false;
  }
}

function takeOver(input: NewTaskInput, requestId: string, createNumber: number): AdoptedTaskInput {
  const { account, archive, watch, deadlines, batch, tuning } = input;
  return {
    adopt: { requestId },
    createNumber,
    ...(account !== undefined && { account }),
    ...(archive !== undefined && { archive }),
    ...(watch !== undefined && { watch }),
    ...(deadlines !== undefined && { deadlines }),
    ...(batch !== undefined && { batch }),
    ...(tuning !== undefined && { tuning }),
  };
}
