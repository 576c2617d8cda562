import { setTimeout as delay } from 'node:timers/promises';
import { QueryNotRegisteredError, ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { DecisionTaken } from '../contract/task-messages';
import { isRecord } from '../domain/json';
import { DecisionRefusedError, TaskOverError, TemporalBusyError, WorkflowStuckError } from './errors';
import { askTemporal, isUndecodable, type TemporalAccess } from './temporal-access';
import { describeWorkflow } from './workflow-info';
import { isClosed } from './former-run';

/** How long a worker may take to answer: longer than the local activity of a poll that it may have to wait for. */
const answerTimeoutMs = 6_000;
/** How long an update is repeated that met the end of a run, or a workflow task that failed. */
const repeatWithinMs = 15_000;
const repeatEveryMs = 300;

/**
 * What a workflow answers to a query; undefined when there is no worker to answer, or the workflow has no answer that can
 * be read. To be asked of a workflow that Temporal has just described: what fails then is the answer of a worker.
 */
export async function answerOf<Answer>(
  access: TemporalAccess,
  query: () => Promise<unknown>,
  isAnswer: (value: unknown) => value is Answer,
): Promise<Answer | undefined> {
  try {
    const answer = await access.client.withDeadline(Date.now() + answerTimeoutMs, query);
    return isAnswer(answer) ? answer : undefined;
  } catch (error) {
    if (error instanceof ServiceError || error instanceof QueryNotRegisteredError || isUndecodable(error)) {
      return undefined;
    }
    throw error;
  }
}

/** How an update may be repeated. */
export interface DecideOptions {
  /**
   * Whether it may be sent again after a run that had accepted it ended before it answered: it may have been done.
   * @default true
   */
  readonly isRepeatable?: boolean;
}

/**
 * Sends an update that decides something; resolves with what happens now, in words. An update that meets the end of a run
 * is sent again, to the next run. Throws `DecisionRefusedError` with the workflow's words when it refuses, `TaskOverError`
 * when no run follows, and the errors of `askTemporal`.
 */
export async function decide(
  access: TemporalAccess,
  workflowId: string,
  update: () => Promise<DecisionTaken>,
  { isRepeatable = true }: DecideOptions = {},
): Promise<string> {
  const untilMs = Date.now() + repeatWithinMs;
  for (;;) {
    try {
      const taken: unknown = await askTemporal(access, workflowId, update, answerTimeoutMs);
      return isRecord(taken) && typeof taken['words'] === 'string' ? taken['words'] : 'The workflow took it.';
    } catch (error) {
      const met = await metByUpdate(access, workflowId, error);
      if (met === 'refusal') throw refusal(workflowId, error);
      if (met === 'other' || (met === 'endOfRunAfterAccept' && !isRepeatable) || Date.now() >= untilMs) throw error;
    }
    await delay(repeatEveryMs);
  }
}

/** What an update met that did not succeed. */
type MetByUpdate = 'refusal' | 'endOfRun' | 'endOfRunAfterAccept' | 'failedTask' | 'other';

async function metByUpdate(access: TemporalAccess, workflowId: string, error: unknown): Promise<MetByUpdate> {
  if (error instanceof WorkflowUpdateFailedError) {
    const isEnd = error.cause instanceof ApplicationFailure && error.cause.type === 'AcceptedUpdateCompletedWorkflow';
    return isEnd ? 'endOfRunAfterAccept' : 'refusal';
  }
  // Temporal's server says so of a run that is closing, too.
  if (error instanceof TemporalBusyError) return 'endOfRun';
  if (error instanceof WorkflowStuckError) return 'failedTask';
  // The run that it was sent to is over; the workflow may go on in another one.
  if (error instanceof TaskOverError) return (await isOver(access, workflowId)) ? 'other' : 'endOfRun';
  return 'other';
}

async function isOver(access: TemporalAccess, workflowId: string): Promise<boolean> {
  return isClosed((await askTemporal(access, workflowId, () => describeWorkflow(access.client, workflowId))).execution);
}

function refusal(workflowId: string, error: unknown): DecisionRefusedError {
  const words = error instanceof WorkflowUpdateFailedError ? (error.cause?.message ?? error.message) : String(error);
  return new DecisionRefusedError(workflowId, words, { cause: error });
}
